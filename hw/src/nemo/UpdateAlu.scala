// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util._

/** The one-cycle loop of an update: state and operand in, new state out, and straight in again.
  *
  * All counters of the word are updated at once where the operand says so; where it is neutral they keep their value.
  * The top bit of a counter is added outside the carry chain, so that no carry leaves a counter; what would have left
  * it is known in the next cycle. The choice between sum and the other results is made then, together with the choice
  * of the next state, so the longest path is a forwarding multiplexer and one addition of a word.
  *
  * Latency: one cycle from `operand` and `state` to `result`, which is not registered again.
  */
class UpdateAlu(p: NemoParams) extends Module {
  val io = IO(new Bundle {
    val operand = Input(new AluOperand(p))
    val state = Input(UInt(p.wordBits.W))

    /** The state is the word just written, `result`, not `state`. */
    val chain = Input(Bool())

    /** `result` is zero in the next cycle. */
    val zero = Input(Bool())
    val result = Output(UInt(p.wordBits.W))
  })

  private val in = io.operand
  private val a = Mux(io.chain, io.result, io.state)

  // A counter's top bit is 0 + 0 to end the carry there, or 1 + 1 to start the next counter's with one.
  private val tops = CounterWidth.topBits(in.tops, p)
  private def bounded(word: UInt): UInt = Mux(in.subtract, word | tops, word & ~tops)
  private val partial = RegNext(bounded(a) + bounded(in.b) + in.subtract)

  private val rotated = (0 until log2Ceil(p.wordBits)).reverse.foldLeft(a) { (word, stage) =>
    val n = 1 << stage
    Mux(in.rotate(stage), Cat(word(n - 1, 0), word(p.wordBits - 1, n)), word)
  }
  private val passed = a & ~CounterWidth.spread(in.drop, p)
  private val alt = RegNext(Mux(io.zero, 0.U, (passed ^ in.b) | (rotated & in.keep)))

  // At a top bit `partial` is the carry that came in, and for a sum `alt` is A ^ B.
  private val b = RegNext(in.b)
  private val settle = RegNext(Mux(io.zero, UpdateOp.SettleAlt.code.U, in.settle))
  private val sum = partial ^ (alt & CounterWidth.topBits(RegNext(in.tops), p))
  private val carry = CounterWidth.fromTop((alt & partial) | (~alt & b), RegNext(in.counterWidth), p)
  io.result := MuxLookup(settle, alt)(
    Seq(
      UpdateOp.SettleSum.code.U -> sum,
      UpdateOp.SettleSaturated.code.U -> (sum | carry),
      UpdateOp.SettleLarger.code.U -> ((carry & (alt ^ b)) | ~(carry | b))
    )
  )
}
