// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util._

/** One rule on one channel: match, update and notify (NEMO §3.1, Figure 2). A slot a cycle, without stalls.
  *
  * Latency from `slot`: `matched` [[MatchStage.latency]] cycles, `contribution` as [[LineContribution]] says, the write
  * of the state [[TelemetryLane.writeLatency]], `hit` [[TelemetryLane.latency]].
  */
class TelemetryLane(p: NemoParams) extends Module {
  val io = IO(new Bundle {

    /** The number of this pipeline. */
    val pipeline = Input(UInt(p.pipelineBits.W))
    val slot = Input(new Slot(p))

    /** `slot`, [[MatchStage.latency]] cycles later. A channel delays it once for all its lanes. */
    val delayedSlot = Input(new Slot(p))
    val rule = Input(new DecodedRule(p))

    /** `rule` applies from the next cycle's slot on; it must be stable for [[TelemetryLane.latency]] cycles. */
    val load = Input(Bool())

    /** Applies to the event in `slot` and to later ones. */
    val table = Flipped(Valid(new TableWrite(p)))

    /** Injected bit flips of the entry's lowest bits. */
    val flips = Input(UInt(2.W))

    /** A line is cleared. Slots accepted meanwhile do nothing, which includes those of one cycle after. */
    val clear = Flipped(Valid(UInt(p.lineBits.W)))
    val matched = Output(new MatchResult(p))
    val contribution = Output(new LineContribution(p))
    val hit = Valid(UInt(p.indexBits.W))
  })

  private val matching = Module(new MatchStage(p))
  matching.io.slot := io.slot
  matching.io.rule := io.rule
  matching.io.load := io.load
  private val disable = io.clear.valid || RegNext(io.clear.valid, true.B)
  matching.io.disable := disable
  matching.io.table := io.table
  matching.io.flips := io.flips
  io.matched := matching.io.result

  private val updateLoad = ShiftRegister(io.load, MatchStage.latency(p), false.B, true.B)
  private[nemo] val update = Module(new UpdateStage(p))
  update.io.pipeline := io.pipeline
  update.io.slot := io.delayedSlot
  update.io.matched := matching.io.result
  update.io.rule := io.rule
  update.io.load := updateLoad
  update.io.disable := io.clear.valid || ShiftRegister(disable, MatchStage.latency(p), true.B, true.B)
  update.io.clear := io.clear
  io.contribution := update.io.contribution

  if (p.features.notifies) {
    val notification = Module(new NotifyStage(p))
    notification.io.updated := update.io.updated
    notification.io.rule := io.rule
    notification.io.load := ShiftRegister(updateLoad, UpdateStage.latency, false.B, true.B)
    io.hit := notification.io.hit
  } else {
    io.hit.valid := false.B
    io.hit.bits := 0.U
  }
}

object TelemetryLane {
  def writeLatency(p: NemoParams): Int = MatchStage.latency(p) + UpdateStage.hazardDepth
  def latency(p: NemoParams): Int = MatchStage.latency(p) + UpdateStage.latency + NotifyStage.latency
}
