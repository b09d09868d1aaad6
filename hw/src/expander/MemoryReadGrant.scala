// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.KeepHierarchy
import chisel3._

/** Whether memory's next response may go: not while a telemetry line of its id is next in order. Inputs are registers.
  *
  * It is a unit of its own so that the data multiplexer and the counters each have a copy that the placer can put near
  * them. Combinational, two rows of look-ups.
  */
class MemoryReadGrant extends RawModule with KeepHierarchy {
  val io = IO(new Bundle {

    /** There is a response; it matches an outstanding read. */
    val valid, owed = Input(Bool())
    val lineFirst = Input(Bool())

    /** A read of its id was answered one cycle ago; two cycles ago. */
    val justNow, before = Input(Bool())

    /** Among the prefetched lines of its id, as of the last cycle: one was next in order; one had a single read ahead.
      */
    val hadTurn, wasSecond = Input(Bool())

    /** The same for a slot that was looked up in the last cycle. */
    val looked, lookedTurn, lookedSecond = Input(Bool())

    /** For all other slots, as of two cycles ago: one had no read ahead, one read, two reads. */
    val had = Input(Vec(3, Bool()))
    val goes = Output(Bool())
  })
  private val far = Mux(io.justNow && io.before, io.had(2), Mux(io.justNow || io.before, io.had(1), io.had(0)))
  private val near = Mux(io.justNow, io.wasSecond, io.hadTurn) ||
    (io.looked && Mux(io.justNow, io.lookedSecond, io.lookedTurn))
  io.goes := io.valid && io.owed && !io.lineFirst && !near && !far
}
