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

  private def kept(word: UInt, keep: Bool): UInt = RegNext(Mux(keep && !io.zero, word, 0.U))
  private val rotator = Module(new Rotator(p))
  rotator.word := a
  rotator.amount := in.rotate
  private val rotated = kept(rotator.rotated, in.pass)
  private val b = kept(in.b, true.B)

  // At a top bit `partial` is the carry that came in.
  private val differ = RegNext(a & tops) ^ b
  private val sum = partial ^ (differ & CounterWidth.topBits(RegNext(in.tops), p))
  private val carries = (differ & partial) | ((~differ).asUInt & b)
  private val carry = CounterWidth.fromTop(carries, RegNext(in.counterWidth), p)

  // What stands, a byte at a time; with B and the rotated word zero, A ^ B is zero as well.
  private val chosen = RegNext(in.choice)
  private val (inside, stay) = (RegNext(in.inside), !RegNext(io.zero))
  private val codes = VecInit.tabulate(p.wordBytes) { k =>
    val code = VecInit(OpControl.choices(p).map { choice =>
      val updated = Mux(carry(k * p.byteBits), choice.carried.U(3.W), choice.plain.U(3.W))
      Mux(inside(k), updated, choice.outside.U(3.W))
    })
    Mux(stay, MuxLookup(chosen, code.head)(code.zipWithIndex.map { case (code, i) => i.U -> code }), ResultChoice.Xor.U)
  }
  private val choice = Module(new ResultChoice(p))
  choice.sum := sum
  choice.a := rotated
  choice.b := b
  choice.codes := VecInit.tabulate(3)(i => VecInit(codes.map(_(i))).asUInt)
  io.result := choice.result
}
