// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util.Cat

/** A field of an address as a rule's mask and shift select it, where only `bits` bits of it can be of use: the value is
  * (address >> `shift`) & `mask`, and it is whole where no bit of the address is in `beyond`.
  */
class AddressField(p: NemoParams, bits: Int) extends Bundle {
  val shift = UInt(6.W)
  val mask = UInt(bits.W)
  val beyond = UInt(p.addressBits.W)

  /** The value. Shifted four ways at a time, and no wider than what is left of it in the end. */
  def value(address: UInt): UInt = {
    val shifted = Seq(4, 2, 0).foldLeft(address) { (word, stage) =>
      (word >> Cat(shift(stage + 1, stage), 0.U(stage.W))).pad(bits + (1 << stage) - 1)(bits + (1 << stage) - 2, 0)
    }
    shifted & mask
  }
  def whole(address: UInt): Bool = !(address & beyond).orR
}

object AddressField {
  def apply(mask: UInt, shift: UInt, bits: Int, p: NemoParams): AddressField = {
    val field = Wire(new AddressField(p, bits))
    field.shift := shift
    field.mask := mask >> shift
    field.beyond := VecInit.tabulate(p.addressBits)(i => mask(i) && i.U >= shift +& bits.U).asUInt
    field
  }
}

/** A [[Rule]] laid out for the pipelines: all that follows from it alone is worked out here, once for all lanes. */
class LaidRule(val p: NemoParams) extends Bundle {
  val enable = Bool()
  val reads = Bool()
  val writes = Bool()
  val start = UInt((p.addressBits + 1).W)
  val end = UInt((p.addressBits + 1).W)
  val key = new AddressField(p, p.keyBits)
  val offset = new AddressField(p, p.indexBits)
  val counterWidth = UInt(2.W)
  val op = UInt(UpdateOp.codeBits.W)

  /** Repeated in every counter of a word, as all operands here; zero where a field of the request is the operand. */
  val operand = UInt(p.wordBits.W)
  val ofLine = Bool()
  val ofWrite = Bool()
  val notifyOp = UInt(Predicate.bits.W)
  val notifyOperand = UInt(p.wordBits.W)

  /** A read with effect changes the counters, by this op; a reset is [[UpdateOp.Set]], which heals parity. */
  val modifies = Bool()
  val heals = Bool()
  val effectOp = UInt(UpdateOp.codeBits.W)
  val effectOperand = UInt(p.wordBits.W)
}

object LaidRule {

  /** Combinational. */
  def apply(rule: Rule, p: NemoParams): LaidRule = {
    val laid = Wire(new LaidRule(p))
    def repeated(operand: UInt): UInt = CounterWidth.repeat(operand, rule.counterWidth, p)
    laid.enable := rule.enable
    laid.reads := rule.reads
    laid.writes := rule.writes
    laid.start := rule.start
    laid.end := rule.end
    laid.key := AddressField(rule.primaryMask, rule.primaryShift, p.keyBits, p)
    laid.offset := AddressField(rule.subMask, rule.subShift, p.indexBits, p)
    laid.counterWidth := rule.counterWidth
    laid.op := rule.op
    laid.operand := Mux(rule.operandSource === OperandSource.Immediate.U, repeated(rule.operand), 0.U)
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
