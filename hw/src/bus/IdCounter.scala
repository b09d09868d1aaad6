// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.util._

/** Counts how often each id has been seen, modulo 2^countBits, in block RAM. A flipped bit is corrected on the read,
  * and overwritten when the id is next seen.
  *
  * Latency: [[IdCounter.latency]] cycles from `seen` to `before` and from `ask` to `count`, both of which include every
  * earlier `seen`. Throughput: one of each per cycle. A reset clears the counts, which takes 2^idBits cycles until
  * `ready`; nothing may be seen before.
  *
  * @param asks adds the `ask` look-up, which needs one more block RAM
  */
class IdCounter(idBits: Int, countBits: Int, asks: Boolean) extends Module {
  val io = IO(new Bundle {
    val ready = Output(Bool())
    val seen = Flipped(Valid(UInt(idBits.W)))

    /** True: count `seen`. False: only look it up. */
    val counts = Input(Bool())
    val before = Output(UInt(countBits.W))
    val ask = Option.when(asks)(Flipped(Valid(UInt(idBits.W))))
    val count = Option.when(asks)(Output(UInt(countBits.W)))

    /** Faults of any of its memories; injection into all of them with the next count that is written. */
    val fault = Output(new MemoryFault)
    val inject = Flipped(Valid(Bool()))
  })

  private val step = RegInit(0.U((idBits + 1).W))
  private val ready = step(idBits)
  when(!ready) { step := step + 1.U }
  io.ready := ready

  // A new count is known three cycles after its id and written in the fourth, so the memory lacks the counts of the
  // four cycles before a look-up.
  private val window = IdCounter.latency + 1
  private val ids = Seq.iterate(io.seen, window + 1) { seen =>
    val later = Wire(Valid(UInt(idBits.W)))
    later.valid := RegNext(seen.valid, false.B)
    later.bits := RegNext(seen.bits)
    later
  }
  private val written = Wire(UInt(countBits.W))
  private val newer = Seq.iterate(written, window)(RegNext(_))

  private def look(id: Valid[UInt]): (UInt, MemoryFault) = {
    val ram = Module(new ProtectedRam(1 << idBits, countBits))
    val same = ids.tail.map(seen => seen.valid && seen.bits === id.bits)
    ram.io.read.valid := id.valid && !same.reduce(_ || _) && ready
    ram.io.read.bits := id.bits
    ram.io.write.valid := ids(window).valid || !ready
    ram.io.write.bits.address := Mux(ready, ids(window).bits, step)
    ram.io.write.bits.data := Mux(ready, written, 0.U)
    // Where the newest count is: among those in flight, or else in the memory.
    val places = RegNext(VecInit(same :+ true.B).asUInt)
    val newest = ShiftRegister(OneHot.first(places, window + 1), IdCounter.latency - 1)
    ram.io.inject.valid := io.inject.valid && ready
    ram.io.inject.bits := io.inject.bits
    (Mux1H(newest, newer :+ ram.io.data), ram.io.fault)
  }
  private val (seen, seenFault) = look(io.seen)
  io.before := seen
  written := RegNext(seen + ShiftRegister(io.counts, IdCounter.latency))
  private val askedFaults = for ((ask, count) <- io.ask.zip(io.count)) yield {
    val (asked, fault) = look(ask)
    count := asked
    fault
  }
  private val faults = seenFault +: askedFaults.toSeq
  io.fault.uncorrected := faults.map(_.uncorrected).reduce(_ || _)
  io.fault.corrected := faults.map(_.corrected).reduce(_ || _)
}

object IdCounter {
  val latency: Int = ProtectedRam.latency
}
