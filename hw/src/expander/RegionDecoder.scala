// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import chisel3._
import chisel3.util._

/** Where the telemetry windows are. The bits of a base below the window's size are taken as zero. */
class Windows(p: ExpanderParams) extends Bundle {
  val effect = new Window(p)
  val snapshot = new Window(p)
  val acknowledge = new Window(p)
}

/** One window of the telemetry region in the address space of the memory ports. */
class Window(p: ExpanderParams) extends Bundle {
  val enable = Bool()
  val base = UInt(p.memory.addressBits.W)
}

/** What an address is to the region. */
class RegionMatch extends Bundle {

  /** In a window. */
  val hit = Bool()

  /** A read there applies the effect. */
  val effect = Bool()

  /** A write there acknowledges a line. */
  val acknowledge = Bool()
}

/** Tells telemetry from memory. Where windows overlap, the one that harms less is: the snapshot before the acknowledge, that
  * before the effect. A read in the acknowledge window is a snapshot, so that a host which reads there unasked does no
  * harm.
  *
  * Combinational: for an address that comes, before it is held in a register.
  */
class RegionDecoder(p: ExpanderParams) extends Module {
  val io = IO(new Bundle {
    val address = Input(UInt(p.memory.addressBits.W))
    val windows = Input(new Windows(p))
    val place = Output(new RegionMatch)
  })
  private val windowBits = log2Ceil(p.windowBytes)
  private def in(window: Window): Bool =
    window.enable && (io.address >> windowBits) === (window.base >> windowBits)
  private val (effect, snapshot, acknowledge) =
    (in(io.windows.effect), in(io.windows.snapshot), in(io.windows.acknowledge))
  io.place.hit := effect || snapshot || acknowledge
  io.place.effect := !snapshot && !acknowledge
  io.place.acknowledge := acknowledge && !snapshot
}
