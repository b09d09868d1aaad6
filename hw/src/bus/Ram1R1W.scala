// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.util._

/** Write port of a [[Ram1R1W]]. */
class RamWrite(depth: Int, width: Int) extends Bundle {
  val address = UInt(log2Ceil(depth).W)
  val data = UInt(width.W)
}

/** The one memory macro: one read port, one write port, one clock, an output register.
  *
  * Block RAMs of every FPGA and every SRAM compiler have this shape, so this file is all that a port to another
  * technology has to replace.
  *
  * Latency: `data` answers a read two cycles after `read.valid`. In a cycle that answers no read it is zero, so
  * the outputs of banks of which at most one is read can be joined by OR instead of a multiplexer.
  *
  * What a read of an address answers in the very cycle that writes it is not to be used: macros disagree. Users forward
  * instead. An assertion watches: that such an answer does not count, or that no such read is made where all count.
  * Contents are undefined after power-up; users clear them.
  *
  * @param depth   words
  * @param width   bits a word
  * @param grouped one of several that share their addresses: whose user says by `answers`, a cycle behind a read, that it
  *                counts, and watches for reads of what is being written; once for all, as a simulator pays for each
  */
class Ram1R1W(val depth: Int, val width: Int, grouped: Boolean = false) extends Module {
  require(depth >= 2, s"a memory has 2 words or more, not $depth")
  require(width >= 1, s"a memory word has 1 bit or more, not $width")

  val io = IO(new Bundle {
    val read = Flipped(Valid(UInt(log2Ceil(depth).W)))
    val data = Output(UInt(width.W))
    val write = Flipped(Valid(new RamWrite(depth, width)))
    val answers = Option.when(grouped)(Input(Bool()))
  })

  // ReadFirst keeps the emitted template a plain block RAM: the collision it defines is the one that nobody looks at.
  private val memory = SyncReadMem(depth, UInt(width.W), SyncReadMem.ReadFirst)
  private val word = memory.read(io.read.bits, io.read.valid)
  when(io.write.valid) { memory.write(io.write.bits.address, io.write.bits.data) }

  io.data := RegNext(Mux(io.answers.getOrElse(RegNext(io.read.valid, false.B)), word, 0.U))
  if (!grouped)
    assert(!(io.read.valid && io.write.valid && io.read.bits === io.write.bits.address), "read of a word being written")
}
