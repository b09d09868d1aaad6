// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.util._

/** How often each id has been seen, modulo 2^countBits, in block RAM.
  *
  * Latency: [[IdCounter.latency]] cycles from `ask` to `count`, which holds the `seen`s of the cycles before the `ask`;
  * one of each a cycle. After reset the counts are zeroed, 2^idBits cycles, until `ready`; nothing may be seen before.
  */
class IdCounter(idBits: Int, countBits: Int) extends Module {
  val io = IO(new Bundle {
    val ready = Output(Bool())
    val seen = Flipped(Valid(UInt(idBits.W)))
    val ask = Flipped(Valid(UInt(idBits.W)))
    val count = Output(UInt(countBits.W))
  })

  private val step = RegInit(0.U((idBits + 1).W))
  private val ready = step(idBits)
  when(!ready) { step := step + 1.U }
  io.ready := ready

  // A new count is known two cycles behind its id and is written in the third: those of the three cycles before a
  // look-up are not in the memory yet.
  private val window = 3
  private val ids = Seq.iterate(io.seen, window + 1) { seen =>
    val later = Wire(Valid(UInt(idBits.W)))
    later.valid := RegNext(seen.valid, false.B)
    later.bits := RegNext(seen.bits)
    later
  }
  private val written = Wire(UInt(countBits.W))
  private val newer = Seq.iterate(written, window)(RegNext(_))

  private def look(id: Valid[UInt]): UInt = {
    val ram = Module(new Ram1R1W(1 << idBits, countBits))
    val same = ids.tail.map(seen => seen.valid && seen.bits === id.bits)
    ram.io.read.valid := id.valid && !same.reduce(_ || _) && ready
    ram.io.read.bits := id.bits
    ram.io.write.valid := ids(window).valid || !ready
    ram.io.write.bits.address := Mux(ready, ids(window).bits, step)
    ram.io.write.bits.data := Mux(ready, written, 0.U)
    val inFlight = same.map(ShiftRegister(_, IdCounter.latency))
    PriorityMux(inFlight.zip(newer) :+ (true.B -> ram.io.data))
  }
  written := RegNext(look(io.seen) + 1.U)
  io.count := look(io.ask)
}

object IdCounter {
  val latency: Int = 2
}
