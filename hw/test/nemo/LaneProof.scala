// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import anemone.Emit
import anemone.formal.JudgedRun
import chisel3._

/** A [[LaneContract]] for a model checker: one output bit for each violation. */
class LaneProof(p: NemoParams, rule: Case) extends Module {
  private val contract = Module(new LaneContract(p, rule))
  val io = IO(new Bundle {
    val slot = chiselTypeOf(contract.io.slot)
    val table = chiselTypeOf(contract.io.table)
    val acknowledgeOperand = chiselTypeOf(contract.io.acknowledgeOperand)
    val watched = chiselTypeOf(contract.io.watched)
    val operand = chiselTypeOf(contract.io.operand)
    val wrongWrite = Output(Bool())
    val wrongLine = Output(Bool())
    val wrongPoison = Output(Bool())
  })
  contract.io.slot := io.slot
  contract.io.table := io.table
  contract.io.acknowledgeOperand := io.acknowledgeOperand
  contract.io.watched := io.watched
  contract.io.operand := io.operand
  private val judged = JudgedRun()
  io.wrongWrite := judged && !contract.io.written
  io.wrongLine := judged && !contract.io.line
  io.wrongPoison := judged && contract.io.poison
}

/** Writes the proofs' SystemVerilog, one folder a case: `EmitProofs DIR` (tests/formal runs the checker on them). */
object EmitProofs {
  import UpdateOp._

  /** Counters of 2 and 4 bits, 2 words a line, 2 lines: small, but with every hazard. */
  private val small = NemoParams(
    pipelines = 1,
    channels = 1,
    states = 4,
    table = 2,
    addressBits = 8,
    features = Features(widths = Seq(2, 4)),
    wordBits = 4,
    lineWords = 2
  )

  // A shift is proved on the wide counters: a narrow one of this size cannot hold the shift amounts.
  private val cases = Seq(
    Case(Add, Set, 1),
    Case(Sub, Set, 0),
    Case(Add, Shr, 1),
    Case(Max, Shl, 1),
    Case(AddSat, Xor, 0),
    Case(Min, SubSat, 0)
  )

  def main(args: Array[String]): Unit =
    for (rule <- cases) {
      val name = s"${rule.op.name}-${rule.effect.name}-${small.counterBits(rule.counterWidth)}"
      val more = Seq(rule.op, rule.effect).filterNot(op => standard.contains(op) || op == Set)
      val p = small.copy(features = small.features.copy(ops = standard ++ more))
      Emit.whole(new LaneProof(p, rule), s"${args(0)}/$name", plain = true)
    }
}
