// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import chisel3._
import chisel3.util._

/** Decodes an address in a telemetry window to a line. Combinational. The address is
  *
  * {{{   | pipeline | line | channel | byte of the line: 6 bits | }}}
  *
  * so the lines of a counter's states are interleaved over the channels as memory is.
  */
class LineDecoder(p: ExpanderParams) extends Module {
  val io = IO(new Bundle {
    val address = Input(UInt(p.memory.addressBits.W))

    /** The channel of this port. */
    val channel = Input(UInt(p.nemo.channelBits.W))
    val pipeline = Output(UInt(p.nemo.pipelineBits.W))
    val line = Output(UInt(p.nemo.lineBits.W))

    /** No line of this channel: it is another channel's, or of a pipeline that is not built. */
    val refused = Output(Bool())
  })
  private val channels = log2Ceil(p.nemo.channels)
  private val lineNumber = (io.address >> 6)(log2Ceil(p.windowBytes) - 7, 0)
  private val pipeline = (lineNumber >> (channels + p.nemo.lineBits)).pad(p.nemo.pipelineBits)
  io.line := lineNumber >> channels
  io.pipeline := pipeline
  private val otherChannel = if (channels == 0) false.B else lineNumber(channels - 1, 0) =/= io.channel
  io.refused := otherChannel || pipeline >= p.nemo.pipelines.U
}
