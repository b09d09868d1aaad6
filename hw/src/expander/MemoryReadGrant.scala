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
    val valid, expected = Input(Bool())
    val lineFirst = Input(Bool())

    /** A read of its id was answered one cycle ago; two cycles ago. */
    val answered1, answered2 = Input(Bool())

    /** Among the prefetched lines of its id, as of the last cycle: one was next in order; one had a single read ahead.
      */
    val lineWasNext, lineWasSecond = Input(Bool())

    /** The same for a slot that was looked up in the last cycle. */
    val lookedUp1, lookedUpNext, lookedUpSecond = Input(Bool())

    /** For all other slots, as of two cycles ago: one had no read ahead, one read, two reads. */
    val lineAtDistance = Input(Vec(3, Bool()))
    val grant = Output(Bool())
  })
  private val others = Mux(
    io.answered1 && io.answered2,
    io.lineAtDistance(2),
    Mux(io.answered1 || io.answered2, io.lineAtDistance(1), io.lineAtDistance(0))
  )
  private val fetched = Mux(io.answered1, io.lineWasSecond, io.lineWasNext) ||
    (io.lookedUp1 && Mux(io.answered1, io.lookedUpSecond, io.lookedUpNext))
  io.grant := io.valid && io.expected && !io.lineFirst && !fetched && !others
}
