// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.Axi4Params
import chisel3._
import chisel3.util._
import chiseltest._
import chiseltest.formal._
import org.scalatest.flatspec.AnyFlatSpec

/** [[SwapLists]] beside a plain queue of the operations of one lock of the solver's choice. */
class SwapListsReference(p: FlatParams) extends Module {
  private val lists = Module(new SwapLists(p))
  val io = IO(new Bundle {
    val put = Flipped(Valid(new LockedOp(p)))
    val take = Input(Bool())
    val from = Input(UInt(p.lockBits.W))
    val watched = Input(UInt(p.lockBits.W))
  })
  private val watched = RegEnable(io.watched, reset.asBool)

  // A request has one operation at a time; only a first operation is taken.
  private val used = RegInit(0.U(p.requests.W))
  private val puts = io.put.valid && !used(io.put.bits.request)
  private val from = UIntToOH(io.from, p.locks)
  private val takes = io.take && lists.io.waiting(io.from)
  lists.io.put := io.put
  lists.io.put.valid := puts
  lists.io.of := from
  private val first = UIntToOH(lists.io.first, p.requests)
  lists.io.take.valid := takes
  lists.io.take.bits.lock := from
  lists.io.take.bits.request := first
  lists.io.request := first
  used := (used & ~Mux(takes, first, 0.U)) | Mux(puts, UIntToOH(io.put.bits.request, p.requests), 0.U)

  private val queue = Module(new Queue(new LockedOp(p), p.requests))
  queue.io.enq.valid := puts && io.put.bits.lock === watched
  queue.io.enq.bits := io.put.bits
  queue.io.deq.ready := takes && io.from === watched
  assert(lists.io.waiting(watched) === queue.io.deq.valid, "an operation is forgotten, or from nowhere")
  when(queue.io.deq.ready) {
    assert(lists.io.first === queue.io.deq.bits.request, "not the oldest operation")
    assert(lists.io.op.asUInt === queue.io.deq.bits.op.asUInt, "another operation")
  }
}

class SwapListsProof extends AnyFlatSpec with ChiselScalatestTester with Formal {
  behavior of "SwapLists"
  it should "keep each lock's operations, in their order, proved" in {
    val p = FlatParams(Axi4Params(idBits = 2), addressBits = 12, requests = 4)
    verify(new SwapListsReference(p), Seq(BoundedCheck(10)))
  }
}
