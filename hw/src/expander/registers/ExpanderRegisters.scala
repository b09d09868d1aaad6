// SPDX-License-Identifier: Apache-2.0
// Generated from hw/regs/anemone.rdl by `make regs`; change that, not this.
package anemone.expander.registers

import anemone.bus.{AxiLitePort, RegisterMap}
import anemone.expander.ExpanderParams
import anemone.expander.registers.{RegisterOffsets => at}
import chisel3._
import chisel3.util._

/** Anemone memory expander: its registers behind the control port, as docs/registers.md describes them.
  *
  * Widths, order, errors and latency of the port are those of [[anemone.bus.RegisterMap]]: one write and one read per
  * cycle, [[anemone.bus.RegisterMap.writeLatency]] cycles to B and [[anemone.bus.RegisterMap.readLatency]] to R.
  *
  *   - `in`: values that software reads; sampled one cycle after AR
  *   - `out`: values that software has written; they change when B can be valid, and pulses one cycle earlier
  *   - `ruleCommit`: a command; it stalls all later writes until ready
  *   - `ruleCommitLegal`: whether the command is legal
  *   - `table`: a table entry that software writes; stalls likewise; one per cycle
  */
class ExpanderRegisters(p: ExpanderParams) extends Module {
  val io = IO(new Bundle {
    val bus = Flipped(new AxiLitePort(p.controlAddressBits, 64))
    val in = Input(new RegisterInputs(p))
    val out = Output(new RegisterOutputs(p))
    val ruleCommit = Decoupled(new RuleCommitRegister)
    val ruleCommitLegal = Input(Bool())
    val table = Decoupled(new TableEntry)
  })
  private val map = new RegisterMap(io.bus)
  map.read(at.id, 0 -> "h414e454d4f4e4531".U(64.W))
  map.read(at.version, 0 -> 2.U(16.W), 16 -> 1.U(16.W))
  map.read(
    at.capability,
    0 -> io.in.capability.pipelines,
    8 -> io.in.capability.channels,
    16 -> io.in.capability.statesLog2,
    24 -> io.in.capability.tableLog2,
    32 -> io.in.capability.addressBits,
    40 -> io.in.capability.counterIndexBits,
    48 -> io.in.capability.flatChannels
  )
  map.read(
    at.features,
    0 -> io.in.features.ops,
    16 -> io.in.features.widths,
    24 -> io.in.features.predicates,
    32 -> io.in.features.effects,
    40 -> io.in.features.operandSources,
    48 -> io.in.features.flatRatio,
    56 -> io.in.features.acknowledges,
    57 -> io.in.features.hash,
    63 -> io.in.features.flatMemory
  )
  map.read(at.window, 0 -> io.in.window.bytes)

  private val effectWindow = RegInit(0.U.asTypeOf(new TelemetryWindowRegister))
  map.storage(at.effectWindow, 0 -> effectWindow.enable, 12 -> effectWindow.base)
  io.out.effectWindow := effectWindow

  private val snapshotWindow = RegInit(0.U.asTypeOf(new TelemetryWindowRegister))
  map.storage(at.snapshotWindow, 0 -> snapshotWindow.enable, 12 -> snapshotWindow.base)
  io.out.snapshotWindow := snapshotWindow

  private val acknowledgeWindow = RegInit(0.U.asTypeOf(new TelemetryWindowRegister))
  map.storage(at.acknowledgeWindow, 0 -> acknowledgeWindow.enable, 12 -> acknowledgeWindow.base)
  io.out.acknowledgeWindow := acknowledgeWindow

  map.read(at.quiesceStatus, 0 -> io.in.quiesceStatus.quiet)

  private val errorStatus = RegInit(0.U.asTypeOf(new ErrorStatusRegister))
  map.sticky(
    at.errorStatus,
    (0, errorStatus.parity, io.in.errorStatus.parity),
    (1, errorStatus.droppedWrite, io.in.errorStatus.droppedWrite),
    (2, errorStatus.refusedRead, io.in.errorStatus.refusedRead),
    (3, errorStatus.memoryRead, io.in.errorStatus.memoryRead),
    (4, errorStatus.memoryWrite, io.in.errorStatus.memoryWrite),
    (5, errorStatus.corrected, io.in.errorStatus.corrected),
    (6, errorStatus.uncorrected, io.in.errorStatus.uncorrected),
    (7, errorStatus.stray, io.in.errorStatus.stray)
  )
  io.out.errorStatus := errorStatus

  private val errorEnable = RegInit(0.U.asTypeOf(new ErrorEnableRegister))
  map.storage(
    at.errorEnable,
    0 -> errorEnable.parity,
    1 -> errorEnable.droppedWrite,
    2 -> errorEnable.refusedRead,
    3 -> errorEnable.memoryRead,
    4 -> errorEnable.memoryWrite,
    5 -> errorEnable.corrected,
    6 -> errorEnable.uncorrected,
    7 -> errorEnable.stray
  )
  io.out.errorEnable := errorEnable

  map.read(at.droppedWrites, 0 -> io.in.droppedWrites)
  map.read(at.refusedReads, 0 -> io.in.refusedReads)
  map.read(at.faultsCorrected, 0 -> io.in.faultsCorrected)
  map.read(at.faultsUncorrected, 0 -> io.in.faultsUncorrected)
  map.read(
    at.firstFault,
    0 -> io.in.firstFault.memory,
    8 -> io.in.firstFault.channel,
    12 -> io.in.firstFault.uncorrected,
    13 -> io.in.firstFault.idValid,
    14 -> io.in.firstFault.setValid,
    16 -> io.in.firstFault.id,
    63 -> io.in.firstFault.valid
  )
  map.read(at.faultSet, 0 -> io.in.faultSet.line)
  map.read(at.interruptPending, 0 -> io.in.interruptPending.errors, 1 -> io.in.interruptPending.pipelines)

  private val interruptEnable = RegInit(0.U.asTypeOf(new InterruptEnableRegister))
  map.storage(at.interruptEnable, 0 -> interruptEnable.errors, 1 -> interruptEnable.pipelines)
  io.out.interruptEnable := interruptEnable

  map.pulse(
    at.interruptAcknowledge,
    0 -> io.out.interruptAcknowledge.errors,
    1 -> io.out.interruptAcknowledge.pipelines
  )

  private val faultInject = RegInit(0.U.asTypeOf(new FaultInjectRegister))
  map.storage(at.faultInject, 0 -> faultInject.memory, 8 -> faultInject.channel, 12 -> faultInject.double)
  io.out.faultInject := faultInject

  map.pulse(at.faultControl, 0 -> io.out.faultControl.inject, 1 -> io.out.faultControl.rearm)
  map.read(at.strayAnswers, 0 -> io.in.strayAnswers)

  private val quiesce = RegInit(0.U.asTypeOf(new QuiesceRegister))
  map.storage(at.quiesce, 0 -> quiesce.stop)
  io.out.quiesce := quiesce

  private val ruleControl = RegInit(0.U.asTypeOf(new RuleControlRegister))
  map.storage(
    at.ruleControl,
    0 -> ruleControl.enable,
    1 -> ruleControl.reads,
    2 -> ruleControl.writes,
    4 -> ruleControl.near,
    6 -> ruleControl.hash,
    8 -> ruleControl.counterWidth,
    16 -> ruleControl.operandSource,
    24 -> ruleControl.op,
    32 -> ruleControl.notifyOp,
    40 -> ruleControl.effectKind,
    48 -> ruleControl.effectOp
  )
  io.out.ruleControl := ruleControl

  private val ruleStart = RegInit(0.U.asTypeOf(new RuleStartRegister))
  map.storage(at.ruleStart, 0 -> ruleStart.address)
  io.out.ruleStart := ruleStart

  private val ruleEnd = RegInit(0.U.asTypeOf(new RuleEndRegister))
  map.storage(at.ruleEnd, 0 -> ruleEnd.address)
  io.out.ruleEnd := ruleEnd

  private val rulePrimaryMask = RegInit(0.U(64.W))
  map.storage(at.rulePrimaryMask, 0 -> rulePrimaryMask)
  io.out.rulePrimaryMask := rulePrimaryMask

  private val ruleSubMask = RegInit(0.U(64.W))
  map.storage(at.ruleSubMask, 0 -> ruleSubMask)
  io.out.ruleSubMask := ruleSubMask

  private val ruleShifts = RegInit(0.U.asTypeOf(new RuleShiftsRegister))
  map.storage(at.ruleShifts, 0 -> ruleShifts.primary, 8 -> ruleShifts.sub)
  io.out.ruleShifts := ruleShifts

  private val ruleOperand = RegInit(0.U(64.W))
  map.storage(at.ruleOperand, 0 -> ruleOperand)
  io.out.ruleOperand := ruleOperand

  private val ruleNotifyOperand = RegInit(0.U(64.W))
  map.storage(at.ruleNotifyOperand, 0 -> ruleNotifyOperand)
  io.out.ruleNotifyOperand := ruleNotifyOperand

  private val ruleEffectOperand = RegInit(0.U(64.W))
  map.storage(at.ruleEffectOperand, 0 -> ruleEffectOperand)
  io.out.ruleEffectOperand := ruleEffectOperand

  map.command(
    at.ruleCommit,
    io.ruleCommit,
    0 -> io.ruleCommit.bits.pipeline
  )(io.ruleCommit.bits.pipeline < p.nemo.pipelines.U && io.ruleCommitLegal)

  private val ruleHash = RegInit(0.U.asTypeOf(new RuleHashRegister))
  map.storage(at.ruleHash, 0 -> ruleHash.multiplier, 32 -> ruleHash.size)
  io.out.ruleHash := ruleHash

  for (i <- 0 until p.flatChannels) {
    val base = at.flat.first + at.flat.stride * i

    val nearLines = RegInit(0.U.asTypeOf(new FlatNearLinesRegister))
    map.storage(base + at.flat.nearLines, 0 -> nearLines.lines)
    io.out.flat(i).nearLines := nearLines

    val dedicatedStart = RegInit(0.U.asTypeOf(new FlatDedicatedStartRegister))
    map.storage(base + at.flat.dedicatedStart, 12 -> dedicatedStart.page)
    io.out.flat(i).dedicatedStart := dedicatedStart

    val dedicatedEnd = RegInit(0.U.asTypeOf(new FlatDedicatedEndRegister))
    map.storage(base + at.flat.dedicatedEnd, 12 -> dedicatedEnd.page)
    io.out.flat(i).dedicatedEnd := dedicatedEnd

    val policy = RegInit(0.U.asTypeOf(new FlatPolicyRegister))
    map.storage(base + at.flat.policy, 0 -> policy.policy, 32 -> policy.n)
    io.out.flat(i).policy := policy

    map.pulse(
      base + at.flat.control,
      0 -> io.out.flat(i).control.start,
      1 -> io.out.flat(i).control.rearm,
      2 -> io.out.flat(i).control.repair
    )
    map.read(
      base + at.flat.status,
      0 -> io.in.flat(i).status.started,
      1 -> io.in.flat(i).status.ready,
      2 -> io.in.flat(i).status.repairing
    )
    map.read(base + at.flat.untrustedSet, 0 -> io.in.flat(i).untrustedSet.set, 63 -> io.in.flat(i).untrustedSet.valid)
    map.read(base + at.flat.hits, 0 -> io.in.flat(i).hits)
    map.read(base + at.flat.misses, 0 -> io.in.flat(i).misses)
    map.read(base + at.flat.swaps, 0 -> io.in.flat(i).swaps)
    map.read(base + at.flat.nearReads, 0 -> io.in.flat(i).nearReads)
    map.read(base + at.flat.nearWrites, 0 -> io.in.flat(i).nearWrites)
    map.read(base + at.flat.farReads, 0 -> io.in.flat(i).farReads)
    map.read(base + at.flat.farWrites, 0 -> io.in.flat(i).farWrites)
    map.read(base + at.flat.forwarded, 0 -> io.in.flat(i).forwarded)
    map.read(base + at.flat.nearErrors, 0 -> io.in.flat(i).nearErrors)
    map.read(base + at.flat.farErrors, 0 -> io.in.flat(i).farErrors)
    map.read(base + at.flat.marked, 0 -> io.in.flat(i).marked)
    map.read(base + at.flat.poisoned, 0 -> io.in.flat(i).poisoned)
    map.read(base + at.flat.corrected, 0 -> io.in.flat(i).corrected)
    map.read(base + at.flat.untrusted, 0 -> io.in.flat(i).untrusted)
    map.read(base + at.flat.strays, 0 -> io.in.flat(i).strays)
  }

  for (i <- 0 until p.nemo.pipelines) {
    val base = at.pipeline.first + at.pipeline.stride * i
    map.read(base + at.pipeline.matched, 0 -> io.in.pipeline(i).matched)
    map.read(base + at.pipeline.unmapped, 0 -> io.in.pipeline(i).unmapped)
    map.read(base + at.pipeline.outOfRange, 0 -> io.in.pipeline(i).outOfRange)
    map.read(base + at.pipeline.notifications, 0 -> io.in.pipeline(i).notifications)
    map.read(base + at.pipeline.parityErrors, 0 -> io.in.pipeline(i).parityErrors)
    map.read(
      base + at.pipeline.notification,
      0 -> io.in.pipeline(i).notification.valid,
      8 -> io.in.pipeline(i).notification.channel,
      32 -> io.in.pipeline(i).notification.index
    )
    map.pulse(base + at.pipeline.control, 0 -> io.out.pipeline(i).control.clear)
    map.read(base + at.pipeline.status, 0 -> io.in.pipeline(i).status.clearing)
  }

  map.memory(
    at.table,
    p.nemo.pipelines * p.nemo.table,
    io.table,
    io.table.bits.index,
    0 -> io.table.bits.base,
    63 -> io.table.bits.mapped
  )
  map.connect()
}
