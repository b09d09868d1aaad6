// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import anemone.bus.{BitFlipInjector, ClockGate}
import chisel3._
import chisel3.util._

/** The telemetry engine beside the memory path (NEMO §3, Figure 1): every event is broadcast to every pipeline.
  *
  * Ports:
  *   - `events`: at most one accepted request a channel a cycle; they cannot be stalled
  *   - `reads`, `lines`: telemetry reads of whole lines, one a channel a cycle. A read waits for a cycle without an
  *     event. Lines come in the order of the reads, [[TelemetryEngine.readLatency]] cycles later (a serial RMW's
  *     `lineWords - 1` more), and cannot be stalled.
  *   - `open`: a read of this channel is accepted in this cycle unless an event comes. It depends on neither, so an
  *     arbiter of events and reads may use it.
  *   - `rule`: a pipeline's rule; applies to all that is accepted from one cycle on, on all channels. Stable until
  *     ready.
  *   - `table`: a translation entry; applies to events accepted in its own cycle and later. It waits only while the
  *     pipeline is cleared.
  *   - `clear`: starts to clear a pipeline, until `status.clearing` is false again. Meanwhile it counts nothing, and
  *     its lines read as zero.
  *   - `acknowledge`, `acknowledged`: a line to be subtracted, one at a time. It is ready in the
  *     cycle in which it is done. Then `acknowledged` says whether it was applied; it was not if a word of the line has
  *     bad parity, or one to be subtracted is lost. What is accepted later comes behind it.
  *   - `acknowledgeWords`: what is to be subtracted ([[LineWordRead]])
  *   - `faults`, `inject`: bit flips found in the memories ([[EngineFaults]]), and bit flips to be injected
  *   - `rearm`, `status`: by pipeline, the notify latch's re-arm, and what software sees
  *
  * An event behind a serial RMW or an acknowledge counts as accepted when it gets its slot: a change of rule or table
  * before that applies to it. The slots of an acknowledge are contiguous, so it has one place in its channel's order;
  * rules wait for it.
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
    val acknowledge = Vec(p.channels, Flipped(Decoupled(new LineAddress(p))))
    val acknowledged = Vec(p.channels, Valid(Bool()))
    val acknowledgeWords = Vec(p.channels, new LineWordRead(p))
    val rearm = Input(Vec(p.pipelines, Bool()))
    val status = Output(Vec(p.pipelines, new PipelineStatus(p)))
    val faults = Output(Vec(p.channels, new EngineFaults(p)))
    val inject = Vec(p.channels, Vec(EngineFaults.memories.length, Flipped(Valid(Bool()))))
  })

  private val arbiters = Seq.fill(p.channels)(Module(new SlotArbiter(p)))
  private val busy = WireInit(VecInit(Seq.fill(p.pipelines)(false.B)))
  private val pipelines = Seq.tabulate(p.pipelines) { i =>
    withClock(ClockGate(p.clockGates, busy(i)))(Module(new TelemetryPipeline(p))).suggestName(s"pipeline_$i")
  }
  private def isFor(i: Int, index: UInt): Bool = index === i.U

  // A rule moves down the pipeline like a slot; each stage loads it from the port as it passes.
  private val loading = RegInit(false.B)
  private val load = io.rule.valid && !loading && !arbiters.map(_.io.reserved).reduce(_ || _)
  private val loaded = ShiftRegister(load, TelemetryLane.latency(p) + 1, false.B, true.B)
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
    arbiters(c).io.acknowledgeTarget := io.acknowledge(c).bits
    arbiters(c).io.serialRmw := serialRmw
    arbiters(c).io.hold := io.rule.valid && !loading
  }

  // One acknowledge unit for all channels, because acknowledges are few and may wait.
  private val clearing = VecInit(pipelines.map(_.io.status.clearing))
  private val readStages =
    arbiters.map(a => withClock(ClockGate(p.clockGates, a.io.slot.read))(Module(new ReadStage(p))))
  private val rule = WireDefault(decoded)
  if (p.features.acknowledges) {
    val inject = io.inject(0)(EngineFaults.resetValues)
    val hasWork = load || inject.valid || io.acknowledge.map(_.valid).reduce(_ || _)
    val acknowledgeUnit = withClock(ClockGate(p.clockGates, hasWork))(Module(new AcknowledgeUnit(p)))
    acknowledgeUnit.io.acknowledge <> io.acknowledge
    io.acknowledged := acknowledgeUnit.io.acknowledged
    io.acknowledgeWords <> acknowledgeUnit.io.words
    acknowledgeUnit.io.lines := VecInit(readStages.map(_.io.line.bits))
    acknowledgeUnit.io.clearing := clearing
    acknowledgeUnit.io.load.valid := load
    acknowledgeUnit.io.load.bits := io.rule.bits.pipeline
    acknowledgeUnit.io.rule := decoded
    acknowledgeUnit.io.inject := inject
    io.faults(0).of(EngineFaults.resetValues) := acknowledgeUnit.io.fault
    for ((arbiter, c) <- arbiters.zipWithIndex) {
      arbiter.io.acknowledge := acknowledgeUnit.io.slots(c)
      acknowledgeUnit.io.available(c) := arbiter.io.available
    }
    rule.effectOperand := acknowledgeUnit.io.effectOperand
  } else {
    arbiters.foreach(_.io.acknowledge := 0.U.asTypeOf(new AcknowledgeSlot(p)))
    io.acknowledge.zip(io.acknowledged).foreach { case (offered, answer) =>
      offered.ready := true.B
      answer.valid := offered.valid
      answer.bits := false.B
    }
    for (words <- io.acknowledgeWords) {
      words.index := 0.U
      words.first := false.B
    }
  }

  io.table.ready := !NemoParams.pick(clearing, io.table.bits.pipeline)
  private val table = Wire(Valid(new TableWrite(p)))
  table.bits := RegNext(io.table.bits)
  table.valid := RegNext(io.table.fire, false.B)
  // Flips one entry of one channel, of whichever pipeline is written.
  private val flips = VecInit(io.inject.map { inject =>
    val flip = Module(new BitFlipInjector)
    flip.io.arm := inject(EngineFaults.tables)
    flip.io.stores := table.valid
    flip.io.flips
  })

  private val delayedSlots = arbiters.map(a => Slot.delayed(a.io.slot, MatchStage.latency(p) - 1))
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

    // It has something to do while it has a rule or is cleared, and when an input is for it.
    val hasRule = RegEnable(decoded.enable, false.B, pipeline.io.load)
    val isRead = pipeline.io.slots.map(slot => slot.read && isFor(i, slot.target.pipeline)).reduce(_ || _)
    val isWritten = table.valid && isFor(i, table.bits.pipeline)
    busy(i) := hasRule || pipeline.io.status.clearing || isRead || isWritten || pipeline.io.load ||
      pipeline.io.clear || pipeline.io.rearm
  }
  // If entries of several pipelines are bad in one cycle, one is reported.
  for ((fault, c) <- io.faults.zipWithIndex) {
    val parityErrors = pipelines.zipWithIndex.map { case (pipeline, i) =>
      pipeline.io.tableParityErrors(c).valid -> Cat(i.U(p.pipelineBits.W), pipeline.io.tableParityErrors(c).bits)
    }
    fault.of(EngineFaults.tables).uncorrected := RegNext(parityErrors.map(_._1).reduce(_ || _), false.B)
    fault.entry := RegNext(PriorityMux(parityErrors))
  }
  for ((stage, c) <- readStages.zipWithIndex) {
    stage.io.slot := Slot.delayed(delayedSlots(c), 1)
    stage.io.contributions := VecInit(pipelines.map(_.io.contributions(c)))
    io.lines(c) := stage.io.line
  }
}

object TelemetryEngine {

  /** Cycles from an event's acceptance to the write of its state; a read accepted right behind it sees the value. */
  def eventLatency(p: NemoParams): Int = 1 + TelemetryLane.writeLatency(p)

  /** Cycles from a read's acceptance to its line. */
  def readLatency(p: NemoParams): Int = 1 + MatchStage.latency(p) + ReadStage.latency
}
