// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.Axi4Params
import anemone.nemo.NemoParams
import chisel3._
import chiseltest._
import chiseltest.formal._
import org.scalatest.flatspec.AnyFlatSpec

/** A [[RegionDecoder]] and a [[LineDecoder]] against the address map of docs/expander.md, in that page's arithmetic.
  *
  * A decoded line is checked against its offset. That every line is found is checked with one of the solver's choice.
  */
class AddressMap(p: ExpanderParams) extends Module {
  private val n = p.nemo
  private val decoder = Module(new RegionDecoder(p))
  private val lines = Module(new LineDecoder(p))
  val io = IO(new Bundle {
    val address = Input(UInt(p.memory.addressBits.W))
    val windows = Input(new Windows(p))
    val channel = Input(UInt(n.channelBits.W))
    val pipeline = Input(UInt(n.pipelineBits.W))
    val line = Input(UInt(n.lineBits.W))
  })
  assume(io.channel < n.channels.U)
  decoder.io.address := io.address
  decoder.io.windows := io.windows
  lines.io.address := io.address
  lines.io.channel := io.channel
  private val region = decoder.io.region

  private def start(window: Window): UInt = window.base - window.base % p.windowBytes.U
  private def covers(window: Window): Bool =
    window.enable && io.address >= start(window) && io.address < start(window) +& p.windowBytes.U
  private val snapshot = covers(io.windows.snapshot)
  private val acknowledge = covers(io.windows.acknowledge)
  private val hit = snapshot || acknowledge || covers(io.windows.effect)
  private val offset = io.address - Mux(
    snapshot,
    start(io.windows.snapshot),
    Mux(acknowledge, start(io.windows.acknowledge), start(io.windows.effect))
  )
  private def holds(pipeline: UInt, line: UInt): Bool = {
    val begin = ((pipeline * n.lines.U +& line) * n.channels.U +& io.channel) * 64.U
    pipeline < n.pipelines.U && offset >= begin && offset < begin +& 64.U
  }

  assert(region.hit === hit, "a window is not where it should be")
  when(hit && !lines.io.refused) {
    assert(holds(lines.io.pipeline, lines.io.line), "another line was named")
    assert(region.effect === (!snapshot && !acknowledge), "the wrong window")
    assert(region.acknowledge === (acknowledge && !snapshot), "the wrong window")
  }
  when(hit && holds(io.pipeline, io.line)) {
    assert(!lines.io.refused, "a line was refused")
    assert(lines.io.pipeline === io.pipeline && lines.io.line === io.line, "a line was not found")
  }
}

class RegionDecoderProof extends AnyFlatSpec with ChiselScalatestTester with Formal {
  private val configurations = Seq(
    ExpanderParams(),
    ExpanderParams(NemoParams(pipelines = 1, channels = 1, states = 64, table = 16)),
    ExpanderParams(NemoParams(pipelines = 3, channels = 2, states = 256, table = 16)),
    ExpanderParams(NemoParams(pipelines = 5, channels = 4, states = 16, table = 16)),
    ExpanderParams(NemoParams(pipelines = 32, channels = 4, states = 1024, table = 16)),
    // The window is as large as the address space.
    ExpanderParams(
      NemoParams(pipelines = 7, channels = 1, states = 64, table = 16, addressBits = 12),
      Axi4Params(addressBits = 12)
    )
  )

  behavior of "RegionDecoder"
  for (p <- configurations) {
    val n = p.nemo
    it should s"be the address map of ${n.pipelines} x ${n.lines} lines on ${n.channels} channels, proved" in {
      verify(new AddressMap(p), Seq(BoundedCheck(1)))
    }
  }
}
