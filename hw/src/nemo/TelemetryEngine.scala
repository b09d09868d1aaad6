// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import anemone.bus.BitFlipInjector
import chisel3._
import chisel3.util._

/** The telemetry engine beside the memory path (NEMO §3, Figure 1): every event is broadcast to every pipeline.
  *
  * Ports:
  *   - `events`: an accepted request a channel a cycle, never held back
  *   - `reads`, `lines`: telemetry reads of whole lines, a line a channel a cycle; answers keep the order of the
  *     reads, [[TelemetryEngine.readLatency]] cycles behind them (a walk: `lineWords - 1` more), and can't be held
  *     back. A read waits for a cycle without an event.
  *   - `open`: a read of this channel is accepted in this cycle if no event comes; for those who choose between the
  *     two, so that the choice does not depend on itself
  *   - `rule`: a pipeline's rule; applies to everything accepted from one cycle on, on all channels. Held until ready.
  *   - `table`: a translation entry; applies to events accepted in its own cycle and later. Waits only while the
  *     pipeline is being cleared.
  *   - `clear`: starts clearing a pipeline; `status.clearing` tells when it is done. Meanwhile it counts nothing and
  *     its lines read as zero.
  *   - `acknowledge`, `acknowledged`: a line that was read, to be taken away ([[LineAcknowledge]]), one at a time. What is
  *     offered stays until it is taken, and is taken when it is done: in that cycle `acknowledged` says whether it was
  *     applied, or nothing changed because a word of the line had bad parity. What is accepted later comes behind it.
  *   - `faults`, `inject`: what was flipped in its memories ([[EngineFaults]]), and what is to be
  *   - `rearm`, `status`: a notify latch's re-arm, and what software sees, by pipeline
  *
  * "Accepted" of an event behind a walk or an acknowledgement is the slot it gets: a change of rule or table between the
  * two applies. An acknowledgement has its slots in a row, so it is in one place of its channel's order; rules wait for it.
  */
class TelemetryEngine(p: NemoParams) extends Module {
  val io = IO(new Bundle {
    val events = Vec(p.channels, Flipped(Valid(new MemoryEvent(p))))
    val reads = Vec(p.channels, Flipped(Decoupled(new LineRead(p))))
    val open = Output(Vec(p.channels, Bool()))
    val lines = Vec(p.channels, Valid(new Line(p)))
    val rule = Flipped(Decoupled(new RuleWrite(p)))
    val table = Flipped(Decoupled(new TableWrite(p)))
    val clear = Flipped(Valid(UInt(p.pipelineBits.W)))
    val acknowledge = Vec(p.channels, Flipped(Decoupled(new LineAcknowledge(p))))
    val acknowledged = Vec(p.channels, Valid(Bool()))
    val rearm = Input(Vec(p.pipelines, Bool()))
    val status = Output(Vec(p.pipelines, new PipelineStatus(p)))
    val faults = Output(Vec(p.channels, new EngineFaults(p)))
    val inject = Vec(p.channels, Vec(EngineFaults.memories.length, Flipped(Valid(Bool()))))
  })

  private val arbiters = Seq.fill(p.channels)(Module(new SlotArbiter(p)))
  private val pipelines = Seq.tabulate(p.pipelines)(i => Module(new TelemetryPipeline(p)).suggestName(s"pipeline_$i"))
  private def isFor(i: Int, index: UInt): Bool = index === i.U

  // A rule goes down the pipeline like a slot, and is taken from the port in each stage as it passes.
  private val loading = RegInit(false.B)
  private val load = io.rule.valid && !loading && !arbiters.map(_.io.reserved).reduce(_ || _)
  private val loaded = ShiftRegister(load, TelemetryLane.latency + 1, false.B, true.B)
  loading := (loading || load) && !loaded
  io.rule.ready := loaded

  private val decoded = DecodedRule(io.rule.bits.rule, p)
  private val serialRmw = RegInit(VecInit(Seq.fill(p.pipelines)(false.B)))
  when(load) { NemoParams.pick(serialRmw, io.rule.bits.pipeline) := io.rule.bits.rule.effectKind === ReadEffect.Op.U }

  io.faults := 0.U.asTypeOf(io.faults)
  for (c <- 0 until p.channels) {
    arbiters(c).io.inject := io.inject(c)(EngineFaults.events)
    io.faults(c).of(EngineFaults.events) := arbiters(c).io.fault
    arbiters(c).io.event := io.events(c)
    arbiters(c).io.read <> io.reads(c)
    io.open(c) := arbiters(c).io.open
    arbiters(c).io.acknowledgeTarget := io.acknowledge(c).bits.target
    arbiters(c).io.serialRmw := serialRmw
    arbiters(c).io.hold := io.rule.valid && !loading
  }

  // Lines to be taken away: one unit for all channels, for they are few and may wait.
  private val clearing = VecInit(pipelines.map(_.io.status.clearing))
  private val readStages = Seq.fill(p.channels)(Module(new ReadStage(p)))
  private val rule = WireDefault(decoded)
  if (p.features.acknowledges) {
    val acknowledgeUnit = Module(new AcknowledgeUnit(p))
    acknowledgeUnit.io.acknowledge <> io.acknowledge
    io.acknowledged := acknowledgeUnit.io.acknowledged
    acknowledgeUnit.io.lines := VecInit(readStages.map(_.io.line.bits))
    acknowledgeUnit.io.clearing := clearing
    acknowledgeUnit.io.load.valid := load
    acknowledgeUnit.io.load.bits := io.rule.bits.pipeline
    acknowledgeUnit.io.rule := decoded
    acknowledgeUnit.io.inject := io.inject(0)(EngineFaults.resetValues)
    io.faults(0).of(EngineFaults.resetValues) := acknowledgeUnit.io.fault
    for ((arbiter, c) <- arbiters.zipWithIndex) {
      arbiter.io.acknowledge := acknowledgeUnit.io.slots(c)
      acknowledgeUnit.io.available(c) := arbiter.io.available
    }
    when(acknowledgeUnit.io.operand.valid) { rule.effectOperand := acknowledgeUnit.io.operand.bits }
  } else {
    arbiters.foreach(_.io.acknowledge := 0.U.asTypeOf(new AcknowledgeSlot(p)))
    io.acknowledge.zip(io.acknowledged).foreach { case (offered, answer) =>
      offered.ready := true.B
      answer.valid := offered.valid
      answer.bits := false.B
    }
  }

  io.table.ready := !NemoParams.pick(clearing, io.table.bits.pipeline)
  private val table = Wire(Valid(new TableWrite(p)))
  table.bits := RegNext(io.table.bits)
  table.valid := RegNext(io.table.fire, false.B)
  // One entry of one channel, whichever pipeline's.
  private val flips = VecInit(io.inject.map { inject =>
    val flip = Module(new BitFlipInjector)
    flip.io.arm := inject(EngineFaults.tables)
    flip.io.stores := table.valid
    flip.io.flips
  })

  private val delayedSlots = arbiters.map(a => Slot.delayed(a.io.slot, MatchStage.latency))
  for ((pipeline, i) <- pipelines.zipWithIndex) {
    pipeline.io.index := i.U
    pipeline.io.slots := VecInit(arbiters.map(_.io.slot))
    pipeline.io.delayedSlots := VecInit(delayedSlots)
    pipeline.io.rule := rule
    pipeline.io.load := load && isFor(i, io.rule.bits.pipeline)
    pipeline.io.table := table
    pipeline.io.flips := flips
    pipeline.io.clear := io.clear.valid && isFor(i, io.clear.bits)
    pipeline.io.rearm := io.rearm(i)
    pipeline.io.poisoned := VecInit(readStages.map { stage =>
      stage.io.line.valid && stage.io.line.bits.poison && isFor(i, stage.io.pipeline)
    })
    io.status(i) := pipeline.io.status
  }
  // Of several pipelines whose entries are bad in a cycle, one is told.
  for ((fault, c) <- io.faults.zipWithIndex) {
    val parityErrors = pipelines.zipWithIndex.map { case (pipeline, i) =>
      pipeline.io.tableParityErrors(c).valid -> Cat(i.U(p.pipelineBits.W), pipeline.io.tableParityErrors(c).bits)
    }
    fault.of(EngineFaults.tables).uncorrected := RegNext(parityErrors.map(_._1).reduce(_ || _), false.B)
    fault.entry := RegNext(PriorityMux(parityErrors))
  }
  for ((stage, c) <- readStages.zipWithIndex) {
    stage.io.slot := delayedSlots(c)
    stage.io.contributions := VecInit(pipelines.map(_.io.contributions(c)))
    io.lines(c) := stage.io.line
  }
}

object TelemetryEngine {

  /** Cycles from an event's to the cycle in which its state is written: a read right behind it sees the value. */
  val eventLatency: Int = 1 + TelemetryLane.writeLatency

  /** Cycles from a read's acceptance to its line. */
  val readLatency: Int = 1 + MatchStage.latency + ReadStage.latency
}
