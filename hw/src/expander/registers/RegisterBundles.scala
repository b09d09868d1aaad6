// SPDX-License-Identifier: Apache-2.0
// Generated from hw/regs/anemone.rdl by `make regs`; change that, not this.
package anemone.expander.registers

import anemone.expander.ExpanderParams
import chisel3._

/** Sizes of this configuration. */
class CapabilityRegister extends Bundle {
  val pipelines = UInt(8.W)
  val channels = UInt(8.W)
  val statesLog2 = UInt(8.W)
  val tableLog2 = UInt(8.W)
  val addressBits = UInt(8.W)
  val counterIndexBits = UInt(8.W)
  val flatChannels = UInt(8.W)
}

/** Built-in features, one bit per code. */
class FeaturesRegister extends Bundle {
  val ops = UInt(16.W)
  val widths = UInt(4.W)
  val predicates = UInt(8.W)
  val effects = UInt(4.W)
  val operandSources = UInt(4.W)
  val flatRatio = UInt(4.W)
  val acknowledges = Bool()
  val hash = Bool()
  val flatMemory = Bool()
}

/** Size of the telemetry region. */
class WindowRegister extends Bundle {
  val bytes = UInt(64.W)
}

/** Fields of effect_window and snapshot_window and acknowledge_window. */
class TelemetryWindowRegister extends Bundle {
  val enable = Bool()
  val base = UInt(40.W)
}

/** Whether a reset is safe. */
class QuiesceStatusRegister extends Bundle {
  val quiet = Bool()
}

/** Errors since the last clear; write ones to clear. */
class ErrorStatusRegister extends Bundle {
  val parity = Bool()
  val droppedWrite = Bool()
  val refusedRead = Bool()
  val memoryRead = Bool()
  val memoryWrite = Bool()
  val corrected = Bool()
  val uncorrected = Bool()
  val stray = Bool()
}

/** Which bits of error_status raise interrupt 0. */
class ErrorEnableRegister extends Bundle {
  val parity = Bool()
  val droppedWrite = Bool()
  val refusedRead = Bool()
  val memoryRead = Bool()
  val memoryWrite = Bool()
  val corrected = Bool()
  val uncorrected = Bool()
  val stray = Bool()
}

/** First fault since a reset or fault_control.rearm; an uncorrected one replaces a corrected one. */
class FirstFaultRegister extends Bundle {
  val memory = UInt(8.W)
  val channel = UInt(2.W)
  val uncorrected = Bool()
  val idValid = Bool()
  val setValid = Bool()
  val id = UInt(16.W)
  val valid = Bool()
}

/** The set, or the table entry, of the first fault. */
class FaultSetRegister extends Bundle {
  val line = UInt(47.W)
}

/** Vectors whose cause is pending. */
class InterruptPendingRegister extends Bundle {
  val errors = Bool()
  val pipelines = UInt(32.W)
}

/** Vectors that send messages. */
class InterruptEnableRegister extends Bundle {
  val errors = Bool()
  val pipelines = UInt(32.W)
}

/** Write ones: the vector may send again. */
class InterruptAcknowledgeRegister extends Bundle {
  val errors = Bool()
  val pipelines = UInt(32.W)
}

/** Target of fault_control.inject. */
class FaultInjectRegister extends Bundle {
  val memory = UInt(8.W)
  val channel = UInt(2.W)
  val double = Bool()
}

/** Commands for fault injection and reporting. */
class FaultControlRegister extends Bundle {
  val inject = Bool()
  val rearm = Bool()
}

/** Stops the memory ports, so that a reset finds nothing in flight; like the pin of that name. */
class QuiesceRegister extends Bundle {
  val stop = Bool()
}

/** Behaviour of the rule. */
class RuleControlRegister extends Bundle {
  val enable = Bool()
  val reads = Bool()
  val writes = Bool()
  val near = UInt(2.W)
  val hash = Bool()
  val counterWidth = UInt(2.W)
  val operandSource = UInt(2.W)
  val op = UInt(4.W)
  val notifyOp = UInt(3.W)
  val effectKind = UInt(2.W)
  val effectOp = UInt(4.W)
}

/** First byte address that matches. */
class RuleStartRegister extends Bundle {
  val address = UInt(53.W)
}

/** End (exclusive) of the byte addresses that match. */
class RuleEndRegister extends Bundle {
  val address = UInt(53.W)
}

/** Shifts of key and offset. */
class RuleShiftsRegister extends Bundle {
  val primary = UInt(6.W)
  val sub = UInt(6.W)
}

/** Loads the rule in the registers above into a pipeline; answered when the rule applies. */
class RuleCommitRegister extends Bundle {
  val pipeline = UInt(6.W)
}

/** Hash of the offset: (offset * multiplier mod 2^27) * size >> 27. */
class RuleHashRegister extends Bundle {
  val multiplier = UInt(27.W)
  val size = UInt(25.W)
}

/** Sets (near lines) of the channel. This register and the next two are sampled at the start. */
class FlatNearLinesRegister extends Bundle {
  val lines = UInt(47.W)
}

/** First address of dedicated near memory. */
class FlatDedicatedStartRegister extends Bundle {
  val page = UInt(40.W)
}

/** End (exclusive) of dedicated near memory; there is none if this is not above dedicated_start. */
class FlatDedicatedEndRegister extends Bundle {
  val page = UInt(40.W)
}

/** Which misses swap. May be written at any time; applies from the next decision on. */
class FlatPolicyRegister extends Bundle {
  val policy = UInt(2.W)
  val n = UInt(32.W)
}

/** Commands to the channel's flat memory mode. */
class FlatControlRegister extends Bundle {
  val start = Bool()
  val rearm = Bool()
  val repair = Bool()
}

/** State of the channel's flat memory mode. */
class FlatStatusRegister extends Bundle {
  val started = Bool()
  val ready = Bool()
  val repairing = Bool()
}

/** The first set since a reset, rearm or repair whose sideband failed its check. */
class FlatUntrustedSetRegister extends Bundle {
  val set = UInt(46.W)
  val valid = Bool()
}

/** The first counter for which the predicate held since the last acknowledge. */
class PipelineNotificationRegister extends Bundle {
  val valid = Bool()
  val channel = UInt(2.W)
  val index = UInt(24.W)
}

/** Commands to the pipeline. */
class PipelineControlRegister extends Bundle {
  val clear = Bool()
}

/** State of the pipeline. */
class PipelineStatusRegister extends Bundle {
  val clearing = Bool()
}

/** Entry pipeline << table_log2 | key. Each write changes one entry, between two events. */
class TableEntry extends Bundle {
  val index = UInt(18.W)
  val base = UInt(24.W)
  val mapped = Bool()
}

/** Inputs of one flat. */
class FlatInputs extends Bundle {
  val status = new FlatStatusRegister
  val untrustedSet = new FlatUntrustedSetRegister
  val hits = UInt(64.W)
  val misses = UInt(64.W)
  val swaps = UInt(64.W)
  val nearReads = UInt(64.W)
  val nearWrites = UInt(64.W)
  val farReads = UInt(64.W)
  val farWrites = UInt(64.W)
  val forwarded = UInt(64.W)
  val nearErrors = UInt(64.W)
  val farErrors = UInt(64.W)
  val marked = UInt(64.W)
  val poisoned = UInt(64.W)
  val corrected = UInt(64.W)
  val untrusted = UInt(64.W)
  val strays = UInt(64.W)
}

/** Outputs of one flat. */
class FlatOutputs extends Bundle {
  val nearLines = new FlatNearLinesRegister
  val dedicatedStart = new FlatDedicatedStartRegister
  val dedicatedEnd = new FlatDedicatedEndRegister
  val policy = new FlatPolicyRegister
  val control = new FlatControlRegister
}

/** Inputs of one pipeline. */
class PipelineInputs extends Bundle {
  val matched = UInt(64.W)
  val unmapped = UInt(64.W)
  val outOfRange = UInt(64.W)
  val notifications = UInt(64.W)
  val parityErrors = UInt(64.W)
  val notification = new PipelineNotificationRegister
  val status = new PipelineStatusRegister
}

/** Outputs of one pipeline. */
class PipelineOutputs extends Bundle {
  val control = new PipelineControlRegister
}

/** Values from hardware that software reads. For sticky registers: the bits to set in this cycle. */
class RegisterInputs(p: ExpanderParams) extends Bundle {
  val capability = new CapabilityRegister
  val features = new FeaturesRegister
  val window = new WindowRegister
  val quiesceStatus = new QuiesceStatusRegister
  val errorStatus = new ErrorStatusRegister
  val droppedWrites = UInt(64.W)
  val refusedReads = UInt(64.W)
  val faultsCorrected = UInt(64.W)
  val faultsUncorrected = UInt(64.W)
  val firstFault = new FirstFaultRegister
  val faultSet = new FaultSetRegister
  val interruptPending = new InterruptPendingRegister
  val strayAnswers = UInt(64.W)
  val flat = Vec(p.flatChannels, new FlatInputs)
  val pipeline = Vec(p.nemo.pipelines, new PipelineInputs)
}

/** Values from software: settings, sticky registers, and pulses of one cycle. */
class RegisterOutputs(p: ExpanderParams) extends Bundle {
  val effectWindow = new TelemetryWindowRegister
  val snapshotWindow = new TelemetryWindowRegister
  val acknowledgeWindow = new TelemetryWindowRegister
  val errorStatus = new ErrorStatusRegister
  val errorEnable = new ErrorEnableRegister
  val interruptEnable = new InterruptEnableRegister
  val interruptAcknowledge = new InterruptAcknowledgeRegister
  val faultInject = new FaultInjectRegister
  val faultControl = new FaultControlRegister
  val quiesce = new QuiesceRegister
  val ruleControl = new RuleControlRegister
  val ruleStart = new RuleStartRegister
  val ruleEnd = new RuleEndRegister
  val rulePrimaryMask = UInt(64.W)
  val ruleSubMask = UInt(64.W)
  val ruleShifts = new RuleShiftsRegister
  val ruleOperand = UInt(64.W)
  val ruleNotifyOperand = UInt(64.W)
  val ruleEffectOperand = UInt(64.W)
  val ruleHash = new RuleHashRegister
  val flat = Vec(p.flatChannels, new FlatOutputs)
  val pipeline = Vec(p.nemo.pipelines, new PipelineOutputs)
}
