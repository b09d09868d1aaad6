// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.expander.registers.{CapabilityRegister, FeaturesRegister, WindowRegister}
import anemone.nemo.{OperandSource, Predicate, ReadEffect, UpdateOp}
import chisel3._
import chisel3.util._

/** What a configuration says of itself in its registers, so that software never assumes a size. Constants. */
object Capabilities {

  /** Sizes. */
  def sizes(p: ExpanderParams): CapabilityRegister = {
    val register = Wire(new CapabilityRegister)
    register.pipelines := p.nemo.pipelines.U
    register.channels := p.nemo.channels.U
    register.statesLog2 := log2Ceil(p.nemo.states).U
    register.tableLog2 := log2Ceil(p.nemo.table).U
    register.addressBits := p.nemo.addressBits.U
    register.counterIndexBits := p.nemo.indexBits.U
    register.flatChannels := p.flatChannels.U
    register
  }

  /** What is built in, a bit a code. [[UpdateOp.Set]] is a read effect's and not a rule's op, so it has none. */
  def features(p: ExpanderParams): FeaturesRegister = {
    import OperandSource._
    val register = Wire(new FeaturesRegister)
    register.ops := mask(UpdateOp.all.filterNot(_ == UpdateOp.Set).map(_.code))
    register.widths := mask(0 to p.nemo.subBits)
    register.predicates := mask(Predicate.None to Predicate.LessEqual)
    register.effects := mask(Seq(ReadEffect.None, ReadEffect.Reset, ReadEffect.Op))
    register.operandSources := mask(Seq(Immediate, Line, IsWrite))
    register.flatRatio := p.flat.fold(0)(_.ratio).U
    register.flatMemory := p.flat.isDefined.B
    register
  }

  /** Bytes of one telemetry window. */
  def window(p: ExpanderParams): WindowRegister = {
    val register = Wire(new WindowRegister)
    register.bytes := p.windowBytes.U
    register
  }

  private def mask(codes: Seq[Int]): UInt = codes.map(BigInt(1) << _).sum.U
}
