// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util._

/** One rule on all channels: a lane for each (NEMO §3.1, Figure 2), the status counters and the notify latch.
  *
  * Each channel has its own states and its own copy of the table, so channels share only the counters and the latch.
  */
class TelemetryPipeline(p: NemoParams) extends Module {
  val io = IO(new Bundle {

    /** The number of this pipeline. */
    val index = Input(UInt(p.pipelineBits.W))
    val slots = Input(Vec(p.channels, new Slot(p)))

    /** `slots`, [[MatchStage.latency]] - 1 cycles later: the last register of the delay is the pipeline's own, so that
      * nothing of it changes while its clock is stopped.
      */
    val delayedSlots = Input(Vec(p.channels, new Slot(p)))
    val rule = Input(new DecodedRule(p))

    /** `rule` applies from the next cycle's slots on; it must be stable for [[TelemetryLane.latency]] cycles. */
    val load = Input(Bool())
    val table = Flipped(Valid(new TableWrite(p)))

    /** By channel: injected bit flips of the entry's lowest bits. */
    val flips = Input(Vec(p.channels, UInt(2.W)))

    /** Zeroes states and counters and invalidates the table; a reset does so too. */
    val clear = Input(Bool())
    val rearm = Input(Bool())

    /** By channel: a line of this pipeline is poisoned. */
    val poisoned = Input(Vec(p.channels, Bool()))
    val contributions = Output(Vec(p.channels, new LineContribution(p)))
    val status = Output(new PipelineStatus(p))

    /** By channel: the key of an entry with bad parity. */
    val tableParityErrors = Output(Vec(p.channels, Valid(UInt(p.keyBits.W))))
  })
  import TelemetryPipeline._
  require(drain > TelemetryLane.latency(p))

  // A clear goes through table and lines in parallel, and lasts until the pipeline has drained.
  private val steps = Seq(p.table, p.lines, drain).max
  private val clearing = RegInit(true.B)
  private val step = RegInit(0.U(log2Ceil(steps).W))
  when(clearing) {
    step := step + 1.U
    clearing := step =/= (steps - 1).U
  }
  when(io.clear) {
    clearing := true.B
    step := 0.U
  }

  private val table = Wire(Valid(new TableWrite(p)))
  table := io.table
  table.valid := io.table.valid && io.table.bits.pipeline === io.index
  when(clearing) {
    table.valid := true.B
    table.bits.key := step
    table.bits.mapped := false.B
  }

  private val lanes = io.slots.zip(io.delayedSlots).zip(io.contributions).zip(io.flips).map {
    case (((slot, delayedSlot), contribution), flips) =>
      val lane = Module(new TelemetryLane(p))
      lane.io.pipeline := io.index
      lane.io.slot := slot
      lane.io.delayedSlot := Slot.delayed(delayedSlot, 1)
      lane.io.rule := io.rule
      lane.io.load := io.load
      lane.io.table := table
      lane.io.flips := Mux(clearing, 0.U, flips)
      lane.io.clear.valid := clearing
      lane.io.clear.bits := step
      contribution := lane.io.contribution
      lane.io
  }
  private val results = lanes.map(_.matched)
  private val hits = lanes.map(_.hit)
  for ((parityError, result) <- io.tableParityErrors.zip(results)) {
    parityError.valid := result.parityError
    parityError.bits := result.key
  }

  private def count(flags: Seq[Bool]): UInt = {
    val total = RegInit(0.U(PipelineStatus.counterBits.W))
    total := Mux(clearing, 0.U, total + RegNext(PopCount(flags), 0.U))
    total
  }
  io.status.matched := count(results.map(_.matched))
  io.status.unmapped := count(results.map(_.unmapped))
  io.status.outOfRange := count(results.map(_.outOfRange))
  io.status.notifications := (if (p.features.notifies) count(hits.map(_.valid)) else 0.U)
  io.status.parityErrors := count(io.poisoned)

  // A hit in the cycle of a re-arm is the next one latched, so none is lost.
  private val anyHit = hits.map(_.valid).reduce(_ || _)
  private val notified = RegInit(false.B)
  private val capture = anyHit && (!notified || io.rearm)
  notified := !clearing && (anyHit || (notified && !io.rearm))
  io.status.notified := notified
  io.status.notifiedChannel := RegEnable(PriorityEncoder(hits.map(_.valid)), capture)
  io.status.notifiedIndex := RegEnable(PriorityMux(hits.map(h => h.valid -> h.bits)), capture)
  io.status.clearing := clearing
}

object TelemetryPipeline {

  /** Cycles after which a pipeline holds nothing of an earlier slot. */
  val drain: Int = 16
}
