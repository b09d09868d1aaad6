// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chiseltest._

/** A rule of a bench. The defaults count all accesses by 4 KiB page. */
case class TestRule(
    op: UpdateOp = UpdateOp.Add,
    operand: BigInt = 1,
    counterWidth: Int = 3,
    primaryShift: Int = 12,
    subMask: BigInt = 0,
    subShift: Int = 0,
    notifyOp: Int = Predicate.None,
    notifyOperand: BigInt = 0,
    effectKind: Int = ReadEffect.None,
    effectOp: UpdateOp = UpdateOp.Add,
    effectOperand: BigInt = 0
)

/** Drives a [[TelemetryEngine]] at its ports. */
class EngineBench(val dut: TelemetryEngine, val p: NemoParams) {
  dut.clock.setTimeout(200)

  /** Resets with idle inputs, and waits for the clear after reset. */
  def reset(): Unit = {
    (0 until p.channels).foreach { c =>
      event(c, None)
      noRead(c)
    }
    dut.io.rule.valid.poke(false)
    dut.io.table.valid.poke(false)
    dut.io.clear.valid.poke(false)
    dut.io.rearm.foreach(_.poke(false))
    dut.reset.asBool.poke(true)
    dut.clock.step()
    dut.reset.asBool.poke(false)
    while (dut.io.status.exists(_.clearing.peekBoolean())) dut.clock.step()
  }

  def load(pipeline: Int, rule: TestRule): Unit = {
    offer(pipeline, rule)
    while (!dut.io.rule.ready.peekBoolean()) dut.clock.step()
    dut.clock.step()
    dut.io.rule.valid.poke(false)
  }

  def offer(pipeline: Int, rule: TestRule): Unit = {
    val bits = dut.io.rule.bits
    bits.pipeline.poke(pipeline)
    bits.rule.enable.poke(true)
    bits.rule.reads.poke(true)
    bits.rule.writes.poke(true)
    bits.rule.start.poke(0)
    bits.rule.end.poke(BigInt(1) << p.addressBits)
    bits.rule.primaryMask.poke((BigInt(1) << p.addressBits) - 1)
    bits.rule.primaryShift.poke(rule.primaryShift)
    bits.rule.subMask.poke(rule.subMask)
    bits.rule.subShift.poke(rule.subShift)
    bits.rule.op.poke(rule.op.code)
    bits.rule.operandSource.poke(OperandSource.Immediate)
    bits.rule.operand.poke(rule.operand)
    bits.rule.counterWidth.poke(rule.counterWidth)
    bits.rule.notifyOp.poke(rule.notifyOp)
    bits.rule.notifyOperand.poke(rule.notifyOperand)
    bits.rule.effectKind.poke(rule.effectKind)
    bits.rule.effectOp.poke(rule.effectOp.code)
    bits.rule.effectOperand.poke(rule.effectOperand)
    dut.io.rule.valid.poke(true)
  }

  def map(pipeline: Int, key: Int, base: Int): Unit = {
    dut.io.table.valid.poke(true)
    dut.io.table.bits.pipeline.poke(pipeline)
    dut.io.table.bits.key.poke(key)
    dut.io.table.bits.base.poke(base)
    dut.io.table.bits.mapped.poke(true)
    dut.io.table.ready.expect(true)
    dut.clock.step()
    dut.io.table.valid.poke(false)
  }

  /** Offers an event in the coming cycle, or none. */
  def event(channel: Int, address: Option[BigInt]): Unit = {
    dut.io.events(channel).valid.poke(address.isDefined)
    address.foreach(dut.io.events(channel).bits.address.poke(_))
  }

  def read(channel: Int, pipeline: Int, line: Int, effect: Boolean): Unit = {
    dut.io.reads(channel).valid.poke(true)
    dut.io.reads(channel).bits.pipeline.poke(pipeline)
    dut.io.reads(channel).bits.line.poke(line)
    dut.io.reads(channel).bits.effect.poke(effect)
  }

  def noRead(channel: Int): Unit = dut.io.reads(channel).valid.poke(false)

  def words(channel: Int): Seq[BigInt] = dut.io.lines(channel).bits.words.map(_.peekInt())

  /** Reads one line, and returns its words and the cycles it took. */
  def line(channel: Int, pipeline: Int, line: Int, effect: Boolean = false): (Seq[BigInt], Int) = {
    read(channel, pipeline, line, effect)
    dut.io.reads(channel).ready.expect(true)
    dut.clock.step()
    noRead(channel)
    var cycles = 1
    while (!dut.io.lines(channel).valid.peekBoolean()) {
      dut.clock.step()
      cycles += 1
    }
    dut.io.lines(channel).bits.poison.expect(false)
    (words(channel), cycles)
  }
}
