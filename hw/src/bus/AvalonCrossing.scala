// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._

/** Clock crossing of an Avalon-MM port from the host's clock to the device's. The clocks may be asynchronous; the
  * host's is at most eight times as fast as the device's. One transfer at a time: control traffic is slow, and a
  * handshake with one level per direction is easy to verify.
  *
  * Each side has its own reset, which may come at any time and lasts two cycles or more. A transfer that the host still
  * requests after a reset of either side is carried out: once if no reset came in between, and once more if one did.
  *
  * Latency of a transfer: about six cycles of the host's clock, five of the device's and the device's own latency;
  * after a reset, [[CrossingHost.holdCycles]] more.
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
