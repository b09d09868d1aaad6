// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import chisel3._
import chisel3.util._

/** A request's set is compared with those of the MSHRs in use as it enters, and the result is there a cycle later, with
  * the request. If no MSHR is in use, the request passes at once.
  *
  * Latency: one cycle, or none with `passes`. Throughput: one request per cycle. `in.ready` and `out.valid` are
  * combinational.
  */
class CompareStage[T <: Data](gen: T) extends Module {
  val io = IO(new Bundle {
    val in = Flipped(Decoupled(gen))
    val out = Decoupled(gen)

    /** No MSHR is in use. */
    val passes = Input(Bool())

    /** The request enters: it is to be compared in this cycle, and is at `out` from the next on. */
    val compares = Output(Bool())
  })
  private val held = RegInit(false.B)
  private val request = Reg(gen)
  private val leavesAtOnce = !held && io.passes && io.out.ready

  io.in.ready := !held || io.out.ready
  io.compares := io.in.fire && !leavesAtOnce
  io.out.valid := held || (io.passes && io.in.valid)
  io.out.bits := Mux(held, request, io.in.bits)
  when(io.in.ready) {
    held := io.compares
    request := io.in.bits
  }
}
