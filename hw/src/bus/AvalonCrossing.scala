// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._

/** An Avalon-MM port from the host's clock to the device's, which need not know of each other; the host's is not faster
  * than eight times the device's. One transfer at a time: control traffic is slow, and a handshake with one level for
  * each direction is easily seen to be right.
  *
  * Each side has a reset of its own, of two cycles or more, at any time. A transfer that the host still asks for after
  * the reset of either side is made: once, when no reset came between, and once more when one did.
  *
  * Latency of a transfer: about six cycles of the host's clock and five of the device's, and what the device takes;
  * after a reset [[CrossingHost.holdCycles]] more.
  */
class AvalonCrossing(addressBits: Int, dataBits: Int) extends RawModule {
  val hostClock = IO(Input(Clock()))
  val hostReset = IO(Input(Bool()))
  val deviceClock = IO(Input(Clock()))
  val deviceReset = IO(Input(Bool()))
  val host = IO(Flipped(new AvalonPort(addressBits, dataBits)))
  val device = IO(new AvalonPort(addressBits, dataBits))

  private val hostSide = withClockAndReset(hostClock, hostReset)(Module(new CrossingHost(addressBits, dataBits)))
  private val deviceSide =
    withClockAndReset(deviceClock, deviceReset)(Module(new CrossingDevice(addressBits, dataBits)))
  hostSide.io.avalon <> host
  hostSide.io.link <> deviceSide.io.link
  device <> deviceSide.io.avalon
}
