// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.nemo.LineRead
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

/** Tells telemetry lines from memory. A window is
  *
  * {{{
  * | pipeline | line | channel | byte of the line: 6 bits |
  * }}}
  *
  * so the lines of a counter's states interleave over the channels like memory does. Where windows overlap, the one that
  * harms less is: the snapshot before the acknowledge, that before the effect. A read in the acknowledge window is a
  * snapshot, so that a host which reads there unasked does no harm.
  *
  * Combinational.
  */
class RegionDecoder(p: ExpanderParams) extends Module {
  val io = IO(new Bundle {
    val address = Input(UInt(p.memory.addressBits.W))
    val windows = Input(new Windows(p))

    /** The channel of this port. */
    val channel = Input(UInt(p.nemo.channelBits.W))

    /** The address is in a window. */
    val hit = Output(Bool())

    /** The line it names, if it is not `refused`. */
    val target = Output(new LineRead(p.nemo))

    /** A write of the whole line takes it away from the counters; others in a window are dropped. */
    val acknowledges = Output(Bool())

    /** In a window, and names no line of this channel: another channel's, or of a pipeline that is not built. */
    val refused = Output(Bool())
  })
  private val windowBits = log2Ceil(p.windowBytes)
  private val snapshot = RegionDecoder.in(io.windows.snapshot, io.address, p)
  io.hit := RegionDecoder.hit(io.windows, io.address, p)

  private val channels = log2Ceil(p.nemo.channels)
  private val line = (io.address >> 6)(windowBits - 7, 0)
  private val pipeline = (line >> (channels + p.nemo.lineBits)).pad(p.nemo.pipelineBits)
  private val acknowledge = RegionDecoder.in(io.windows.acknowledge, io.address, p)
  io.acknowledges := acknowledge && !snapshot
  io.target.effect := !snapshot && !acknowledge
  io.target.line := line >> channels
  io.target.pipeline := pipeline
  private val otherChannel = if (channels == 0) false.B else line(channels - 1, 0) =/= io.channel
  io.refused := otherChannel || pipeline >= p.nemo.pipelines.U
}

object RegionDecoder {
  private def in(window: Window, address: UInt, p: ExpanderParams): Bool = {
    val windowBits = log2Ceil(p.windowBytes)
    window.enable && (address >> windowBits) === (window.base >> windowBits)
  }

  /** An address is in a window. */
  def hit(windows: Windows, address: UInt, p: ExpanderParams): Bool =
    Seq(windows.snapshot, windows.acknowledge, windows.effect).map(in(_, address, p)).reduce(_ || _)
}
