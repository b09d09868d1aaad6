// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{Axi4, Axi4Address, Axi4Params, Axi4Port, MemoryFault, ProtectedQueue}
import chisel3._
import chisel3.util._

/** Makes an AXI4 slave of the board's memory controller, which deviates from AXI4 in three ways:
  *
  *   - it ignores `rready`, so a read is issued only with a credit for its response;
  *   - if AR and AW are accepted in the same cycle it loses AR, so they are never offered together but take turns;
  *   - `arready`, `awready` and `wready` move together, so a write's address and data are offered as one.
  *
  * Accepts requests of one beat, which is all that the board's CXL IP sends. An offered request stays until it is
  * accepted.
  *
  * Latency: none for requests, one cycle for responses. Throughput: one request per cycle. Buffers `reads` responses
  * for `upstream.r` and `writes` for `upstream.b`, each stored with a code. An uncorrectable read response is poisoned,
  * an uncorrectable write response becomes SLVERR.
  *
  * @param code store buffered responses with a code; false only in proofs
  */
class ControllerAdapter(p: Axi4Params, reads: Int = 64, writes: Int = 64, code: Boolean = true) extends Module {
  require(reads >= 2 && writes >= 2, s"reads, writes: 2 or more, not $reads, $writes")
  val io = IO(new Bundle {
    val upstream = Flipped(new Axi4Port(p))
    val controller = new Axi4Port(p)

    /** Per memory of [[ControllerAdapter.memories]]: faults, in the cycle in which the response reaches `upstream`, and
      * injections.
      */
    val faults = Output(Vec(ControllerAdapter.memories.length, new MemoryFault))
    val inject = Flipped(Vec(ControllerAdapter.memories.length, Valid(Bool())))
  })
  private def oneBeat(request: DecoupledIO[Axi4Address]): Unit =
    assert(!request.valid || request.bits.len === 0.U, "the controller takes requests of one beat")
  oneBeat(io.upstream.ar)
  oneBeat(io.upstream.aw)

  /** A queue for responses without back-pressure, and whether it has a credit for one more. */
  private def answers[T <: Data](
      k: Int,
      from: DecoupledIO[T],
      to: DecoupledIO[T],
      depth: Int,
      issued: Bool
  ): (Bool, Bool) = {
    val queue = Module(new ProtectedQueue(chiselTypeOf(from.bits), depth, flow = true, code, ProtectedQueue.ofBlockRam))
    queue.io.inject := io.inject(k)
    io.faults(k) := queue.io.fault
    queue.io.enq.valid := from.valid
    queue.io.enq.bits := from.bits
    from.ready := true.B
    assert(!from.valid || queue.io.enq.ready, "an answer was lost")
    to <> queue.io.deq
    val credits = RegInit(depth.U(log2Ceil(depth + 1).W))
    // A request from before a reset, which the controller may not share, holds no credit.
    credits := credits - issued + (to.fire && credits =/= depth.U)
    (credits =/= 0.U, queue.io.bad)
  }
  private val readIssued = io.controller.ar.fire
  private val writeIssued = io.controller.aw.fire
  private val (readCredit, dataUncorrectable) = answers(0, io.controller.r, io.upstream.r, reads, readIssued)
  private val (writeCredit, answerUncorrectable) = answers(1, io.controller.b, io.upstream.b, writes, writeIssued)
  when(dataUncorrectable) {
    io.upstream.r.bits.user := true.B
    io.upstream.r.bits.last := true.B
  }
  when(answerUncorrectable) { io.upstream.b.bits.resp := Axi4.Resp.SlvErr.U }

  private val canRead = io.upstream.ar.valid && readCredit
  private val canWrite = io.upstream.aw.valid && io.upstream.w.valid && writeCredit
  private val readNext = RegInit(true.B)
  private val reading = canRead && (readNext || !canWrite)
  private val writing = canWrite && !reading

  // The choice stays until a request is accepted; then it is the other kind's turn.
  when(reading) { readNext := !readIssued }
  when(writing) { readNext := writeIssued }

  io.controller.ar.valid := reading
  io.controller.ar.bits := io.upstream.ar.bits
  io.upstream.ar.ready := reading && io.controller.ar.ready
  io.controller.aw.valid := writing
  io.controller.aw.bits := io.upstream.aw.bits
  io.controller.w.valid := writing
  io.controller.w.bits := io.upstream.w.bits
  io.upstream.aw.ready := writing && io.controller.aw.ready
  io.upstream.w.ready := writing && io.controller.aw.ready
  assert(io.controller.aw.ready === io.controller.w.ready, "awready and wready of the controller move together")
}

object ControllerAdapter {

  /** Memories of this unit. */
  val memories: Seq[Int] = FaultMemory(Seq("memory_data", "memory_answers"))
}
