// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

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
      "wordBytes" -> (() => NemoParams(wordBytes = 3)),
      "lineWords" -> (() => NemoParams(lineWords = 1))
    )
    for ((name, make) <- wrong) {
      val error = intercept[IllegalArgumentException](make())
      assert(error.getMessage.contains(name))
    }
  }

  it should "promise what the contract says" in {
    assert(TelemetryEngine.eventLatency <= 9)
    assert(TelemetryEngine.readLatency <= 9)
  }
}
