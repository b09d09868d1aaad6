// SPDX-License-Identifier: Apache-2.0
package anemone.board

import anemone.bus.{AvalonBridge, AvalonCrossing, AvalonPort, Axi4Pins, Synchronizer}
import anemone.expander.{ExpanderParams, InterruptPins, MemoryExpander}
import chisel3._

/** The part of Anemone on a board: a [[MemoryExpander]] with a [[anemone.expander.ControllerAdapter]] per memory, and
  * the registers on an Avalon-MM port with its own clock. A board's wrapper only adds pin names.
  *
  * In flat memory mode there is one channel: near memory is `downstream(0)`, far memory `downstream(1)`. The slices of
  * the CXL IP are its hosts, so its ids are one bit longer than theirs.
  *
  * `clock` is the clock of the memory path. `reset` and `csrReset` may be asynchronous, must last four cycles of their
  * clock or more, and take effect two cycles later. A reset of the memory path resets the registers; a reset of the
  * control port does not. Interrupt messages are in the memory path's clock.
  */
class BoardExpander(p: ExpanderParams) extends Module {
  require(p.adapter, "adapter: each memory of a board needs one")
  private val channels = p.nemo.channels
  val upstream = IO(Vec(p.hosts * channels, Flipped(new Axi4Pins(p.hostPort))))
  val downstream = IO(Vec(if (p.flat.isDefined) 2 else channels, new Axi4Pins(p.memoryPort)))
  val csrClock = IO(Input(Clock()))
  val csrReset = IO(Input(Bool()))
  val csr = IO(Flipped(new AvalonPort(p.controlAddressBits, 64)))
  val interrupt = IO(new InterruptPins(1 << BoardExpander.vectorBits))

  /** The memories are empty: like `reset`, and with it. */
  val powerOn = p.flat.map(_ => IO(Input(Bool())))

  /** `quiesce`: accept no request. `quiet`: nothing is in flight, so `reset` loses nothing. In the memory path's clock.
    */
  val quiesce = IO(Input(Bool()))
  val quiet = IO(Output(Bool()))

  private val synchronised = Synchronizer(reset.asBool, start = true)
  private val empty = powerOn.map(Synchronizer(_, start = true))
  withReset(synchronised) {
    val expander = Module(new MemoryExpander(p))
    expander.upstream <> upstream
    for ((pin, level) <- expander.powerOn.zip(empty)) pin := level
    expander.quiesce := quiesce
    quiet := expander.quiet
    interrupt.valid := expander.interrupt.valid
    interrupt.vector := expander.interrupt.vector
    expander.interrupt.ready := interrupt.ready
    downstream <> expander.downstream.get

    val bridge = Module(new AvalonBridge(p.controlAddressBits, 64))
    expander.control.drivenBy(bridge.io.axi)
    val crossing = Module(new AvalonCrossing(p.controlAddressBits, 64))
    crossing.deviceClock := clock
    crossing.deviceReset := synchronised
    crossing.device <> bridge.io.avalon
    crossing.hostClock := csrClock
    crossing.hostReset := withClock(csrClock)(Synchronizer(csrReset, start = true))
    crossing.host <> csr
  }
}

object BoardExpander {

  /** Bits of an interrupt vector in every build, because the Verilog wrapper does not have our parameters. */
  val vectorBits: Int = 6
}
