// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import circt.stage.ChiselStage

/** A [[LaneContract]] as a model checker takes it, one bit for each thing that is wrong.
  *
  * Registers that have no reset start at zero in the checker. Only a run that begins with one cycle of reset is judged;
  * that keeps the time of everything after it fixed, and the search short.
  */
class LaneProof(p: NemoParams, rule: Case) extends Module {
  private val contract = Module(new LaneContract(p, rule))
  val io = IO(new Bundle {
    val slot = chiselTypeOf(contract.io.slot)
    val table = chiselTypeOf(contract.io.table)
    val watched = chiselTypeOf(contract.io.watched)
    val operand = chiselTypeOf(contract.io.operand)
    val wrongWrite = Output(Bool())
    val wrongLine = Output(Bool())
    val wrongPoison = Output(Bool())
  })
  contract.io.slot := io.slot
  contract.io.table := io.table
  contract.io.watched := io.watched
  contract.io.operand := io.operand
  private val begun = Reg(Bool())
  begun := begun || reset.asBool
  private val other = Reg(Bool())
  other := other || begun === reset.asBool
  private val judged = begun && !reset.asBool && !other
  io.wrongWrite := judged && !contract.io.written
  io.wrongLine := judged && !contract.io.line
  io.wrongPoison := judged && contract.io.poison
}

/** Writes the proofs' SystemVerilog, one folder a case: `EmitProofs DIR` (tests/formal runs the checker on them). */
object EmitProofs {
  import UpdateOp._

  /** Counters of 2 and 4 bits, 2 words a line, 2 lines: all hazards are there, and little else. */
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
  private val cases =
    Seq(Case(Add, Set, 1), Case(Sub, Set, 0), Case(Add, Shr, 1), Case(Max, Shl, 1), Case(AddSat, Xor, 0))

  def main(args: Array[String]): Unit =
    for (rule <- cases) {
      ChiselStage.emitSystemVerilogFile(
        new LaneProof(small, rule),
        Array(
          "--target-dir",
          s"${args(0)}/${rule.op.name}-${rule.effect.name}-${small.counterBits(rule.counterWidth)}"
        ),
        Array(
          "--disable-all-randomization",
          "--strip-debug-info",
          "--lowering-options=disallowLocalVariables,disallowPackedArrays"
        )
      )
    }
}
