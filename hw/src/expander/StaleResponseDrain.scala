// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import chisel3._
import chisel3.util._

/** Whether memory may still send responses to requests from before the last reset, which memory may not have shared.
  *
  * The counters of outstanding requests survive a reset. After it no request may be sent until they are zero, so every
  * response in that time is known to be stale. The wait ends after [[ExpanderParams.lateCycles]] without a response,
  * because memory may have shared the reset and the counters are undefined at power-up.
  *
  * Latency: one cycle.
  */
class StaleResponseDrain(p: ExpanderParams) extends Module {
  val io = IO(new Bundle {

    /** Memory accepts a read; sends a read data beat; that beat is the last; memory accepts a write; answers a write.
      */
    val read, readBeat, last, write, writeAnswered = Input(Bool())

    /** Send no request. */
    val draining = Output(Bool())
  })
  private val draining = RegInit(true.B)
  private val cyclesLeft = RegInit((p.lateCycles - 1).U(log2Ceil(p.lateCycles).W))
  private val timeout = cyclesLeft === 0.U
  private def count(limit: Int, issued: Bool, answered: Bool): UInt = {
    val outstanding = Reg(UInt((log2Ceil(limit) + 1).W)) // no reset
    // A response while nothing is outstanding does not count.
    val completed = answered && outstanding =/= 0.U
    when(issued =/= completed) { outstanding := Mux(issued, outstanding + 1.U, outstanding - 1.U) }
    when(draining && timeout) { outstanding := 0.U }
    outstanding
  }
  private val reads = count(p.readsInFlight, io.read, io.readBeat && io.last)
  private val writes = count(p.writesInFlight, io.write, io.writeAnswered)
  when(io.readBeat || io.writeAnswered) { cyclesLeft := (p.lateCycles - 1).U }.elsewhen(draining) {
    cyclesLeft := cyclesLeft - 1.U
  }
  when(timeout || (reads === 0.U && writes === 0.U)) { draining := false.B }
  io.draining := draining
}
