// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.flat.FlatParams
import anemone.nemo.NemoParams
import org.scalatest.flatspec.AnyFlatSpec

class ExpanderParamsSpec extends AnyFlatSpec {
  private val nemo = NemoParams(outcomes = true)
  private val flat = FlatParams(addressBits = nemo.addressBits, channels = nemo.channels, events = true)

  behavior of "ExpanderParams"
  it should "have flat memory mode on all channels or on none" in {
    assert(ExpanderParams(nemo, flat = Some(flat)).flatChannels == nemo.channels)
    assert(ExpanderParams().flatChannels == 0)
  }

  it should "say in which size flat memory mode and the engine differ" in {
    def wrong(name: String, engine: NemoParams = nemo, tiers: Option[FlatParams] = Some(flat)): Unit = {
      val error = intercept[IllegalArgumentException](ExpanderParams(engine, flat = tiers))
      assert(error.getMessage.contains(s"$name: "))
    }
    wrong("nemo.outcomes", tiers = None)
    wrong("nemo.outcomes", nemo.copy(outcomes = false))
    wrong("flat.memory", tiers = Some(flat.copy(memory = flat.memory.copy(idBits = 8))))
    wrong("flat.channels", tiers = Some(flat.copy(channels = 1)))
    wrong("flat.addressBits", tiers = Some(flat.copy(addressBits = 32)))
    wrong("flat.events", tiers = Some(flat.copy(events = false)))
  }
}
