// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.Axi4Params
import chisel3.util._

/** Sizes of a flat memory mode controller (Memstrata §3.1).
  *
  * @param memory      AXI4 ports of the host, near and far
  * @param ratio       far lines per near line, R
  * @param addressBits bits of a device byte address
  * @param channels    memory channels of the device; this controller serves one. The address bits just above the line
  *                    offset select the channel, and line numbers leave them out
  * @param requests    most lines outstanding to the host, and sets in flight; enough to cover near's latency at one
  *                    request per cycle, and far's at the rate of its misses
  * @param drain       cycles without a response after which a memory is assumed to have forgotten the requests from
  *                    before a warm reset
  * @param events      emit an event with the outcome for each access
  * @param clockGates  registers of lines that move seldom have no clock between ([[anemone.bus.ClockGate]]): for
  *                    simulators and ASICs
  */
case class FlatParams(
    memory: Axi4Params = Axi4Params(),
    ratio: Int = 1,
    addressBits: Int = 34,
    channels: Int = 1,
    requests: Int = 64,
    drain: Int = 1024,
    events: Boolean = false,
    clockGates: Boolean = false
) {
  require(memory.dataBits == 512, s"memory.dataBits: a line of 64 B a beat, 512, not ${memory.dataBits}")
  require(ratio >= 1 && ratio <= 4, s"ratio: 1 to 4, not $ratio")
  require(
    addressBits >= 12 && addressBits <= memory.addressBits - 2,
    s"addressBits: 12 to two less than the ports' ${memory.addressBits}, as near's or far's lines may be so far behind " +
      s"the device's, not $addressBits"
  )
  require(Seq(1, 2, 4).contains(channels), s"channels: 1, 2 or 4, not $channels")
  require(isPow2(requests) && requests >= 4 && requests <= 128, s"requests: a power of two, 4 to 128, not $requests")
  require(drain >= 1, s"drain: 1 or more, not $drain")
  require(
    (1 << memory.idBits) >= requests,
    s"memory.idBits: an id for each of ${requests} sets in flight, not ${memory.idBits}"
  )

  /** MSHRs, which is sets in flight. One per request, so a request never waits for an MSHR that a later request holds.
    */
  val mshrs: Int = requests
  val requestBits: Int = log2Ceil(requests)
  val mshrBits: Int = log2Ceil(mshrs)

  val channelBits: Int = log2Ceil(channels)

  /** Bits of a line number within the channel: physical, near or far. */
  val lineBits: Int = addressBits - 6 - channelBits

  /** Bits of a near line number: dedicated lines follow those of the sets. */
  val nearIndexBits: Int = lineBits + 1

  /** Bits of a tag, which tells the lines of a set apart. */
  val tagBits: Int = log2Ceil(ratio + 1)

  /** Bits of the count of consecutive misses to a line. */
  val countBits: Int = 8

  /** Sideband bits that near stores with a line, in the layout of [[SidebandCode]]. */
  val sidebandBits: Int = new SidebandCode(this).bits
}
