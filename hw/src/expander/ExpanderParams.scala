// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.Axi4Params
import anemone.flat.{FlatParams, SidebandRange}
import anemone.nemo.NemoParams
import chisel3.util._

/** Sizes of a memory expander: the telemetry engine, the memory ports, and the buffers for telemetry reads.
  *
  * @param nemo           the telemetry engine
  * @param memory         AXI4 ports of a channel, upstream and downstream
  * @param hosts          hosts that share each channel through a [[HostArbiter]], one port each: 1, 2 or 4
  * @param telemetryReads outstanding telemetry lines per channel; covers the latency of memory, which a line of the
  *                       same id has to wait for
  * @param readsInFlight  outstanding reads per channel, over all ids
  * @param writesInFlight outstanding writes to memory per channel, over all ids
  * @param regionWrites   outstanding writes into the telemetry region per channel
  * @param lateCycles     cycles without a response after which memory is assumed to have no more responses to requests
  *                       from before a reset
  * @param memoryRun      memory beats that may pass a telemetry line that is ready to go
  * @param adapter        put a [[ControllerAdapter]] above each memory, and a [[SidebandRange]] above near memory's
  * @param flat           put flat memory mode below each channel; without it a channel has a single memory
  * @param nearBits       with `adapter`, bits of a byte address of near memory, and of far memory
  */
case class ExpanderParams(
    nemo: NemoParams = NemoParams(),
    memory: Axi4Params = Axi4Params(),
    hosts: Int = 1,
    telemetryReads: Int = 64,
    readsInFlight: Int = 1024,
    writesInFlight: Int = 256,
    regionWrites: Int = 2,
    lateCycles: Int = 4096,
    memoryRun: Int = 16,
    adapter: Boolean = false,
    flat: Option[FlatParams] = None,
    nearBits: Int = 33
) {
  require(memory.dataBits == 512, s"memory.dataBits: a line of 64 B a beat, 512, not ${memory.dataBits}")
  require(Seq(1, 2, 4).contains(hosts), s"hosts: 1, 2 or 4, not $hosts")
  require(
    memory.addressBits >= nemo.addressBits,
    s"memory.addressBits: the device's ${nemo.addressBits} bits or more, not ${memory.addressBits}"
  )
  require(nemo.wordBits == 64, s"nemo.wordBits: words of a 64 B line, 64, not ${nemo.wordBits}")
  require(nemo.pipelines <= 32, s"nemo.pipelines: the registers have room for 32, not ${nemo.pipelines}")
  require(
    isPow2(telemetryReads) && telemetryReads >= 4 && telemetryReads <= 256,
    s"telemetryReads: a power of two, 4 to 256, not $telemetryReads"
  )
  require(
    isPow2(readsInFlight) && readsInFlight >= telemetryReads,
    s"readsInFlight: a power of two, telemetryReads or more, not $readsInFlight"
  )
  require(
    isPow2(writesInFlight) && writesInFlight >= 2,
    s"writesInFlight: a power of two, 2 or more, not $writesInFlight"
  )
  require(
    isPow2(regionWrites) && regionWrites >= 2 && regionWrites <= 16,
    s"regionWrites: a power of two, 2 to 16, not $regionWrites"
  )
  require(lateCycles >= 2, s"lateCycles: 2 or more, not $lateCycles")
  require(memoryRun >= 1 && memoryRun <= 1024, s"memoryRun: 1 to 1024 beats, not $memoryRun")

  require(
    nemo.outcomes == flat.isDefined,
    s"nemo.outcomes: events have one in flat memory mode, and only there, not ${nemo.outcomes}"
  )
  for (f <- flat) {
    require(f.memory == memory, s"flat.memory: the expander's $memory, not ${f.memory}")
    require(f.events, "flat.events: the engine watches the accesses")
    require(f.channels == nemo.channels, s"flat.channels: the engine's ${nemo.channels}, not ${f.channels}")
    require(
      f.addressBits == nemo.addressBits,
      s"flat.addressBits: the engine's ${nemo.addressBits}, not ${f.addressBits}"
    )
  }

  /** A host's port. If several share a channel, the host number takes the upper bits of the channel's ids. */
  val hostPort: Axi4Params = memory.copy(idBits = memory.idBits - log2Ceil(hosts))

  for (f <- flat if adapter) {
    require(
      nemo.channels == 1,
      s"channels: on a board in flat memory mode 1, as near and far are its two memories, not ${nemo.channels}"
    )
    require(
      nearBits >= 12 && nearBits <= memory.addressBits,
      s"nearBits: 12 to the ports' ${memory.addressBits}, not $nearBits"
    )
    require(
      hostPort.idBits >= f.mshrBits,
      s"hostPort.idBits: an id for each of ${f.mshrs} sets in flight, not ${hostPort.idBits}"
    )
  }

  /** A memory's port: requests keep their hosts' ids, but of flat memory mode have ids of its own. */
  val memoryPort: Axi4Params = if (flat.isDefined && adapter) hostPort else memory

  /** Most lines of near and of far memory, where their size is known. */
  val tierLines: Option[(BigInt, BigInt)] =
    Option.when(flat.isDefined && adapter)((SidebandRange.lines(nearBits), BigInt(1) << (nearBits - 6)))

  /** Bits of a near line number within a channel. */
  private val nearLineBits = flat.fold(1)(_.nearIndexBits)

  /** Bits of the register field `fault_set`: a near line, or an entry among all tables. */
  val faultLineBits: Int = nearLineBits.max(nemo.pipelineBits + nemo.keyBits)

  /** Channels with flat memory mode. */
  val flatChannels: Int = if (flat.isDefined) nemo.channels else 0

  /** Bytes of one telemetry window: the lines of all pipelines on all channels, a power of two, at least 4 KiB. */
  val windowBytes: BigInt =
    (BigInt(64) * (1 << log2Ceil(nemo.pipelines)) * nemo.lines * nemo.channels).max(4096)

  /** Address bits of the control port: 22, as on the board. */
  val controlAddressBits: Int = 22
  require(
    (1 << log2Ceil(nemo.pipelines)) * nemo.table <= (1 << 18),
    s"nemo.table: all tables together 2^18 entries, the room of the control port, not ${nemo.pipelines} x ${nemo.table}"
  )
}
