// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.expander.registers.{CapabilityRegister, FeaturesRegister, WindowRegister}
import chisel3._
import chisel3.util._

/** Capability registers, which let software read every size and feature of a configuration. Constants. */
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

  /** Built-in features, one bit per code. */
  def features(p: ExpanderParams): FeaturesRegister = {
    val register = Wire(new FeaturesRegister)
    register.ops := mask(p.nemo.features.ops.map(_.code))
    register.widths := mask(p.nemo.widthCodes)
    register.predicates := mask(p.nemo.features.predicates)
    register.effects := mask(p.nemo.features.effects)
    register.operandSources := mask(p.nemo.features.operandSources)
    register.flatRatio := p.flat.fold(0)(_.ratio).U
    register.acknowledges := p.nemo.features.acknowledges.B
    register.hash := p.nemo.features.hash.B
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
