// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util._

/** A field of an address as a rule's mask and shift select it, where only `bits` bits of it can be of use: the value is
  * (address >> shift) & `mask`, and it is whole where no bit of the address is in `beyond`, which begins at bit `from`: a bit
  * below that is never past the field.
  */
class AddressField(val p: NemoParams, bits: Int, from: Int) extends Bundle {
  val shift = UInt(log2Ceil(p.addressBits).W)
  val mask = UInt(bits.W)
  private val rest = (p.addressBits - from).max(0)
  val beyond = UInt(rest.W)

  def value(address: UInt): UInt = (address >> shift).pad(bits)(bits - 1, 0) & mask
  def whole(address: UInt): Bool = if (rest == 0) true.B else !((address >> from) & beyond).orR
}

object AddressField {

  /** Combinational. A shift of `addressBits` and more leaves nothing of the mask. */
  def apply(mask: UInt, shift: UInt, bits: Int, p: NemoParams): AddressField = {
    val field = Wire(new AddressField(p, bits, bits))
    field.shift := shift
    field.mask := mask >> shift
    field.beyond := beyond(mask, shift, bits, p)
    field
  }

  /** An offset: `hashes` says whether [[HashStage.bits]] bits of it are of use, or those of a counter's index. */
  def offset(mask: UInt, shift: UInt, hashes: Bool, p: NemoParams): AddressField = {
    val field = Wire(new AddressField(p, p.offsetBits, p.indexBits))
    field.shift := shift
    field.mask := mask >> shift
    val ofHash = beyond(mask, shift, HashStage.bits, p) << (HashStage.bits - p.indexBits)
    field.beyond := Mux(hashes, ofHash, beyond(mask, shift, p.indexBits, p))
    field
  }

  /** The bits of an address, from bit `bits` on, that a field of so many bits has no room for. */
  private def beyond(mask: UInt, shift: UInt, bits: Int, p: NemoParams): UInt = {
    val past = (bits until p.addressBits).map(i => mask(i) && shift <= (i - bits).U)
    if (past.isEmpty) 0.U else VecInit(past).asUInt
  }
}

/** A [[Rule]] laid out for the pipelines: all that follows from it alone is worked out here, once for all lanes. */
class DecodedRule(val p: NemoParams) extends Bundle {
  val enable = Bool()
  val reads = Bool()
  val writes = Bool()
  val near = Option.when(p.outcomes)(UInt(NearOutcome.bits.W))
  val start = UInt((p.addressBits + 1).W)
  val end = UInt((p.addressBits + 1).W)
  val key = new AddressField(p, p.keyBits, p.keyBits)
  val offset = new AddressField(p, p.offsetBits, p.indexBits)

  /** Of [[HashStage]]; a rule without a hash has the identity's. */
  val hashMultiplier = Option.when(p.features.hash)(UInt(HashStage.bits.W))
  val hashSize = Option.when(p.features.hash)(UInt((p.indexBits + 1).W))

  /** A level of [[NemoParams]]. */
  val counterWidth = UInt(2.W)
  val op = UInt(UpdateOp.codeBits.W)

  /** Repeated in every counter of a word, as all operands here; zero where the request's line is the operand. */
  val operand = UInt(p.wordBits.W)
  val ofLine = Bool()

  /** The operand, a one, is that of writes; others have zero. */
  val ofWrite = Bool()
  val notifyOp = UInt(Predicate.bits.W)
  val notifyOperand = UInt(p.wordBits.W)

  /** A read with effect changes the counters, by this op; a reset is [[UpdateOp.Set]], which heals parity. */
  val modifies = Bool()
  val heals = Bool()
  val effectOp = UInt(UpdateOp.codeBits.W)
  val effectOperand = UInt(p.wordBits.W)
}

object DecodedRule {

  /** Combinational. */
  def apply(rule: Rule, p: NemoParams): DecodedRule = {
    val laid = Wire(new DecodedRule(p))
    val width = (rule.counterWidth + p.firstLevel.S(3.W).asUInt)(1, 0)
    def repeated(operand: UInt): UInt = CounterWidth.repeat(operand, width, p)
    laid.enable := rule.enable
    laid.reads := rule.reads
    laid.writes := rule.writes
    laid.near.zip(rule.near).foreach { case (to, from) => to := from }
    laid.start := rule.start
    laid.end := rule.end
    laid.key := AddressField(rule.primaryMask, rule.primaryShift, p.keyBits, p)
    laid.offset := AddressField.offset(rule.subMask, rule.subShift, rule.hashes.getOrElse(false.B), p)
    for (hashes <- rule.hashes) {
      val (multiplier, size) = HashStage.identity(p)
      laid.hashMultiplier.get := Mux(hashes, rule.hashMultiplier.get, multiplier.U)
      laid.hashSize.get := Mux(hashes, rule.hashSize.get, size.U)
    }
    laid.counterWidth := width
    laid.op := rule.op
    val own = rule.operandSource === OperandSource.Immediate.U || (p.features.operandSources.size == 1).B
    laid.operand := repeated(Mux(own, rule.operand, laid.ofWrite))
    laid.ofLine := rule.operandSource === OperandSource.Line.U
    laid.ofWrite := rule.operandSource === OperandSource.IsWrite.U
    laid.notifyOp := rule.notifyOp
    laid.notifyOperand := repeated(rule.notifyOperand)
    laid.modifies := rule.effectKind =/= ReadEffect.None.U
    laid.heals := rule.effectKind === ReadEffect.Reset.U
    laid.effectOp := Mux(laid.heals, UpdateOp.Set.code.U, rule.effectOp)
    laid.effectOperand := repeated(rule.effectOperand)
    laid
  }
}
