// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import anemone.Emit
import anemone.formal.JudgedRun
import chisel3._
import chisel3.util._

/** The ALU's result equals [[ReferenceFold]] on any counter of any word. A forwarded update starts from the result one
  * or two before, so chains of any length are covered by induction.
  *
  * Op and width are fixed, because the solver is good at arithmetic and poor at multiplexers. So is a shift's amount;
  * [[OperandStageSpec]] covers all amounts.
  */
class AluEquivalence(p: NemoParams, op: UpdateOp, counterWidth: Int, amount: Option[Int]) extends Module {
  private val bench = Module(new AluBench(p))
  private val bits = p.counterBits(counterWidth)
  private val counters = p.wordBits / bits
  val io = IO(new Bundle {
    val operand = Input(UInt(p.wordBits.W))
    val state = Input(UInt(p.wordBits.W))
    val forward1 = Input(Bool())
    val forward2 = Input(Bool())
    val updated = Input(UInt(counters.W))
    val watched = Input(UInt(log2Ceil(counters).W))
    val wrong = Output(Bool())
  })
  private val watched = RegEnable(io.watched, reset.asBool)
  private val operand = amount.fold(io.operand)(_.U(p.wordBits.W))
  bench.io.operand.op := op.code.U
  bench.io.operand.sourceSelect := VecInit(true.B +: Seq.fill(OperandStage.sources - 1)(false.B))
  private val repeated = RegNext(Fill(counters, operand(bits - 1, 0)))
  bench.io.operand.operands := VecInit.fill(OperandStage.sources)(repeated)
  bench.io.operand.counterWidth := counterWidth.U
  bench.io.operand.byteMask := FillInterleaved(1 << counterWidth, io.updated)
  bench.io.zero := false.B
  bench.io.state := io.state

  private val started = ShiftRegister(true.B, OperandStage.latency + 2, false.B, true.B)
  bench.io.forward1 := io.forward1
  bench.io.forward2 := io.forward2
  private val forwarded1 = RegNext(io.forward1)
  private val forwarded2 = RegNext(io.forward2 && !io.forward1)
  private def counter(word: UInt): UInt =
    VecInit.tabulate(counters)(i => word((i + 1) * bits - 1, i * bits))(watched).pad(p.wordBits)
  private def delayed[T <: Data](x: T) = ShiftRegister(x, OperandStage.latency + 1)
  private val before = counter(RegNext(io.state))
  private val after = ReferenceFold(op.code.U, before, delayed(operand), counterWidth.U, p)
  private val expected = RegNext(Mux(delayed((io.updated >> watched)(0)), after, before))
  private val wrongWord =
    (forwarded1 && bench.io.word =/= bench.io.result) || (forwarded2 && bench.io.word =/= RegNext(bench.io.result))
  private val wrongResult = !RegNext(forwarded1 || forwarded2) && counter(bench.io.result) =/= expected
  io.wrong := JudgedRun() && started && (wrongWord || wrongResult)
}

/** Writes the proofs' SystemVerilog, one folder a case: `EmitAlu DIR CASE...` (tests/formal runs the checker on them). */
object EmitAlu {

  /** Builds by the end of their cases' names: the standard one, and one with all ops, whose [[ResultMux]] differs. */
  private val builds = Seq("" -> NemoParams(), "-of-all" -> NemoParams(features = Features(ops = UpdateOp.ofRules)))
  private def amounts(op: UpdateOp): Seq[Option[Int]] = op match {
    case UpdateOp.Shr | UpdateOp.Shl => Seq(0, 3, 6, 9, 35).map(Some(_))
    case _                           => Seq(None)
  }

  def main(args: Array[String]): Unit =
    for ((build, p) <- builds; op <- p.features.datapath; w <- p.levels; amount <- amounts(op)) {
      val name = s"${op.name}${amount.fold("")(n => s"-by-$n")}$build-${p.counterBits(w)}"
      if (args.tail.contains(name))
        Emit.whole(new AluEquivalence(p, op, w, amount), s"${args(0)}/$name", plain = true)
    }
}
