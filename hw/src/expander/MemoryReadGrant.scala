// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.KeepHierarchy
import chisel3._

/** Whether memory's next answer goes, from registers: it waits for a line of its id that has its turn.
  *
  * A unit of its own, so that who chooses the data has one and who counts another, and neither is far from what it
  * drives. Combinational, two rows of look-ups.
  */
class MemoryReadGrant extends RawModule with KeepHierarchy {
  val io = IO(new Bundle {

    /** There is an answer, and memory owes it. */
    val valid, owed = Input(Bool())
    val lineFirst = Input(Bool())

    /** A read of its id was answered in the cycle before, and in the one before that. */
    val justNow, before = Input(Bool())

    /** Of the fetched lines of its id, up to the cycle before: one had its turn, one was next but one. */
    val hadTurn, wasSecond = Input(Bool())

    /** The same of a slot that was looked up in the cycle before. */
    val looked, lookedTurn, lookedSecond = Input(Bool())

    /** Of all other slots, up to the cycle before that: there was one with none ahead, with one, with two. */
    val had = Input(Vec(3, Bool()))
    val goes = Output(Bool())
  })
  private val far = Mux(io.justNow && io.before, io.had(2), Mux(io.justNow || io.before, io.had(1), io.had(0)))
  private val near = Mux(io.justNow, io.wasSecond, io.hadTurn) ||
    (io.looked && Mux(io.justNow, io.lookedSecond, io.lookedTurn))
  io.goes := io.valid && io.owed && !io.lineFirst && !near && !far
}
