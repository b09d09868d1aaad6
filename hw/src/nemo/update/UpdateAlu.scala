// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util._

/** The one-cycle loop of an update: state and operand in, new state out, and straight in again.
  *
  * All counters of the word are updated at once where the operand says so; where it is neutral they keep their value.
  * The adder has a guard bit above each byte. Within a counter it is 1 + 0 and hands the carry on. At a counter's end it
  * is 0 + 0, which stops the carry, or 1 + 1 for a difference, which gives the next counter the carry that it starts
  * with: either way its own sum is the carry out of the counter. Sum, carries and rotated state are registered;
  * [[ResultMux]] makes the result of them in the next cycle, and a second one, in the place of a forwarding
  * multiplexer, the word for the next slot: what that chooses from is cleared unless the slot takes it, and the bits of
  * any other state are codes that say one. The longest paths go through that choice: into the rotator, and through an
  * addition back to its own registers, with [[CarryMux]] for the carries of all bytes but the last.
  *
  * Latency: one cycle from `operand` to `result`, two from `state`; `result` is not registered again.
  */
class UpdateAlu(p: NemoParams) extends Module {
  val io = IO(new Bundle {
    val operand = Input(new AluOperand(p))

    /** The state for the next cycle's operand. */
    val state = Input(UInt(p.wordBits.W))

    /** It is what this cycle's operand makes, or `result` as it is in this cycle. Then `state` is zero; or what the op makes
      * does not come of a state.
      */
    val forward1 = Input(Bool())
    val forward2 = Input(Bool())

    /** `result` is zero in the next cycle. */
    val zero = Input(Bool())
    val result = Output(UInt(p.wordBits.W))
  })

  private val in = io.operand

  /** The state that meets the operand. */
  private[nemo] val forwardedState = Wire(UInt(p.wordBits.W))
  if (OpControl.onlySums(p)) {
    forwardedState := Mux(
      RegNext(io.forward1),
      io.result,
      RegNext(io.state) | RegNext(Mux(io.forward2, io.result, 0.U))
    )
    val a = Mux(in.passState, forwardedState, 0.U) | in.resetValue
    io.result := RegNext(Mux(io.zero, 0.U, a + in.b + in.subtract))
  } else {
    val guarded =
      CounterWidth.guarded(forwardedState, in.guardsA, p) + CounterWidth.guarded(in.b, in.guardsB, p) + in.subtract
    val sum = CounterWidth.unguarded(guarded, p)
    val byteCarries = Cat(CounterWidth.bytesOf(guarded, p).reverse.map(_(p.byteBits)))
    val a = if (p.features.shifts) forwardedState.rotateRight(in.rotate) else forwardedState
    val codes = VecInit.tabulate(2)(i =>
      CounterWidth.spread(in.codes(i), p) ^ Mux(in.codeFlips(i), in.b, 0.U)
    )

    def resultMux(enable: Bool, ones: UInt): UInt = {
      def masked(word: UInt, use: Bool): UInt = Mux(enable && !io.zero && use, word, 0.U)
      val carry = Module(new CarryMux(p))
      carry.carries := byteCarries(p.wordBytes - 2, 0)
      carry.select := in.carrySelect
      val mux = Module(new ResultMux(p))
      mux.sum := sum
      mux.a := a
      mux.byteCarry := RegNext(masked(carry.byteCarry, in.useByteCarry))
      // As a register's reset, so that no look-up is behind the adder's last bit.
      def wordCarryIf(wordCarry: Bool): Bool =
        withReset(!enable || io.zero || !wordCarry)(RegNext(byteCarries(p.wordBytes - 1), false.B))
      mux.wordCarry := VecInit(in.useWordCarry.map(wordCarryIf)).asUInt
      mux.codes(0) := RegNext(masked(codes(0), true.B))
      mux.codes(1) := RegNext(masked(codes(1), true.B) | ones)
      mux.result
    }
    forwardedState := resultMux(io.forward1, io.state | (io.result & Fill(p.wordBits, io.forward2)))
    io.result := resultMux(true.B, 0.U)
  }
}
