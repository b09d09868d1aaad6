// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import circt.stage.ChiselStage
import org.scalatest.flatspec.AnyFlatSpec

class NemoParamsSpec extends AnyFlatSpec {
  behavior of "NemoParams"

  it should "refuse sizes that are none, and say which" in {
    val wrong = Map(
      "pipelines" -> (() => NemoParams(pipelines = 0)),
      "channels" -> (() => NemoParams(channels = 3)),
      "states" -> (() => NemoParams(states = 1000)),
      "table" -> (() => NemoParams(table = 0)),
      "addressBits" -> (() => NemoParams(addressBits = 53)),
      "wordBits" -> (() => NemoParams(wordBits = 24)),
      "features.widths" -> (() => NemoParams(wordBits = 32)),
      "lineWords" -> (() => NemoParams(lineWords = 1))
    )
    for ((name, make) <- wrong) {
      val error = intercept[IllegalArgumentException](make())
      assert(error.getMessage.contains(name))
    }
  }

  it should "refuse features that are none, and say which" in {
    val wrong = Map(
      "ops" -> (() => Features(ops = Seq())),
      "ops: some of add" -> (() => Features(ops = Seq(UpdateOp.Set))),
      "widths" -> (() => Features(widths = Seq(8, 24))),
      "effects" -> (() => Features(effects = Seq(ReadEffect.Reset))),
      "operandSources" -> (() => Features(operandSources = Seq(OperandSource.Immediate, 3)))
    )
    for ((name, make) <- wrong) {
      val error = intercept[IllegalArgumentException](make())
      assert(error.getMessage.contains(name))
    }
  }

  it should "count width codes from 8 bits, whatever is built in" in {
    assert(NemoParams().widthCodes == Seq(0, 1, 2, 3))
    assert(NemoParams(features = Features(widths = Seq(64))).widthCodes == Seq(3))
    assert(NemoParams(features = Features(widths = Seq(64, 16))).widthCodes == Seq(1, 3))
  }

  it should "promise what the contract says" in {
    assert(TelemetryEngine.eventLatency(NemoParams()) <= 9)
    assert(TelemetryEngine.readLatency(NemoParams()) <= 9)
  }

  it should "make an engine of as few and as many address bits as it allows" in {
    for (bits <- Seq(8, 16, 52))
      ChiselStage.emitCHIRRTL(new TelemetryEngine(NemoParams(pipelines = 1, channels = 1, addressBits = bits)))
  }
}
