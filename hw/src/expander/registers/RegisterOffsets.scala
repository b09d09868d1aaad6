// SPDX-License-Identifier: Apache-2.0
// Generated from hw/regs/anemone.rdl by `make regs`; change that, not this.
package anemone.expander.registers

/** Byte offsets of the registers; those of each flat and pipeline from its own start. */
object RegisterOffsets {
  val id = 0x000
  val version = 0x008
  val capability = 0x010
  val features = 0x018
  val window = 0x020
  val effectWindow = 0x040
  val snapshotWindow = 0x048
  val acknowledgeWindow = 0x050
  val quiesceStatus = 0x058
  val errorStatus = 0x080
  val errorEnable = 0x088
  val droppedWrites = 0x090
  val refusedReads = 0x098
  val faultsCorrected = 0x0a0
  val faultsUncorrected = 0x0a8
  val firstFault = 0x0b0
  val faultSet = 0x0b8
  val interruptPending = 0x0c0
  val interruptEnable = 0x0c8
  val interruptAcknowledge = 0x0d0
  val faultInject = 0x0e0
  val faultControl = 0x0e8
  val strayAnswers = 0x0f0
  val quiesce = 0x0f8
  val ruleControl = 0x100
  val ruleStart = 0x108
  val ruleEnd = 0x110
  val rulePrimaryMask = 0x118
  val ruleSubMask = 0x120
  val ruleShifts = 0x128
  val ruleOperand = 0x130
  val ruleNotifyOperand = 0x138
  val ruleEffectOperand = 0x140
  val ruleCommit = 0x148
  val ruleHash = 0x150
  val table = 0x200000

  object flat {
    val first = 0x800
    val stride = 0x100
    val nearLines = 0x000
    val dedicatedStart = 0x008
    val dedicatedEnd = 0x010
    val policy = 0x018
    val control = 0x020
    val status = 0x028
    val untrustedSet = 0x030
    val hits = 0x040
    val misses = 0x048
    val swaps = 0x050
    val nearReads = 0x058
    val nearWrites = 0x060
    val farReads = 0x068
    val farWrites = 0x070
    val forwarded = 0x078
    val nearErrors = 0x080
    val farErrors = 0x088
    val marked = 0x090
    val poisoned = 0x098
    val corrected = 0x0a0
    val untrusted = 0x0a8
    val strays = 0x0b0
  }

  object pipeline {
    val first = 0x1000
    val stride = 0x100
    val matched = 0x000
    val unmapped = 0x008
    val outOfRange = 0x010
    val notifications = 0x018
    val parityErrors = 0x020
    val notification = 0x028
    val control = 0x030
    val status = 0x038
  }
}

/** Codes of fields, by name. */
object RegisterCodes {
  val faultMemory: Seq[(String, Int)] =
    Seq(
      "lines" -> 0,
      "writes" -> 1,
      "answers" -> 2,
      "lookups" -> 3,
      "fetches" -> 4,
      "events" -> 5,
      "leaving_answers" -> 6,
      "leaving_lines" -> 7,
      "read_order" -> 8,
      "write_order" -> 9,
      "region_writes" -> 16,
      "acknowledges" -> 17,
      "tables" -> 18,
      "waiting_events" -> 19,
      "reset_values" -> 20,
      "memory_data" -> 21,
      "memory_answers" -> 22,
      "ordered_events" -> 23,
      "ordered_reads" -> 24,
      "telemetry_lines" -> 25,
      "line_order" -> 26,
      "ready_lines" -> 27
    )
  val nearFilter: Seq[(String, Int)] =
    Seq("any" -> 0, "hit" -> 1, "miss" -> 2)
  val counterWidth: Seq[(String, Int)] =
    Seq("bits8" -> 0, "bits16" -> 1, "bits32" -> 2, "bits64" -> 3)
  val operandSource: Seq[(String, Int)] =
    Seq("immediate" -> 0, "line" -> 1, "is_write" -> 2)
  val updateOp: Seq[(String, Int)] =
    Seq(
      "add" -> 0,
      "sub" -> 1,
      "shr" -> 2,
      "shl" -> 3,
      "xor" -> 4,
      "or" -> 5,
      "max" -> 6,
      "addsat" -> 7,
      "min" -> 8,
      "subsat" -> 9,
      "last" -> 10,
      "ewma2" -> 11,
      "ewma4" -> 12,
      "ewma8" -> 13
    )
  val predicate: Seq[(String, Int)] =
    Seq("none" -> 0, "equal" -> 1, "greater_equal" -> 2, "greater" -> 3, "less" -> 4, "less_equal" -> 5)
  val readEffect: Seq[(String, Int)] =
    Seq("none" -> 0, "reset" -> 1, "op" -> 2)
  val swapPolicy: Seq[(String, Int)] =
    Seq("every" -> 0, "nth" -> 1, "one_in" -> 2, "never" -> 3)
}
