// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{Axi4Pins, Axi4Port, FaultReport, Injection}
import anemone.expander.registers.{FlatInputs, FlatOutputs}
import anemone.flat.{FlatMemory, FlatParams, SwapPolicy}
import anemone.nemo.MemoryEvent
import chisel3._
import chisel3.util._

/** Near and far memory of one channel. */
class TierPins(flat: FlatParams) extends Bundle {
  val near = new Axi4Pins(flat.memory)

  /** Sideband of near's write data and read data. */
  val near_wsideband = Output(UInt(flat.sidebandBits.W))
  val near_rsideband = Input(UInt(flat.sidebandBits.W))
  val far = new Axi4Pins(flat.memory)
}

/** One channel's memory in flat memory mode: a [[FlatMemory]] that starts when software starts it, but not with sizes
  * for which the memories are too small, where their size is known ([[ExpanderParams.tierLines]]).
  *
  * Until then requests wait. The line layout that software has set is sampled at the start and fixed until the next
  * reset. After a warm reset it must be the same again, because memory's contents depend on it. The policy applies as
  * soon as it is set.
  *
  * An event is issued when the near hit or miss of its access is decided. Decisions are in acceptance order, and so are
  * the events. No access is answered before its decision, so a telemetry read that follows a response finds the event
  * counted.
  */
class TieredMemory(p: ExpanderParams, flat: FlatParams) extends Module {
  val io = IO(new Bundle {
    val powerOn = Input(Bool())
    val host = Flipped(new Axi4Port(p.memory))
    val tiers = new TierPins(flat)
    val channel = Input(UInt(flat.channelBits.W))
    val settings = Input(new FlatOutputs)
    val readback = Output(new FlatInputs)
    val event = Valid(new MemoryEvent(p.nemo))

    /** Accept no request. */
    val hold = Input(Bool())
    val stray = Output(Bool())
    val faults = Output(Vec(FlatMemory.memories.length, new FaultReport(p.memory.idBits, flat.nearIndexBits)))
    val inject = Flipped(Valid(new Injection))

    /** `quiesce`: accept no request any more. `quiet`: no swap is in flight either. */
    val quiesce = Input(Bool())
    val quiet = Output(Bool())
  })
  private val started = RegInit(false.B)
  private val fits = WireInit(true.B)
  // With the check of the sizes, which takes a cycle.
  private val start =
    if (p.tierLines.isEmpty) io.settings.control.start else RegNext(io.settings.control.start, false.B)
  private val starts = start && io.settings.nearLines.lines =/= 0.U && fits
  started := started || starts

  private val memory = withReset(reset.asBool || !started)(Module(new FlatMemory(flat)))

  // Asserted together with the controller's reset, which lasts from power-up until the first start.
  private val empty = Reg(Bool())
  empty := io.powerOn || (empty && !started)
  memory.powerOn := empty && !started
  memory.channel := io.channel
  memory.host.drivenBy(io.host)
  // In reset the controller would accept requests and forget them, so the handshakes are gated.
  for (
    (valid, ready, from) <- Seq(
      (memory.host.arvalid, memory.host.arready, io.host.ar),
      (memory.host.awvalid, memory.host.awready, io.host.aw),
      (memory.host.wvalid, memory.host.wready, io.host.w)
    )
  ) {
    valid := from.valid && started
    from.ready := ready && started
  }
  io.tiers.near <> memory.near
  io.tiers.near_wsideband := memory.near_wsideband
  memory.near_rsideband := io.tiers.near_rsideband
  io.tiers.far <> memory.far

  // A value past the device is clamped to the device's end, which bounds the same range.
  private val lineCount = BigInt(1) << flat.lineBits
  private def lines(value: UInt): UInt = Mux(value >= lineCount.U, lineCount.U, value)
  private val requested = Wire(chiselTypeOf(memory.config))
  requested.nearLines := lines(io.settings.nearLines.lines)
  requested.dedicatedStart := lines(io.settings.dedicatedStart.page << (6 - flat.channelBits))
  requested.dedicatedEnd := lines(io.settings.dedicatedEnd.page << (6 - flat.channelBits))
  for ((nearLines, farLines) <- p.tierLines) {
    val (start, end) = (requested.dedicatedStart, requested.dedicatedEnd)
    val dedicated = Mux(end > start, end - start, 0.U)
    fits := RegNext(requested.nearLines +& dedicated <= nearLines.U && requested.nearLines * flat.ratio.U <= farLines.U)
  }
  requested.policy := io.settings.policy.policy
  private val n = io.settings.policy.n
  private val mostOfLine = (1 << flat.countBits) - 1
  requested.n := Mux(n === 0.U, 1.U, Mux(requested.policy === SwapPolicy.nth.U && n > mostOfLine.U, mostOfLine.U, n))
  memory.config := RegEnable(requested, !started)
  memory.config.policy := requested.policy
  memory.config.n := requested.n

  memory.hold.get := io.hold
  private val event = memory.event.get.bits
  io.event.valid := memory.event.get.valid
  io.event.bits.address := event.access.address
  io.event.bits.write := event.access.write
  io.event.bits.near.foreach(_ := Cat(event.miss, event.hit))

  io.readback.status.started := started
  io.readback.status.ready := memory.initialised
  memory.inject := io.inject
  io.faults := memory.faults
  io.stray := memory.stray
  memory.quiesce := io.quiesce
  io.quiet := memory.quiet || !started
  memory.rearm := io.settings.control.rearm
  memory.repair := io.settings.control.repair
  io.readback.status.repairing := memory.untrusted.repairing
  io.readback.untrustedSet.valid := memory.untrusted.valid
  io.readback.untrustedSet.set := memory.untrusted.set

  // Each counter has a register of the same name.
  for ((name, count) <- memory.counters.elements) io.readback.elements(name) := count
}
