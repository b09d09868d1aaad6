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
  private val (mixLow, mixHigh) = (CounterWidth.spread(in.mixLow, p), CounterWidth.spread(in.mixHigh, p))
  private def not(word: UInt): UInt = (~word).asUInt
  private val met = (a & not(mixLow | mixHigh)) ^ in.b
  private val mixed = (met & (rotated | mixLow | not(mixHigh))) | (rotated & mixLow & not(mixHigh))
  private val alt = RegNext(Mux(io.zero, 0.U, mixed))

  // At a top bit `partial` is the carry that came in, and for a sum `alt` is A ^ B.
  private val partialTops = CounterWidth.topBits(RegNext(in.tops), p)
  private val sum = partial ^ (alt & partialTops)
  private val topB = RegNext(in.b & tops)
  private val carry = CounterWidth.fromTop((alt & partial) | (not(alt) & topB), RegNext(in.counterWidth), p)

  // B where the result may be A or B, and zero else: so its inverse is the operand of a maximum, or all ones for a
  // saturated sum, and `alt` with it is A again for a maximum.
  private val (larger, either) = (UpdateOp.SettleLarger.code.U, UpdateOp.SettleEither.code.U)
  private val other = RegNext(Mux(io.zero || (in.settle =/= larger && in.settle =/= either), 0.U, in.b))

  // Two flags a byte choose, so that a bit of the result is one look-up of five inputs.
  private val settle = RegNext(Mux(io.zero, UpdateOp.SettleAlt.code.U, in.settle))
  private val inside = CounterWidth.spread(RegNext(in.inside), p)
  private val always = Fill(p.wordBits, 1.U)
  private val takesSum = inside & MuxLookup(settle, 0.U)(
    Seq(
      UpdateOp.SettleSum.code.U -> always,
      UpdateOp.SettleSaturated.code.U -> not(carry),
      either -> always
    )
  )
  private val inverts = inside & MuxLookup(settle, 0.U)(
    Seq(
      UpdateOp.SettleSaturated.code.U -> carry,
      larger -> not(carry),
      either -> always
    )
  )
  private val settled = (sum & takesSum) | ((alt ^ other) & not(takesSum))
  io.result := (settled & not(inverts)) | (((alt & takesSum) | (other ^ not(takesSum))) & inverts)
}
