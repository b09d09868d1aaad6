// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util._

/** The one-cycle loop of an update: state and operand in, new state out, which the next slot may use at once.
  *
  * All counters of the word are updated in parallel; a neutral operand leaves a counter as it is. The adder has a guard
  * bit above each byte:
  *   - within a counter 1 + 0 passes the carry on
  *   - at a counter's end 0 + 0 stops the carry; a subtraction has 1 + 1, which is the next counter's carry in
  *   - at a counter's end the guard's sum is the counter's carry out
  *
  * Sum, carries and rotated state are registered. In the next cycle one [[ResultMux]] computes `result`, and a second
  * one the state of the next slot: it is the forwarding multiplexer too. If the next slot does not take the result, the
  * inputs of the second are cleared, and the codes of its bits are the state from elsewhere. So the longest paths are
  * one [[ResultMux]], then the rotator, or the adder and [[CarryMux]].
  *
  * Latency: one cycle from `operand` to `result`, two from `state`; `result` has no register behind it.
  */
class UpdateAlu(p: NemoParams) extends Module {
  val io = IO(new Bundle {
    val operand = Input(new AluOperand(p))

    /** The state that the next cycle's operand updates. */
    val state = Input(UInt(p.wordBits.W))

    /** That state is the result of this cycle's operand (`forward1`), or `result` as it is in this cycle (`forward2`).
      * Then `state` must be zero.
      */
    val forward1 = Input(Bool())
    val forward2 = Input(Bool())

    /** `result` becomes zero in the next cycle. */
    val zero = Input(Bool())
    val result = Output(UInt(p.wordBits.W))
  })

  private val in = io.operand

  /** The state that the operand updates, after forwarding. */
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
    val (addendA, addendB) =
      if (p.features.averages) AverageTerms(forwardedState, in, p) else (forwardedState, in.b)
    val guarded =
      CounterWidth.guarded(addendA, in.guardsA, p) + CounterWidth.guarded(addendB, in.guardsB, p) + in.subtract
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
      carry.invert.zip(in.invertCarry).foreach { case (to, from) => to := from }
      val mux = Module(new ResultMux(p))
      mux.sum := sum
      mux.a := a
      mux.zeroSum.zip(in.zeroSum).foreach { case (to, from) => to := from }
      mux.zeroState.zip(in.zeroState).foreach { case (to, from) => to := from }
      mux.byteCarry := RegNext(masked(carry.byteCarry, in.useByteCarry))
      // A synchronous reset adds no look-up behind the adder's last bit.
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
