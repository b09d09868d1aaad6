// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util._

/** A field of an address, selected by a rule's mask and shift: (address >> shift) & `mask`, in `bits` bits. The value
  * fits if the address has no bit of `overflowMask`, which starts at bit `from`, because lower bits cannot overflow the
  * field.
  */
class AddressField(val p: NemoParams, bits: Int, from: Int) extends Bundle {
  val shift = UInt(log2Ceil(p.addressBits).W)
  val mask = UInt(bits.W)
  private val rest = (p.addressBits - from).max(0)
  val overflowMask = UInt(rest.W)

  def value(address: UInt): UInt = AddressField.shifted(address, shift, bits) & mask
  def fits(address: UInt): Bool = if (rest == 0) true.B else !((address >> from) & overflowMask).orR
}

object AddressField {

  /** The lowest `bits` bits of `word >> shift`, two bits of `shift` at a time. The highest come first, because the steps
    * after them then need fewer bits.
    */
  private def shifted(word: UInt, shift: UInt, bits: Int): UInt =
    Range(0, shift.getWidth, 2).foldRight(word) { (i, rest) =>
      val by = shift((i + 1).min(shift.getWidth - 1), i) << i
      val needed = bits + (1 << i) - 1
      (rest >> by).pad(needed)(needed - 1, 0)
    }

  /** Combinational. A shift of `addressBits` or more leaves an empty mask. */
  def apply(mask: UInt, shift: UInt, bits: Int, p: NemoParams): AddressField = {
    val field = Wire(new AddressField(p, bits, bits))
    field.shift := shift
    field.mask := shifted(mask, shift, bits)
    field.overflowMask := overflow(mask, shift, bits, p)
    field
  }

  /** An offset: of [[HashStage.bits]] bits if `hashes`, else of a counter index's. */
  def offset(mask: UInt, shift: UInt, hashes: Bool, p: NemoParams): AddressField = {
    val field = Wire(new AddressField(p, p.offsetBits, p.indexBits))
    field.shift := shift
    field.mask := shifted(mask, shift, p.offsetBits)
    val ofHash = overflow(mask, shift, HashStage.bits, p) << (HashStage.bits - p.indexBits)
    field.overflowMask := Mux(hashes, ofHash, overflow(mask, shift, p.indexBits, p))
    field
  }

  /** The address bits, from bit `bits` on, that overflow a field of so many bits. */
  private def overflow(mask: UInt, shift: UInt, bits: Int, p: NemoParams): UInt = {
    val past = (bits until p.addressBits).map(i => mask(i) && shift <= (i - bits).U)
    if (past.isEmpty) 0.U else VecInit(past).asUInt
  }
}

/** A [[Rule]], decoded once for all lanes: everything here follows from the rule alone. */
class DecodedRule(val p: NemoParams) extends Bundle {
  val enable = Bool()
  val reads = Bool()
  val writes = Bool()
  val near = Option.when(p.outcomes)(UInt(NearOutcome.bits.W))
  val start = UInt((p.addressBits + 1).W)
  val end = UInt((p.addressBits + 1).W)
  val key = new AddressField(p, p.keyBits, p.keyBits)
  val offset = new AddressField(p, p.offsetBits, p.indexBits)

  /** Inputs of [[HashStage]]; a rule without a hash has the identity's. */
  val hashMultiplier = Option.when(p.features.hash)(UInt(HashStage.bits.W))
  val hashSize = Option.when(p.features.hash)(UInt((p.indexBits + 1).W))

  /** A level of [[NemoParams]]. */
  val counterWidth = UInt(2.W)
  val op = UInt(UpdateOp.codeBits.W)

  /** Repeated in every counter of a word, as all operands here. Zero if the request's line is the operand. */
  val operand = UInt(p.wordBits.W)
  val lineOperand = Bool()

  /** The operand is one for writes and zero for reads. */
  val writeOperand = Bool()
  val notifyOp = UInt(Predicate.bits.W)
  val notifyOperand = UInt(p.wordBits.W)

  /** A read with effect applies `effectOp`. A reset is [[UpdateOp.Set]], which also clears bad parity. */
  val effectUpdates = Bool()
  val clearsParity = Bool()
  val effectOp = UInt(UpdateOp.codeBits.W)
  val effectOperand = UInt(p.wordBits.W)
}

object DecodedRule {

  /** Combinational. */
  def apply(rule: Rule, p: NemoParams): DecodedRule = {
    val decoded = Wire(new DecodedRule(p))
    val width = (rule.counterWidth + p.firstLevel.S(3.W).asUInt)(1, 0)
    def repeated(operand: UInt): UInt = CounterWidth.repeat(operand, width, p)
    decoded.enable := rule.enable
    decoded.reads := rule.reads
    decoded.writes := rule.writes
    decoded.near.zip(rule.near).foreach { case (to, from) => to := from }
    decoded.start := rule.start
    decoded.end := rule.end
    decoded.key := AddressField(rule.primaryMask, rule.primaryShift, p.keyBits, p)
    decoded.offset := AddressField.offset(rule.subMask, rule.subShift, rule.hash.getOrElse(false.B), p)
    for (hashes <- rule.hash) {
      val (multiplier, size) = HashStage.identity(p)
      decoded.hashMultiplier.get := Mux(hashes, rule.hashMultiplier.get, multiplier.U)
      decoded.hashSize.get := Mux(hashes, rule.hashSize.get, size.U)
    }
    decoded.counterWidth := width
    decoded.op := rule.op
    val immediate = rule.operandSource === OperandSource.Immediate.U || (p.features.operandSources.size == 1).B
    decoded.operand := repeated(Mux(immediate, rule.operand, decoded.writeOperand))
    decoded.lineOperand := rule.operandSource === OperandSource.Line.U
    decoded.writeOperand := rule.operandSource === OperandSource.IsWrite.U
    decoded.notifyOp := rule.notifyOp
    decoded.notifyOperand := repeated(rule.notifyOperand)
    decoded.effectUpdates := rule.effectKind =/= ReadEffect.None.U
    decoded.clearsParity := rule.effectKind === ReadEffect.Reset.U
    decoded.effectOp := Mux(decoded.clearsParity, UpdateOp.Set.code.U, rule.effectOp)
    decoded.effectOperand := repeated(rule.effectOperand)
    decoded
  }
}
