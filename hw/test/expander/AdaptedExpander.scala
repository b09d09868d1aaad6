// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{Axi4Pins, AxiLitePins}
import chisel3._

/** A [[MemoryExpander]] with a [[ControllerAdapter]] below each channel, as it is on the board. */
class AdaptedExpander(p: ExpanderParams) extends Module {
  private val expander = Module(new MemoryExpander(p))
  val upstream = IO(Vec(p.nemo.channels, Flipped(new Axi4Pins(p.memory))))
  val downstream = IO(Vec(p.nemo.channels, new Axi4Pins(p.memory)))
  val control = IO(Flipped(new AxiLitePins(22, 64)))
  val interrupt = IO(chiselTypeOf(expander.interrupt))
  expander.upstream <> upstream
  expander.control <> control
  interrupt <> expander.interrupt
  val quiesce = IO(Input(Bool()))
  val quiet = IO(Output(Bool()))
  expander.quiesce := quiesce
  quiet := expander.quiet
  for ((inner, outer) <- expander.downstream.get.zip(downstream)) {
    val adapter = Module(new ControllerAdapter(p.memory))
    inner.drives(adapter.io.upstream)
    outer.drivenBy(adapter.io.controller)
  }
}
