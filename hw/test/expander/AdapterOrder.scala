// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.Axi4Params
import anemone.formal.JudgedRun
import chisel3._
import chisel3.util.{DecoupledIO, Fill, log2Ceil}

/** Order of the responses of a [[ControllerAdapter]], for a model checker: one output bit per kind of error.
  *
  * The controller ignores back-pressure and numbers its responses; upstream counts those that it accepts.
  */
class AdapterOrder(reads: Int, writes: Int) extends Module {
  private val p = Axi4Params(addressBits = 12, dataBits = 8, idBits = 1, lenBits = 1)
  private val adapter = Module(new ControllerAdapter(p, reads, writes, code = false))
  adapter.io.inject := 0.U.asTypeOf(adapter.io.inject)
  private val (up, down) = (adapter.io.upstream, adapter.io.controller)
  val io = IO(new Bundle {
    val ar, aw, w = Input(Bool())

    /** The controller accepts an offered request; it responds. */
    val ready, r, b = Input(Bool())
    val takesR, takesB = Input(Bool())
    val wrongRead, wrongWrite = Output(Bool())
  })
  private val judged = JudgedRun()

  for ((offers, from) <- Seq((io.ar, up.ar), (io.aw, up.aw), (io.w, up.w))) {
    from.valid := offers
    from.bits := 0.U.asTypeOf(from.bits)
  }
  Seq(down.ar.ready, down.aw.ready, down.w.ready).foreach(_ := io.ready)

  /** Upstream sees another response than the controller's next one, or none while there is one. */
  private def answers(asked: Bool, answers: Bool, takes: Bool, depth: Int)(
      from: DecoupledIO[Data],
      to: DecoupledIO[Data]
  ): Bool = {
    // No two outstanding responses have the same number.
    val numberBits = log2Ceil(depth + 1)
    def number(of: DecoupledIO[Data]): UInt = {
      val count = RegInit(0.U(numberBits.W))
      when(of.valid && of.ready) { count := count + 1.U }
      Fill((of.bits.getWidth + numberBits - 1) / numberBits, count)(of.bits.getWidth - 1, 0)
    }
    val due = RegInit(0.U((numberBits + 1).W))
    val waiting = RegInit(0.U((numberBits + 1).W))
    due := due + asked - from.valid
    waiting := waiting + from.valid - (to.valid && takes)
    from.valid := answers && due =/= 0.U
    from.bits := number(from).asTypeOf(from.bits)
    to.ready := takes
    to.valid =/= (waiting =/= 0.U) || (to.valid && to.bits.asUInt =/= number(to))
  }
  io.wrongRead := judged && answers(down.ar.fire, io.r, io.takesR, reads)(down.r, up.r)
  io.wrongWrite := judged && answers(down.aw.fire, io.b, io.takesB, writes)(down.b, up.b)
}
