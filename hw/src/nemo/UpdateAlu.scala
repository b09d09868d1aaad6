// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util._

/** The one-cycle loop of an update: state and operand in, new state out, and straight in again.
  *
  * All counters of the word are updated at once where the operand says so; where it is neutral they keep their value.
  * The top bit of a counter is added outside the carry chain, so that no carry leaves a counter; what would have left
  * it is known in the next cycle. The choice between sum and the other results is made then, together with the choice
  * of the next state. The longest path goes from the partial sum through that choice and the forwarding multiplexer into
  * the rotator; beside it an addition of a word begins behind the same multiplexer.
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
  private val word = Mux(io.chain, io.result, io.state)
  if (OpControl.onlySums(p)) {
    val a = Mux(in.pass, word, 0.U) | in.fresh
    io.result := RegNext(Mux(io.zero, 0.U, a + in.b + in.subtract))
  } else chosen(word)

  /** `result`, from all that ops may do with A. */
  private def chosen(a: UInt): Unit = {
    // A counter's top bit is 0 + 0 to end the carry there, or 1 + 1 to start the next counter's with one.
    val tops = CounterWidth.topBits(in.tops, p)
    def bounded(word: UInt): UInt = Mux(in.subtract, word | tops, word & ~tops)
    val partial = RegNext(bounded(a) + bounded(in.b) + in.subtract)

    def kept(word: UInt, keep: Bool): UInt = RegNext(Mux(keep && !io.zero, word, 0.U))
    val rotated = kept(if (p.features.shifts) Rotator(a, in.rotate, p) else a, in.pass)
    val b = kept(in.b, true.B)

    // At a top bit `partial` is the carry that came in.
    val differ = RegNext(a & tops) ^ b
    val sum = partial ^ (differ & CounterWidth.topBits(RegNext(in.tops), p))
    val carries = (differ & partial) | ((~differ).asUInt & b)
    val carry = CounterWidth.fromTop(carries, RegNext(in.counterWidth), p)

    // What stands, a byte at a time; with B and the rotated word zero, A ^ B is zero as well.
    val choice = RegNext(in.choice)
    val (inside, stay) = (RegNext(in.inside), !RegNext(io.zero))
    val codes = VecInit.tabulate(ResultChoice.bits) { i =>
      def all(code: Int): UInt = Fill(p.wordBytes, ((code >> i) & 1).U)
      val bits = OpControl.choices(p).map { op =>
        (inside & ((carry & all(op.carried)) | ((~carry).asUInt & all(op.plain)))) | ((~inside).asUInt & all(
          op.outside
        ))
      }
      Mux(stay, MuxLookup(choice, bits.head)(bits.zipWithIndex.tail.map { case (bits, i) => i.U -> bits }), 0.U)
    }
    val chosen = Module(new ResultChoice(p))
    chosen.sum := sum
    chosen.a := rotated
    chosen.b := b
    chosen.codes := codes
    io.result := chosen.result
  }
}
