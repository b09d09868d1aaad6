// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util._

/** The one-cycle loop of an update: state and operand in, new state out, and straight in again.
  *
  * All counters of the word are updated at once where the operand says so; each sees only its own bits. The choice
  * between sum and the other results is made after the register, together with the choice of the next state, so the
  * longest path is a forwarding multiplexer and one addition of a word with its guard bits.
  *
  * Latency: one cycle from `operand` and `state` to `result`, which is not registered again.
  */
class UpdateAlu(p: NemoParams) extends Module {
  val io = IO(new Bundle {
    val operand = Input(new AluOperand(p))
    val state = Input(UInt(p.wordBits.W))

    /** The state is the word just written, `result`, not `state`. */
    val chain = Input(Bool())
    val result = Output(UInt(p.wordBits.W))
  })

  private def byte(word: UInt, k: Int): UInt = word(8 * k + 7, 8 * k)
  private def bytewise(f: Int => UInt): UInt = Cat((0 until p.wordBytes).reverse.map(f))

  private val in = io.operand
  private val a = Mux(io.chain, io.result, io.state)

  // One addition: bytes with a guard bit above each, and below all a position that makes the first carry.
  private val guardedA = Cat(bytewise(k => Cat(in.guardA(k), byte(a, k))), 1.U(1.W))
  private val guardedB = Cat(bytewise(k => Cat(in.guardB(k), byte(in.b, k))), in.subtract)
  private val guarded = RegNext((guardedA + guardedB) >> 1)
  private val sum = bytewise(k => guarded(9 * k + 7, 9 * k))
  private val carry = CounterWidth.fromTop(bytewise(k => guarded(9 * k + 8)), RegNext(in.counterWidth), p)

  private val rotated = (0 until log2Ceil(p.wordBits)).foldLeft(a) { (word, stage) =>
    val n = 1 << stage
    Mux(in.rotate(stage), Cat(word(n - 1, 0), word(p.wordBits - 1, n)), word)
  }
  private val passed = bytewise { k =>
    Mux(in.pass(k)(0), byte(a, k), Mux(in.pass(k)(1), byte(a, k) & ~byte(in.b, k), 0.U))
  }
  private val alt = RegNext((passed ^ in.b) | (rotated & in.keep))

  private val b = RegNext(in.b)
  private val settle = RegNext(in.settle)
  io.result := bytewise { k =>
    val larger = Mux(carry(k), byte(alt, k) ^ byte(b, k), ~byte(b, k))
    MuxLookup(settle(k), byte(alt, k))(
      Seq(
        UpdateOp.SettleSum.code.U -> byte(sum, k),
        UpdateOp.SettleSaturated.code.U -> (byte(sum, k) | Fill(8, carry(k))),
        UpdateOp.SettleLarger.code.U -> larger
      )
    )
  }
}
