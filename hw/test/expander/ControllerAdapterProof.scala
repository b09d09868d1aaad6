// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{Axi4Address, Axi4Params}
import chisel3._
import chisel3.util._
import chiseltest._
import chiseltest.formal._
import org.scalatest.flatspec.AnyFlatSpec

/** A [[ControllerAdapter]] on a controller with all three deviations, for any order of requests, readys and responses.
  *
  * The controller's readys are one input, and it sends responses without regard to ready. Each request carries its
  * number within its port, so its value fixes its position in the order. Responses are only counted, because the solver does
  * not terminate with the memories of the queues; [[AdapterOrder]] proves their order.
  */
class AdapterContract(reads: Int, writes: Int) extends Module {
  private val p = Axi4Params(addressBits = 12, dataBits = 8, idBits = 1, lenBits = 1)
  private val adapter = Module(new ControllerAdapter(p, reads, writes, code = false))
  val io = IO(new Bundle {

    /** Upstream offers a request, which stays until it is accepted. */
    val ar, aw, w = Input(Bool())

    /** The controller accepts an offered request; it responds. */
    val ready = Input(Bool())
    val r, b = Input(Bool())

    /** Upstream accepts responses. */
    val takesR, takesB = Input(Bool())
  })
  adapter.io.inject := 0.U.asTypeOf(adapter.io.inject)
  private val (up, down) = (adapter.io.upstream, adapter.io.controller)

  private def count(event: Bool): UInt = {
    val times = RegInit(0.U(4.W))
    times := times + event
    times
  }
  private def numbered[T <: Data](number: UInt, gen: T): T = {
    val item = WireDefault(gen, Fill((gen.getWidth + 3) / 4, number)(gen.getWidth - 1, 0).asTypeOf(gen))
    item match { case request: Axi4Address => request.len := 0.U; case _ => }
    item
  }
  private def waits(item: ReadyValidIO[Data]): Bool = RegNext(item.valid && !item.ready, false.B)

  // Requests.
  Seq(down.ar.ready, down.aw.ready, down.w.ready).foreach(_ := io.ready)
  for ((offers, from, to) <- Seq((io.ar, up.ar, down.ar), (io.aw, up.aw, down.aw), (io.w, up.w, down.w))) {
    from.valid := offers || waits(from)
    from.bits := numbered(count(from.fire), chiselTypeOf(from.bits))
    assert(from.fire === to.fire, "a request was lost, or came from nowhere")
    assert(!to.valid || to.bits.asUInt === from.bits.asUInt, "a request was changed")
    assert(!waits(to) || to.valid, "what was offered was taken back")
  }
  assert(!(down.ar.valid && down.aw.valid), "AR and AW together: the controller loses the read")
  assert(down.aw.valid === down.w.valid, "a write's address and data are not offered as one")

  /** Counts responses of one kind. Returns whether another request may be issued. */
  private def answers(asked: Bool, answers: Bool, takes: Bool)(
      from: DecoupledIO[Data],
      to: DecoupledIO[Data],
      depth: Int
  ): Bool = {
    val due = RegInit(0.U(3.W)) // issued, without a response from the controller
    val waiting = RegInit(0.U(3.W)) // responded, not yet accepted upstream
    due := due + asked - from.valid
    waiting := waiting + from.valid - to.fire
    from.valid := answers && due =/= 0.U
    from.bits := DontCare
    to.ready := takes
    assert(due +& waiting <= depth.U, "issued without a credit for the answer")
    assert(to.valid === (waiting =/= 0.U), "an answer was lost, doubled or late")
    due +& waiting < depth.U
  }
  private val readCredit = answers(down.ar.fire, io.r, io.takesR)(down.r, up.r, reads)
  private val writeCredit = answers(down.aw.fire, io.b, io.takesB)(down.b, up.b, writes)

  // No cycle is left empty, and reads and writes alternate if both wait.
  private val canRead = up.ar.valid && readCredit
  private val canWrite = up.aw.valid && up.w.valid && writeCredit
  assert((down.ar.valid || down.aw.valid) === (canRead || canWrite), "a request waits for nothing")
  private def next(it: Bool, took: Bool): Bool = {
    val turn = RegInit(false.B)
    turn := !it && (took || turn)
    turn
  }
  assert(!(next(down.aw.fire, down.ar.fire && canWrite) && down.ar.valid), "a read went twice before a write")
  assert(!(next(down.ar.fire, down.aw.fire && canRead) && down.aw.valid), "a write went twice before a read")
}

class ControllerAdapterProof extends AnyFlatSpec with ChiselScalatestTester with Formal {
  behavior of "ControllerAdapter"
  it should "never read and write at once, ask only with room for the answer, and lose none, proved" in {
    // Long enough to fill a queue, empty it and issue again.
    verify(new AdapterContract(2, 2), Seq(BoundedCheck(8)))
  }
}
