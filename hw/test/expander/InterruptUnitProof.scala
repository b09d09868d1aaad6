// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import chisel3._
import chisel3.util._
import chiseltest._
import chiseltest.formal._
import org.scalatest.flatspec.AnyFlatSpec

/** Properties of the messages of [[InterruptUnit]], for any hits, acknowledges, masks and receivers.
  *
  * The causes are notify latches: a hit sets one, an acknowledge without a hit clears it.
  */
class InterruptContract(vectors: Int) extends Module {
  private val unit = Module(new InterruptUnit(vectors))
  val io = IO(new Bundle {
    val hit = Input(Vec(vectors, Bool()))
    val enable = Input(Vec(vectors, Bool()))
    val acknowledge = Input(Vec(vectors, Bool()))
    val ready = Input(Bool())
  })
  private val message = unit.io.message
  message.ready := io.ready
  unit.io.enable := io.enable
  unit.io.acknowledge := io.acknowledge

  private val begun = RegNext(true.B, false.B)
  private val waited = RegNext(message.valid && !message.ready, false.B)
  when(begun && waited) {
    assert(message.valid && message.bits === RegNext(message.bits), "a message changed before it was taken")
  }
  assert(!message.valid || message.bits < vectors.U, "a message of no vector")

  for (i <- 0 until vectors) {
    val latch = RegInit(false.B)
    latch := io.hit(i) || (latch && !io.acknowledge(i))
    unit.io.pending(i) := latch

    // Messages minus acknowledged messages: none or one.
    val sent = RegInit(false.B)
    val appears = message.valid && message.bits === i.U && !waited
    sent := (sent || appears) && !io.acknowledge(i)
    when(appears) {
      assert(!sent, "two messages without an acknowledge between them")
      assert(RegNext(latch && io.enable(i) && !io.acknowledge(i), false.B), "a message without a cause")
    }

    // A cause that may send waits for at most one message of each other vector.
    val due = latch && io.enable(i) && !io.acknowledge(i) && !sent && !appears
    val passed = RegInit(0.U(log2Ceil(vectors + 2).W))
    passed := Mux(due, passed + (!message.valid || message.ready), 0.U)
    assert(passed < (vectors + 1).U && !(passed === vectors.U && due), "a message is late, or lost")
  }
}

class InterruptUnitProof extends AnyFlatSpec with ChiselScalatestTester with Formal {
  behavior of "InterruptUnit"
  it should "send one message a cause until it is acknowledged, lose none and double none, proved" in {
    // Long enough for three vectors to wait, send, be acknowledged and send again.
    verify(new InterruptContract(3), Seq(BoundedCheck(14)))
  }
}
