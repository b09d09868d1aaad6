// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{FaultReport, OneHot}
import anemone.expander.registers.{FaultSetRegister, FirstFaultRegister}
import chisel3._
import chisel3.util._

/** A memory that reports faults: its number in the register field `fault_memory`, and its channel. */
case class FaultSource(memory: Int, channel: Int)

/** Counts the faults of the protected memories and records the first one. A recorded corrected fault is replaced by the
  * first uncorrected one.
  *
  * Latency: five cycles from a report to `first`, four to the counts. Of several faults in one cycle one is recorded,
  * uncorrected ones first. The counts saturate.
  *
  * @param countBits bits of a count: 64, or fewer to test saturation
  */
class FaultLog(sources: Seq[FaultSource], idBits: Int, lineBits: Int, countBits: Int = 64) extends Module {
  require(sources.nonEmpty, "sources: one or more")
  val io = IO(new Bundle {
    val reports = Input(Vec(sources.length, new FaultReport(idBits, lineBits)))

    /** Forget the recorded fault. */
    val rearm = Input(Bool())
    val corrected = Output(UInt(countBits.W))
    val uncorrected = Output(UInt(countBits.W))
    val first = Output(new FirstFaultRegister)
    val set = Output(new FaultSetRegister)

    /** A fault is reported in this cycle. */
    val anyCorrected = Output(Bool())
    val anyUncorrected = Output(Bool())
  })
  private val reports = RegNext(io.reports)
  private def afterReset(flags: Seq[Bool]): UInt = Mux(RegNext(!reset.asBool, false.B), VecInit(flags).asUInt, 0.U)
  private val corrected = afterReset(reports.map(_.fault.corrected))
  private val uncorrected = afterReset(reports.map(_.fault.uncorrected))
  private def count(flags: UInt): UInt = {
    val total = RegInit(0.U(countBits.W))
    val more = RegInit(0.U(log2Ceil(sources.length + 1).W))
    more := PopCount(flags)
    val sum = total +& more
    total := Mux(sum(countBits), Fill(countBits, 1.U), sum)
    total
  }
  private def delayed(flags: UInt): UInt = {
    val held = RegInit(0.U(sources.length.W))
    held := flags
    held
  }
  private val (correctedDelayed, uncorrectedDelayed) = (delayed(corrected), delayed(uncorrected))
  private val foundDelayed = RegNext((corrected | uncorrected).orR, false.B)
  private val anyUncorrectedDelayed = RegNext(uncorrected.orR, false.B)
  private val candidates = delayed(Mux(anyUncorrectedDelayed, uncorrectedDelayed, correctedDelayed))
  io.corrected := count(correctedDelayed)
  io.uncorrected := count(uncorrectedDelayed)
  io.anyCorrected := corrected.orR
  io.anyUncorrected := uncorrected.orR

  private val found = ShiftRegister(foundDelayed, 2, false.B, true.B)
  private val isUncorrected = ShiftRegister(anyUncorrectedDelayed, 2)
  private val chosen = RegNext(OneHot.first(candidates, sources.length))
  private val report = Mux1H(chosen, ShiftRegister(reports, 3))
  private val first = RegInit(0.U.asTypeOf(new FirstFaultRegister))
  private val set = Reg(new FaultSetRegister)
  private val recorded = first.valid && !io.rearm
  when(io.rearm) { first.valid := false.B }
  when(found && (!recorded || (isUncorrected && !first.uncorrected))) {
    first.valid := true.B
    first.uncorrected := isUncorrected
    first.memory := Mux1H(chosen, sources.map(_.memory.U(8.W)))
    first.channel := Mux1H(chosen, sources.map(_.channel.U(2.W)))
    first.idValid := report.id.valid
    first.id := report.id.bits
    first.setValid := report.line.valid
    set.line := report.line.bits
  }
  io.first := first
  io.set := set
}
