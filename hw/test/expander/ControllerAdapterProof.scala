// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{Axi4Address, Axi4Params}
import chisel3._
import chisel3.util._
import chiseltest._
import chiseltest.formal._
import org.scalatest.flatspec.AnyFlatSpec

/** A [[ControllerAdapter]] at a controller with all three habits, for any order of requests, readys and answers.
  *
  * The readys of the controller are one input, and its answers are there whether somebody is ready for them or not.
  * Requests carry the number of those of their port before them, so each has its own value and its one place. Answers
  * are counted and have no value: with the queues' memories the solver does not come to an end. Their order is proved by
  * another one, see [[AdapterOrder]].
  */
class AdapterContract(reads: Int, writes: Int) extends Module {
  private val p = Axi4Params(addressBits = 12, dataBits = 8, idBits = 1, lenBits = 1)
  private val adapter = Module(new ControllerAdapter(p, reads, writes, code = false))
  val io = IO(new Bundle {

    /** Upstream offers; what it offered stays. */
    val ar, aw, w = Input(Bool())

    /** The controller takes what it is offered, and answers. */
    val ready = Input(Bool())
    val r, b = Input(Bool())

    /** Upstream takes answers. */
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

  /** Answers on their way: whether one more may be asked for. */
  private def answers(asked: Bool, answers: Bool, takes: Bool)(
      from: DecoupledIO[Data],
      to: DecoupledIO[Data],
      depth: Int
  ): Bool = {
    val due = RegInit(0.U(3.W)) // asked, and the controller has not answered
    val waiting = RegInit(0.U(3.W)) // answered, and nobody took it
    due := due + asked - from.valid
    waiting := waiting + from.valid - to.fire
    from.valid := answers && due =/= 0.U
    from.bits := DontCare
    to.ready := takes
    assert(due +& waiting <= depth.U, "asked without room for the answer")
    assert(to.valid === (waiting =/= 0.U), "an answer was lost, doubled or late")
    due +& waiting < depth.U
  }
  private val readRoom = answers(down.ar.fire, io.r, io.takesR)(down.r, up.r, reads)
  private val writeRoom = answers(down.aw.fire, io.b, io.takesB)(down.b, up.b, writes)

  // No cycle is left empty, and of two that want it each has its turn.
  private val readWants = up.ar.valid && readRoom
  private val writeWants = up.aw.valid && up.w.valid && writeRoom
  assert((down.ar.valid || down.aw.valid) === (readWants || writeWants), "a request waits for nothing")
  private def next(it: Bool, took: Bool): Bool = {
    val turn = RegInit(false.B)
    turn := !it && (took || turn)
    turn
  }
  assert(!(next(down.aw.fire, down.ar.fire && writeWants) && down.ar.valid), "a read went twice before a write")
  assert(!(next(down.ar.fire, down.aw.fire && readWants) && down.aw.valid), "a write went twice before a read")
}

class ControllerAdapterProof extends AnyFlatSpec with ChiselScalatestTester with Formal {
  behavior of "ControllerAdapter"
  it should "never read and write at once, ask only with room for the answer, and lose none, proved" in {
    // Long enough to fill a queue, empty it and ask again.
    verify(new AdapterContract(2, 2), Seq(BoundedCheck(8)))
  }
}
