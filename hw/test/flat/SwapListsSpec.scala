// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.Axi4Params
import chisel3._
import chisel3.util._
import chiseltest._
import org.scalatest.flatspec.AnyFlatSpec
import scala.util.Random

/** [[SwapLists]] beside a plain queue of the operations of one lock of the test's choice. */
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

class SwapListsSpec extends AnyFlatSpec with ChiselScalatestTester {
  behavior of "SwapLists"

  it should "keep each lock's operations, in their order" in {
    val p = FlatParams(Axi4Params(idBits = 3), addressBits = 12, requests = 8)
    test(new SwapListsReference(p)) { dut =>
      for (seed <- 0 until 60) withClue(s"seed $seed: ") {
        val random = new Random(seed)
        val (locks, puts, takes) = (1 + random.nextInt(8), random.nextDouble(), random.nextDouble())
        dut.reset.poke(true.B)
        dut.io.watched.poke(random.nextInt(locks))
        dut.clock.step()
        dut.reset.poke(false.B)
        for (_ <- 0 until 200) {
          dut.io.put.valid.poke(random.nextDouble() < puts)
          dut.io.put.bits.lock.poke(random.nextInt(locks))
          dut.io.put.bits.request.poke(random.nextInt(8))
          dut.io.put.bits.op.write.poke(random.nextBoolean())
          dut.io.put.bits.op.full.poke(random.nextBoolean())
          dut.io.put.bits.op.tag.poke(random.nextInt(2))
          dut.io.take.poke(random.nextDouble() < takes)
          dut.io.from.poke(random.nextInt(locks))
          dut.clock.step()
        }
      }
    }
  }
}
