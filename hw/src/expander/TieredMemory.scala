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

  /** Beside the data of near's writes and reads. */
  val near_wsideband = Output(UInt(flat.sidebandBits.W))
  val near_rsideband = Input(UInt(flat.sidebandBits.W))
  val far = new Axi4Pins(flat.memory)
}

/** One channel's memory in flat memory mode: a [[FlatMemory]] that starts when software says so.
  *
  * Until then requests wait. Where lines are, as software has set it, is taken at the start and stays until the next
  * reset; behind a warm reset it has to be what it was, for memory holds what was made of it. The policy is taken as it is
  * set.
  *
  * An event is given when it is decided whether near memory had the line. Decisions are taken in the order of acceptance,
  * so events keep it; and an access is answered no earlier, so a telemetry read behind an answer finds the event counted.
  */
class TieredMemory(p: ExpanderParams, flat: FlatParams) extends Module {
  val io = IO(new Bundle {
    val powerOn = Input(Bool())
    val host = Flipped(new Axi4Port(p.memory))
    val tiers = new TierPins(flat)
    val channel = Input(UInt(flat.channelBits.W))
    val set = Input(new FlatOutputs)
    val shown = Output(new FlatInputs)
    val event = Valid(new MemoryEvent(p.nemo))

    /** No request is taken. */
    val hold = Input(Bool())
    val stray = Output(Bool())
    val faults = Output(Vec(FlatMemory.memories.length, new FaultReport(p.memory.idBits, flat.placeBits)))
    val inject = Flipped(Valid(new Injection))

    /** None will be; `quiet`: no swap is under way either. */
    val quiesce = Input(Bool())
    val quiet = Output(Bool())
  })
  private val started = RegInit(false.B)
  private val starts = io.set.control.start && io.set.nearLines.lines =/= 0.U
  started := started || starts

  private val memory = withReset(reset.asBool || !started)(Module(new FlatMemory(flat)))

  // Held together with the controller's reset, which lasts until the first start behind power-up.
  private val empty = Reg(Bool())
  empty := io.powerOn || (empty && !started)
  memory.powerOn := empty && !started
  memory.channel := io.channel
  memory.host.drivenBy(io.host)
  // In its reset it would take what it is offered, and forget it.
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

  // What is past the device bounds the same as the device's end.
  private val most = BigInt(1) << flat.lineBits
  private def lines(value: UInt): UInt = Mux(value >= most.U, most.U, value)
  private val asked = Wire(chiselTypeOf(memory.config))
  asked.nearLines := lines(io.set.nearLines.lines)
  asked.dedicatedStart := lines(io.set.dedicatedStart.page << (6 - flat.channelBits))
  asked.dedicatedEnd := lines(io.set.dedicatedEnd.page << (6 - flat.channelBits))
  asked.policy := io.set.policy.policy
  private val n = io.set.policy.n
  private val mostOfLine = (1 << flat.countBits) - 1
  asked.n := Mux(n === 0.U, 1.U, Mux(asked.policy === SwapPolicy.nth.U && n > mostOfLine.U, mostOfLine.U, n))
  memory.config := RegEnable(asked, !started)
  memory.config.policy := asked.policy
  memory.config.n := asked.n

  memory.hold.get := io.hold
  private val event = memory.event.get.bits
  io.event.valid := memory.event.get.valid
  io.event.bits.address := event.access.address
  io.event.bits.write := event.access.write
  io.event.bits.near.foreach(_ := Cat(event.miss, event.hit))

  io.shown.status.started := started
  io.shown.status.ready := memory.initialised
  memory.inject := io.inject
  io.faults := memory.faults
  io.stray := memory.stray
  memory.quiesce := io.quiesce
  io.quiet := memory.quiet || !started
  memory.rearm := io.set.control.rearm
  memory.repair := io.set.control.repair
  io.shown.status.repairing := memory.untrusted.repairing
  io.shown.untrustedSet.valid := memory.untrusted.valid
  io.shown.untrustedSet.set := memory.untrusted.set

  // A register for each count, of the same name.
  for ((name, count) <- memory.counters.elements) io.shown.elements(name) := count
}
