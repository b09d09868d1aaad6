// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.Axi4Params
import chisel3.util._

/** Sizes of a flat memory mode controller (Memstrata §3.1).
  *
  * @param memory      the AXI4 ports: the host's, near's and far's
  * @param ratio       far lines for each near line, R
  * @param addressBits bits of a device byte address
  * @param channels    memory channels of the device, of which this controller has one: the address bits above a line
  *                    choose, and lines are counted without them
  * @param requests    lines that the host may have asked for and not been answered, and sets in flight; covers near's
  *                    latency at a request a cycle, and far's at the rate of its misses
  * @param drain       cycles without an answer behind which a memory, asked before a warm reset, is taken to have forgotten
  * @param events      each access is told, with its outcome, to whoever watches
  */
case class FlatParams(
    memory: Axi4Params = Axi4Params(),
    ratio: Int = 1,
    addressBits: Int = 34,
    channels: Int = 1,
    requests: Int = 64,
    drain: Int = 1024,
    events: Boolean = false
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

  /** Sets in flight. One for each request: a request never waits for a set that another request behind it holds. */
  val locks: Int = requests
  val requestBits: Int = log2Ceil(requests)
  val lockBits: Int = log2Ceil(locks)

  val channelBits: Int = log2Ceil(channels)

  /** Bits of a line's number on its channel, physical, near or far. */
  val lineBits: Int = addressBits - 6 - channelBits

  /** Bits of a near line's number: dedicated ones lie behind those of the sets. */
  val placeBits: Int = lineBits + 1

  /** Bits of a line's tag, which tells the lines of a set apart. */
  val tagBits: Int = log2Ceil(ratio + 1)

  /** Bits of the count of a line's misses in a row. */
  val countBits: Int = 8

  /** Bits that near stores beside a line, as [[SidebandCode]] has them. */
  val sidebandBits: Int = new SidebandCode(this).bits
}
