// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.util._

/** Write port of a [[Ram1R1W]]. */
class RamWrite(depth: Int, width: Int) extends Bundle {
  val address = UInt(log2Ceil(depth).W)
  val data = UInt(width.W)
}

/** The only memory macro: one read port, one write port, one clock, an output register.
  *
  * Block RAMs of every FPGA and SRAM compiler have this shape, so a port to another technology replaces only this file.
  *
  * Latency: two cycles from `read.valid` to `data`. In a cycle without an answer `data` is zero, so banks of which at
  * most one is read can be joined by OR instead of a multiplexer.
  *
  * Read-during-write to one address is macro-dependent, so users must discard the result or forward. An assertion
  * checks this: with `grouped`, that such an answer does not count; otherwise, that no such read is made. Contents are
  * undefined after power-up; users clear them.
  *
  * @param depth   words
  * @param width   bits per word
  * @param grouped one of several memories that share their addresses. The user states by `answers`, one cycle after the
  *                read, that the answer counts, and checks for read-during-write itself, once for the group, because
  *                each check slows simulation
  * @param gates   the output register has a [[ClockGate]]
  */
class Ram1R1W(val depth: Int, val width: Int, grouped: Boolean = false, gates: Boolean = false) extends Module {
  require(depth >= 2, s"a memory has 2 words or more, not $depth")
  require(width >= 1, s"a memory word has 1 bit or more, not $width")

  val io = IO(new Bundle {
    val read = Flipped(Valid(UInt(log2Ceil(depth).W)))
    val data = Output(UInt(width.W))
    val write = Flipped(Valid(new RamWrite(depth, width)))
    val answers = Option.when(grouped)(Input(Bool()))
  })

  // ReadFirst makes the emitted template a plain block RAM; the collision result that it defines is never used.
  private val memory = SyncReadMem(depth, UInt(width.W), SyncReadMem.ReadFirst)
  private val word = memory.read(io.read.bits, io.read.valid)
  when(io.write.valid) { memory.write(io.write.bits.address, io.write.bits.data) }

  private val answers = io.answers.getOrElse(RegNext(io.read.valid, false.B))
  // It takes a word, and in the cycle after that it is cleared.
  private val output = ClockGate.during(gates, answers || RegNext(answers))
  io.data := withClock(output)(RegNext(Mux(answers, word, 0.U)))
  if (!grouped)
    assert(!(io.read.valid && io.write.valid && io.read.bits === io.write.bits.address), "read of a word being written")
}
