// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{Axi4Pins, Axi4Port, AxiLitePins, ClockGate, FaultReport, Injection, MemoryFault}
import anemone.expander.registers.{ExpanderRegisters, TelemetryWindowRegister}
import anemone.flat.{FlatMemory, FlatParams, SidebandRange}
import anemone.nemo.{EngineFaults, PipelineStatus, TelemetryEngine}
import chisel3._
import chisel3.util._
import scala.collection.mutable

/** An interrupt message: the vector number, 0 for errors, 1 + p for pipeline p. Stable until accepted. */
class InterruptPins(vectors: Int) extends Bundle {
  val valid = Output(Bool())
  val ready = Input(Bool())
  val vector = Output(UInt(log2Ceil(vectors).W))
}

/** The telemetry engine in the memory path of a CXL Type-3 expander: AXI4 in and out per channel, a control port with
  * the registers of docs/registers.md, and interrupt messages.
  *
  * Latency: [[MemoryChannel]]'s, on top of memory's. A telemetry line takes [[MemoryExpander.telemetryLatency]] cycles.
  * From the acceptance of the request that reaches a threshold to its message: [[MemoryExpander.interruptLatency]]
  * cycles, if no other vector wants to send.
  *
  * On a board, each memory has a [[ControllerAdapter]] above it.
  *
  * Several hosts share each channel through a [[HostArbiter]], which adds one cycle each way.
  *
  * In flat memory mode each channel has a near and a far memory ([[TieredMemory]]). An event then comes when its
  * request is decided, and [[EventReadSequencer]] puts events and telemetry reads into one order. On a board near
  * memory's sidebands are in a range of it ([[SidebandRange]]).
  */
class MemoryExpander(p: ExpanderParams) extends Module {
  private val nemo = p.nemo
  private val vectors = nemo.pipelines + 1

  /** By host, and within a host by channel. */
  val upstream = IO(Vec(p.hosts * nemo.channels, Flipped(new Axi4Pins(p.hostPort))))

  private val tiersOnBoard = p.flat.isDefined && p.adapter

  /** By channel; on a board in flat memory mode near, then far. */
  val downstream = Option.when(p.flat.isEmpty || p.adapter)(
    IO(Vec(nemo.channels * (if (tiersOnBoard) 2 else 1), new Axi4Pins(p.memoryPort)))
  )
  val tiers = p.flat.filterNot(_ => p.adapter).map(flat => IO(Vec(nemo.channels, new TierPins(flat))))

  /** The memories are empty: asserted together with the reset at power-up. */
  val powerOn = p.flat.map(_ => IO(Input(Bool())))
  val control = IO(Flipped(new AxiLitePins(p.controlAddressBits, 64)))
  val interrupt = IO(new InterruptPins(vectors))

  /** As the register of that name: accept no request. `quiet`: nothing is in flight for a host or at memory, so a reset
    * loses nothing, even if it resets the memories too.
    */
  val quiesce = IO(Input(Bool()))
  val quiet = IO(Output(Bool()))

  private val engine = Module(new TelemetryEngine(nemo))
  private val (registersBusy, interruptsBusy) = (WireInit(false.B), WireInit(false.B))
  private val registers = withClock(ClockGate(nemo.clockGates, registersBusy))(Module(new ExpanderRegisters(p)))
  private val in = registers.io.in
  private val out = registers.io.out
  control.drives(registers.io.bus)
  in.capability := Capabilities.sizes(p)
  in.features := Capabilities.features(p)
  in.window := Capabilities.window(p)

  // Memories that report faults: those of the channels and, in flat memory mode, of their controllers.
  private val faults = mutable.ArrayBuffer[(FaultSource, FaultReport)]()
  private val strays = mutable.ArrayBuffer[Bool]()
  private val injections = Seq.tabulate(nemo.channels) { channel =>
    val inject = Wire(Valid(new Injection))
    inject.valid := RegNext(out.faultControl.inject && out.faultInject.channel === channel.U, false.B)
    inject.bits.memory := out.faultInject.memory
    inject.bits.double := out.faultInject.double
    inject
  }

  // Memory channels.
  private def window(to: Window, from: TelemetryWindowRegister): Unit = {
    to.enable := from.enable
    to.base := from.base << 12
  }
  private val channels = Seq.tabulate(nemo.channels)(c => Module(new MemoryChannel(p)).suggestName(s"channel_$c"))
  private val quiescing = RegNext(quiesce || out.quiesce.stop, false.B)
  private val memoryQuiet, drained = Wire(Vec(nemo.channels, Bool()))
  quiet := RegNext(drained.reduce(_ && _), false.B)
  in.quiesceStatus.quiet := quiet
  for ((channel, c) <- channels.zipWithIndex) {
    connectHosts(c)
    window(channel.io.windows.effect, out.effectWindow)
    window(channel.io.windows.snapshot, out.snapshotWindow)
    window(channel.io.windows.acknowledge, out.acknowledgeWindow)
    if (!nemo.features.acknowledges) channel.io.windows.acknowledge.enable := false.B
    engine.io.acknowledge(c) <> channel.io.acknowledge
    channel.io.acknowledged := engine.io.acknowledged(c)
    channel.io.acknowledgeWords <> engine.io.acknowledgeWords(c)
    channel.io.channel := c.U
    p.flat match {
      case Some(flat) => connectTiers(c, flat)
      case None =>
        connectMemory(c)
        memoryQuiet(c) := channel.io.quiet
        engine.io.events(c) := channel.io.event
        channel.io.open := engine.io.open(c)
        engine.io.reads(c).valid := channel.io.read.valid
        engine.io.reads(c).bits := channel.io.read.bits
        assert(!channel.io.read.valid || engine.io.reads(c).ready, "a telemetry read was lost")
    }
    channel.io.line := engine.io.lines(c)
    channel.io.inject := injections(c)
    faults ++= MemoryChannel.memories.map(FaultSource(_, c)).zip(channel.io.faults)
    val ofEngine = registerMemories(c, FaultMemory(EngineFaults.memories), engine.io.faults(c).of, engine.io.inject(c))
    ofEngine(EngineFaults.tables).line.valid := true.B
    ofEngine(EngineFaults.tables).line.bits := engine.io.faults(c).entry
  }

  /** Registers a channel's memories by number, for fault reports and injection. */
  private def registerMemories(
      c: Int,
      memories: Seq[Int],
      found: Seq[MemoryFault],
      arms: Seq[ValidIO[Bool]]
  ): Seq[FaultReport] = {
    val reports = found.map(FaultReport(_, p.memory.idBits, p.faultLineBits))
    faults ++= memories.map(FaultSource(_, c)).zip(reports)
    for ((arm, memory) <- arms.zip(memories)) arm := Injection.to(memory, injections(c))
    reports
  }

  // The hosts of a channel. A channel is drained when the hosts have all its responses.
  private def connectHosts(c: Int): Unit = {
    val channel = channels(c)
    val ports = Seq.tabulate(p.hosts)(host => upstream(host * nemo.channels + c))
    if (p.hosts == 1) {
      ports.head.drives(channel.io.upstream)
      channel.io.quiesce := quiescing
      drained(c) := memoryQuiet(c)
    } else {
      val arbiter = Module(new HostArbiter(p)).suggestName(s"hosts_$c")
      for ((pins, host) <- ports.zip(arbiter.io.hosts)) pins.drives(host)
      channel.io.upstream <> arbiter.io.channel
      arbiter.io.quiesce := quiescing
      channel.io.quiesce := arbiter.io.passed
      drained(c) := arbiter.io.quiet && memoryQuiet(c)
    }
  }

  // The board's controller is not an AXI slave, so an adapter goes in between.
  private def connectMemory(c: Int): Unit =
    if (p.adapter) {
      val adapter = Module(new ControllerAdapter(p.memory)).suggestName(s"adapter_$c")
      adapter.io.upstream <> channels(c).io.downstream
      downstream.get(c).drivenBy(adapter.io.controller)
      val reports = registerMemories(c, ControllerAdapter.memories, adapter.io.faults, adapter.io.inject)
      for ((report, id) <- reports.zip(Seq(adapter.io.upstream.r.bits.id, adapter.io.upstream.b.bits.id))) {
        report.id.valid := true.B
        report.id.bits := id
      }
    } else downstream.get(c).drivenBy(channels(c).io.downstream)

  // Two of the board's controllers, with an adapter each. Returns whether nothing is outstanding at near's.
  private def connectControllers(c: Int, flat: FlatParams, pins: TierPins): Bool = {
    val sidebands = Module(new SidebandRange(flat, p.nearBits, p.memoryPort)).suggestName(s"sidebands_$c")
    sidebands.io.powerOn := powerOn.get
    pins.near.drives(sidebands.io.near)
    sidebands.io.wsideband := pins.near_wsideband
    pins.near_rsideband := sidebands.io.rsideband
    strays += sidebands.io.stray
    val far = Wire(new Axi4Port(p.memoryPort))
    pins.far.drives(far)
    val adapters = Seq("near" -> sidebands.io.controller, "far" -> far).zipWithIndex.map { case ((tier, port), i) =>
      val adapter = Module(new ControllerAdapter(p.memoryPort)).suggestName(s"adapter_${c}_$tier")
      adapter.io.upstream <> port
      downstream.get(2 * c + i).drivenBy(adapter.io.controller)
      adapter
    }
    val memories = ControllerAdapter.memories
    val found = Seq.tabulate(memories.length) { i =>
      adapters.map(_.io.faults(i).asUInt).reduce(_ | _).asTypeOf(new MemoryFault)
    }
    val arms = Wire(Vec(memories.length, Valid(Bool())))
    registerMemories(c, memories, found, arms)
    adapters.foreach(_.io.inject := arms)
    sidebands.io.quiet
  }

  // In flat memory mode the controller issues a request's event, not the arbiter.
  private def connectTiers(c: Int, flat: FlatParams): Unit = {
    val channel = channels(c)
    val memory = Module(new TieredMemory(p, flat)).suggestName(s"tiered_$c")
    memory.io.powerOn := powerOn.get
    memory.io.host <> channel.io.downstream
    val sidebandsQuiet = WireInit(true.B)
    if (p.adapter) sidebandsQuiet := connectControllers(c, flat, memory.io.tiers)
    else memory.io.tiers <> tiers.get(c)
    memory.io.channel := c.U
    memory.io.settings := out.flat(c)
    in.flat(c) := memory.io.readback
    val order = Module(new EventReadSequencer(p, flat.requests)).suggestName(s"order_$c")
    order.io.event := memory.io.event
    order.io.read := channel.io.read
    memory.io.hold := order.io.hold
    registerMemories(c, EventReadSequencer.memories, order.io.faults, order.io.inject)
    memory.io.inject := injections(c)
    strays += memory.io.stray
    faults ++= FaultMemory(FlatMemory.memories).map(FaultSource(_, c)).zip(memory.io.faults)
    // The channel must drain first, since its pending requests still go to the memory.
    memory.io.quiesce := channel.io.quiet
    memoryQuiet(c) := channel.io.quiet && memory.io.quiet && sidebandsQuiet
    channel.io.open := order.io.open
    engine.io.events(c) := order.io.first.event
    engine.io.reads(c) <> order.io.first.read
  }

  // Rules and tables. An address past the device is clamped to the device's end, which bounds the same range.
  private def bounded(address: UInt): UInt =
    Mux((address >> nemo.addressBits).orR, (BigInt(1) << nemo.addressBits).U, address)
  private val rule = engine.io.rule.bits.rule
  engine.io.rule.valid := registers.io.ruleCommit.valid
  registers.io.ruleCommit.ready := engine.io.rule.ready
  registers.io.ruleCommitLegal := RuleCheck(out.ruleControl, out.ruleHash, nemo)
  engine.io.rule.bits.pipeline := registers.io.ruleCommit.bits.pipeline
  rule.enable := out.ruleControl.enable
  rule.reads := out.ruleControl.reads
  rule.writes := out.ruleControl.writes
  rule.near.foreach(_ := out.ruleControl.near)
  rule.start := bounded(out.ruleStart.address)
  rule.end := bounded(out.ruleEnd.address)
  rule.primaryMask := out.rulePrimaryMask
  rule.primaryShift := out.ruleShifts.primary
  rule.subMask := out.ruleSubMask
  rule.subShift := out.ruleShifts.sub
  rule.hash.foreach(_ := out.ruleControl.hash)
  rule.hashMultiplier.foreach(_ := out.ruleHash.multiplier)
  rule.hashSize.foreach(_ := out.ruleHash.size)
  rule.op := out.ruleControl.op
  rule.operandSource := out.ruleControl.operandSource
  rule.operand := out.ruleOperand
  rule.counterWidth := out.ruleControl.counterWidth
  rule.notifyOp := out.ruleControl.notifyOp
  rule.notifyOperand := out.ruleNotifyOperand
  rule.effectKind := out.ruleControl.effectKind
  rule.effectOp := out.ruleControl.effectOp
  rule.effectOperand := out.ruleEffectOperand

  // Bases past the last counter are clamped to one value, so that none wraps.
  private val entry = registers.io.table
  engine.io.table.valid := entry.valid
  entry.ready := engine.io.table.ready
  engine.io.table.bits.pipeline := entry.bits.index >> nemo.keyBits
  engine.io.table.bits.key := entry.bits.index
  engine.io.table.bits.base := Cat((entry.bits.base >> nemo.indexBits).orR, entry.bits.base(nemo.indexBits - 1, 0))
  engine.io.table.bits.mapped := entry.bits.mapped

  // Pipelines.
  private val clears = out.pipeline.map(_.control.clear)
  engine.io.clear.valid := clears.reduce(_ || _)
  engine.io.clear.bits := OHToUInt(clears)
  private def show(i: Int, status: PipelineStatus): Unit = {
    val shown = in.pipeline(i)
    shown.matched := status.matched
    shown.unmapped := status.unmapped
    shown.outOfRange := status.outOfRange
    shown.notifications := status.notifications
    shown.parityErrors := status.parityErrors
    shown.notification.valid := status.notified
    shown.notification.channel := status.notifiedChannel
    shown.notification.index := status.notifiedIndex
    shown.status.clearing := status.clearing
  }
  for ((status, i) <- engine.io.status.zipWithIndex) show(i, status)

  // Errors.
  private val errors = channels.map(_.io.errors)
  private def any(flag: ChannelErrors => Bool): Bool = errors.map(flag).reduce(_ || _)
  private def count(flags: (ChannelErrors => Bool)*): UInt = {
    val total = RegInit(0.U(64.W))
    total := total + RegNext(PopCount(errors.flatMap(error => flags.map(_(error)))), 0.U)
    total
  }
  in.errorStatus.parity := engine.io.lines.map(line => line.valid && line.bits.poison).reduce(_ || _)
  in.errorStatus.droppedWrite := any(_.droppedWrite)
  in.errorStatus.refusedRead := any(_.refusedRead)
  in.errorStatus.memoryRead := any(_.memoryRead)
  in.errorStatus.memoryWrite := any(_.memoryWrite)
  private val anyFault = faults.map { case (_, report) => report.fault.asUInt.orR }.reduce(_ || _)
  private val log = withClock(ClockGate(nemo.clockGates, anyFault || out.faultControl.rearm)) {
    Module(new FaultLog(faults.map(_._1).toSeq, p.memory.idBits, p.faultLineBits))
  }
  for ((report, (_, fault)) <- log.io.reports.zip(faults)) report := fault
  log.io.rearm := out.faultControl.rearm
  in.errorStatus.corrected := log.io.anyCorrected
  in.errorStatus.uncorrected := log.io.anyUncorrected
  in.errorStatus.stray := strays.foldLeft(any(_.strayRead) || any(_.strayWrite))(_ || _)
  in.faultsCorrected := log.io.corrected
  in.faultsUncorrected := log.io.uncorrected
  in.firstFault := log.io.first
  in.faultSet := log.io.set
  in.droppedWrites := count(_.droppedWrite)
  in.refusedReads := count(_.refusedRead)
  in.strayAnswers := count(_.strayRead, _.strayWrite)

  // Interrupts.
  private def byVector(errors: Bool, pipelines: UInt): Vec[Bool] =
    VecInit(errors +: pipelines.asBools.take(nemo.pipelines))
  private val interrupts = withClock(ClockGate(nemo.clockGates, interruptsBusy))(Module(new InterruptUnit(vectors)))
  interruptsBusy := interrupts.io.busy
  in.interruptPending.errors := (out.errorStatus.asUInt & out.errorEnable.asUInt).orR
  in.interruptPending.pipelines := VecInit(engine.io.status.map(_.notified)).asUInt
  interrupts.io.pending := byVector(in.interruptPending.errors, in.interruptPending.pipelines)
  interrupts.io.enable := byVector(out.interruptEnable.errors, out.interruptEnable.pipelines)
  interrupts.io.acknowledge := byVector(out.interruptAcknowledge.errors, out.interruptAcknowledge.pipelines)
  engine.io.rearm := VecInit(interrupts.io.acknowledge.tail)
  interrupt.valid := interrupts.io.message.valid
  interrupt.vector := interrupts.io.message.bits
  interrupts.io.message.ready := interrupt.ready

  // The registers have something to do while the port or the engine has, and when hardware sets a flag.
  private val bus = registers.io.bus
  registersBusy := Seq(bus.aw.valid, bus.w.valid, bus.b.valid, bus.ar.valid, bus.r.valid).reduce(_ || _) ||
    registers.io.ruleCommit.valid || registers.io.table.valid || in.errorStatus.asUInt.orR
}

object MemoryExpander {

  /** Cycles from a telemetry read's acceptance at AR to its line at R, if no response of its id is ahead; 18 in flat
    * mode.
    */
  val telemetryLatency: Int = 17

  /** Cycles from a request's acceptance to the message that its event causes. */
  val interruptLatency: Int = 16
}
