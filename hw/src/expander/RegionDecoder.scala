// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import chisel3._
import chisel3.util._

/** Locations of the telemetry windows. The bits of a base below the window size are treated as zero. */
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

/** How an address relates to the telemetry region. */
class RegionMatch extends Bundle {

  /** It is in a window. */
  val hit = Bool()

  /** A read of it applies the read effect. */
  val effect = Bool()

  /** A write to it acknowledges a line. */
  val acknowledge = Bool()
}

/** Separates telemetry from memory. Where windows overlap, the least harmful one wins: snapshot, then acknowledge, then
  * effect. A read in the acknowledge window is a snapshot, so a speculative read by the host does no harm.
  *
  * Combinational, before the register of the request.
  */
class RegionDecoder(p: ExpanderParams) extends Module {
  val io = IO(new Bundle {
    val address = Input(UInt(p.memory.addressBits.W))
    val windows = Input(new Windows(p))
    val region = Output(new RegionMatch)
  })
  private val windowBits = log2Ceil(p.windowBytes)
  private def in(window: Window): Bool =
    window.enable && (io.address >> windowBits) === (window.base >> windowBits)
  private val (effect, snapshot, acknowledge) =
    (in(io.windows.effect), in(io.windows.snapshot), in(io.windows.acknowledge))
  io.region.hit := effect || snapshot || acknowledge
  io.region.effect := !snapshot && !acknowledge
  io.region.acknowledge := acknowledge && !snapshot
}
