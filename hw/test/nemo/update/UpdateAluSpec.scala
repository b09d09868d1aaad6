// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util.log2Ceil
import chisel3.util.experimental.BoringUtils
import chiseltest._
import org.scalatest.flatspec.AnyFlatSpec
import scala.util.Random

/** OperandStage and UpdateAlu as in an update. The state comes one cycle before the operand, hence the register between
  * them.
  */
class AluBench(val p: NemoParams) extends Module {
  private val operands = Module(new OperandStage(p))
  private val alu = Module(new UpdateAlu(p))
  val io = IO(new Bundle {
    val operand = chiselTypeOf(operands.io)
    val state = Input(UInt(p.wordBits.W))
    val forward1 = Input(Bool())
    val forward2 = Input(Bool())
    val zero = Input(Bool())
    val result = Output(UInt(p.wordBits.W))

    /** The state after forwarding. */
    val word = Output(UInt(p.wordBits.W))
  })
  operands.io <> io.operand
  alu.io.operand := RegNext(operands.io.result)
  alu.io.state := Mux(io.forward1 || io.forward2, 0.U, io.state)
  alu.io.forward1 := io.forward1
  alu.io.forward2 := io.forward2 && !io.forward1
  alu.io.zero := RegNext(io.zero)
  io.result := alu.io.result
  io.word := BoringUtils.bore(alu.forwardedState)
}

class UpdateAluSpec extends AnyFlatSpec with ChiselScalatestTester {
  private val word = (BigInt(1) << 64) - 1

  private def interesting(random: Random): BigInt = random.nextInt(6) match {
    case 0 => BigInt(0)
    case 1 => word
    case 2 => BigInt(random.nextInt(80))
    case 3 => BigInt("8000800080808080", 16) ^ BigInt(random.nextInt(3))
    case _ => BigInt(64, random)
  }

  behavior of "UpdateAlu"
  compute("the standard ops", NemoParams())
  compute("every op and width", NemoParams(features = Features(ops = UpdateOp.ofRules)))
  compute("sums where there is nothing else", built(UpdateOp.Add, UpdateOp.Sub)(64))
  compute("two ops where nothing is moved", built(UpdateOp.Max, UpdateOp.Xor)(16, 64))
  compute("carries where no counter ends within the word", built(UpdateOp.AddSat, UpdateOp.Max)(64))
  compute("carries where none is the whole word", built(UpdateOp.AddSat, UpdateOp.Max)(8, 16))
  compute("carries where a width between is not there", built(UpdateOp.AddSat, UpdateOp.Max)(8, 16, 64))
  compute("a borrow where nothing else has one", built(UpdateOp.Min, UpdateOp.Last)(64))
  compute("borrows where no counter is the whole word", built(UpdateOp.Min, UpdateOp.Max, UpdateOp.Add)(8, 32))
  compute("averages where there is little else", built(UpdateOp.Ewma8, UpdateOp.Ewma2, UpdateOp.Add)(64))
  compute("an average in two widths", built(UpdateOp.Ewma4, UpdateOp.Shr)(8, 32))
  compute("a floor where nothing borrows", built(UpdateOp.SubSat, UpdateOp.Max, UpdateOp.Xor)(16, 64))

  private def built(ops: UpdateOp*)(widths: Int*) = NemoParams(features = Features(ops = ops, widths = widths))

  private def compute(what: String, p: NemoParams): Unit =
    it should s"compute $what: a counter or all of a word, alone and chained, or zero instead" in {
      test(new AluBench(p)).withAnnotations(Seq(VerilatorBackendAnnotation)) { dut =>
        for (op <- p.features.datapath; bits <- p.features.widths) {
          val seed = 1000 * op.code + bits
          info(s"${op.name} of $bits bits, seed $seed")
          withClue(s"${op.name} of $bits bits: ")(follow(dut, op, log2Ceil(bits) - 3, new Random(seed)))
        }
      }
    }

  private def follow(dut: AluBench, op: UpdateOp, w: Int, random: Random): Unit = {
    val p = dut.p
    val pending = scala.collection.mutable.Queue[(BigInt, Int, BigInt, Boolean)]()
    var last = BigInt(0)
    var expected = Option.empty[(BigInt, String)]
    var sources = Seq.fill(OperandStage.sources)(BigInt(0))
    for (cycle <- 0 until 150) {
      val operand = interesting(random)
      val counters = 64 / (8 << w)
      val one = ((1 << (1 << w)) - 1) << (random.nextInt(counters) << w)
      val bytes = if (random.nextInt(4) == 0) 0xff else one
      dut.io.operand.op.poke(op.code)
      // One source is the operand, or none and it is zero. The sources come one cycle after the selection.
      val source = random.nextInt(OperandStage.sources + 1)
      dut.io.operand.sourceSelect.zipWithIndex.foreach { case (from, i) => from.poke(i == source) }
      dut.io.operand.operands.zip(sources).foreach { case (port, value) => port.poke(value) }
      sources =
        Seq.tabulate(OperandStage.sources)(i =>
          RuleFields.repeated(if (i == source) operand else interesting(random), w)
        )
      dut.io.operand.counterWidth.poke(w + p.firstLevel)
      val parts = 0 until p.wordBytes
      dut.io.operand.byteMask.poke(parts.filter(k => (bytes >> (k * 8 / p.wordBytes) & 1) == 1).map(1 << _).sum)
      pending.enqueue((
        if (source < OperandStage.sources) operand else 0,
        bytes,
        interesting(random),
        random.nextBoolean() && cycle > 0
      ))
      // The state is due when the operand leaves its stage, and the result two cycles later.
      if (pending.size > OperandStage.latency) {
        val (b, covered, state, forward1) = pending.dequeue()
        dut.io.state.poke(state)
        dut.io.forward1.poke(forward1)
        val zero = random.nextInt(8) == 0
        dut.io.zero.poke(zero)
        last = if (zero) 0 else PlainFold.word(op, if (forward1) last else state, b, w, covered)
        dut.clock.step()
        for ((value, what) <- expected) dut.io.result.expect(value, what)
        expected = Some((last, s"cycle $cycle, operand $b, bytes $covered, state $state, forward1 $forward1"))
      } else dut.clock.step()
    }
  }
}
