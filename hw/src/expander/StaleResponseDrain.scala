// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import chisel3._
import chisel3.util._

/** Whether memory still has answers to what was asked before the last reset, which it need not have shared.
  *
  * The counts of what is under way below are kept over a reset. Behind it no request is to be made until they are zero, so
  * that each answer that comes is known to be late; but no longer than for [[ExpanderParams.lateCycles]] without any, as
  * memory may have shared the reset, and the counts hold anything when power comes up.
  *
  * Latency: one cycle.
  */
class StaleResponseDrain(p: ExpanderParams) extends Module {
  val io = IO(new Bundle {

    /** Memory takes a read, sends a beat of an answer to one, and it is the last; takes a write, answers one. */
    val read, readBeat, last, write, writeAnswered = Input(Bool())

    /** None may be made. */
    val late = Output(Bool())
  })
  private val late = RegInit(true.B)
  private val left = RegInit((p.lateCycles - 1).U(log2Ceil(p.lateCycles).W))
  private val over = left === 0.U
  private def count(most: Int, asked: Bool, answered: Bool): UInt = {
    val underWay = Reg(UInt((log2Ceil(most) + 1).W)) // no reset
    // An answer that nobody waits for, while nothing is under way, counts for none.
    val owed = answered && underWay =/= 0.U
    when(asked =/= owed) { underWay := Mux(asked, underWay + 1.U, underWay - 1.U) }
    when(late && over) { underWay := 0.U }
    underWay
  }
  private val reads = count(p.readsInFlight, io.read, io.readBeat && io.last)
  private val writes = count(p.writesInFlight, io.write, io.writeAnswered)
  when(io.readBeat || io.writeAnswered) { left := (p.lateCycles - 1).U }.elsewhen(late) { left := left - 1.U }
  when(over || (reads === 0.U && writes === 0.U)) { late := false.B }
  io.late := late
}
