// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.nemo.NemoParams
import chisel3._
import chiseltest._
import org.scalatest.flatspec.AnyFlatSpec
import scala.util.Random

/** A [[RegionDecoder]] and a [[LineDecoder]] of the same address. */
class Decoders(p: ExpanderParams) extends Module {
  private val (region, line) = (Module(new RegionDecoder(p)), Module(new LineDecoder(p)))
  val io = IO(new Bundle {
    val address = Input(UInt(p.memory.addressBits.W))
    val windows = Input(new Windows(p))
    val channel = Input(UInt(p.nemo.channelBits.W))
    val region = Output(new RegionMatch)
    val pipeline = Output(UInt(p.nemo.pipelineBits.W))
    val line = Output(UInt(p.nemo.lineBits.W))
    val refused = Output(Bool())
  })
  region.io.address := io.address
  region.io.windows := io.windows
  io.region := region.io.region
  line.io.address := io.address
  line.io.channel := io.channel
  io.pipeline := line.io.pipeline
  io.line := line.io.line
  io.refused := line.io.refused
}

class RegionDecoderSpec extends AnyFlatSpec with ChiselScalatestTester {
  private val configurations = Seq(
    ExpanderParams(NemoParams(pipelines = 2, channels = 2, states = 256, table = 16)),
    ExpanderParams(NemoParams(pipelines = 3, channels = 4, states = 128, table = 16)),
    ExpanderParams(NemoParams(pipelines = 1, channels = 1, states = 64, table = 16)),
    ExpanderParams()
  )

  behavior of "RegionDecoder"
  for (p <- configurations) {
    val n = p.nemo
    it should s"find every line of ${n.pipelines} pipelines on ${n.channels} channels, and nothing else" in {
      test(new Decoders(p)) { dut =>
        val random = new Random(n.pipelines)
        val size = p.windowBytes
        val (effect, snapshot) = (size * 5, size * (if (n.channels == 4) 5 else 9))
        val acknowledge = if (n.channels == 2) snapshot else size * 7
        dut.io.windows.effect.base.poke(effect + 128)
        dut.io.windows.snapshot.base.poke(snapshot)
        dut.io.windows.acknowledge.base.poke(acknowledge + 64)
        for (step <- 0 until 3000) {
          val (effectOn, snapshotOn) = (random.nextInt(4) > 0, random.nextInt(4) > 0)
          val acknowledgeOn = random.nextInt(4) > 0
          val channel = random.nextInt(n.channels)
          val base = Seq(effect, snapshot, acknowledge)(random.nextInt(3))
          val offset = random.nextInt(6) match {
            case 0 => size + random.nextInt(4096)
            case 1 => BigInt(-1) - random.nextInt(4096)
            case 2 => size - 1 - random.nextInt(128)
            case _ => BigInt(random.nextInt(size.toInt))
          }
          val address = base + offset
          dut.io.windows.effect.enable.poke(effectOn)
          dut.io.windows.snapshot.enable.poke(snapshotOn)
          dut.io.windows.acknowledge.enable.poke(acknowledgeOn)
          dut.io.channel.poke(channel)
          dut.io.address.poke(address)

          def inside(on: Boolean, start: BigInt) = on && address >= start && address < start + size
          val inSnapshot = inside(snapshotOn, snapshot)
          val inAcknowledge = inside(acknowledgeOn, acknowledge)
          val hit = inSnapshot || inAcknowledge || inside(effectOn, effect)
          dut.io.region.hit.expect(hit, s"step $step, address $address")
          if (hit) {
            val start = if (inSnapshot) snapshot else if (inAcknowledge) acknowledge else effect
            val line = (address - start) / 64
            val pipeline = line / n.channels / n.lines
            val refused = line % n.channels != channel || pipeline >= n.pipelines
            dut.io.refused.expect(refused)
            if (!refused) {
              dut.io.pipeline.expect(pipeline)
              dut.io.line.expect(line / n.channels % n.lines)
              dut.io.region.effect.expect(!inSnapshot && !inAcknowledge)
              dut.io.region.acknowledge.expect(inAcknowledge && !inSnapshot)
            }
          }
        }
      }
    }
  }
}
