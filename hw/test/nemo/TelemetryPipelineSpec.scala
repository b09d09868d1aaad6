// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chiseltest._
import org.scalatest.flatspec.AnyFlatSpec
import scala.util.Random

/** A pipeline, with the slot delay that a channel has. */
class PipelineBench(p: NemoParams) extends Module {
  private val pipeline = Module(new TelemetryPipeline(p))
  val io = IO(chiselTypeOf(pipeline.io))
  io <> pipeline.io
  pipeline.io.delayedSlots := VecInit(io.slots.map(Slot.delayed(_, MatchStage.latency(p) - 1)))
}

class TelemetryPipelineSpec extends AnyFlatSpec with ChiselScalatestTester {
  private val p = NemoParams(pipelines = 1, channels = 2, states = 16, table = 4, addressBits = 10)
  private val end = BigInt(1) << p.addressBits

  /** Cycles from a slot to its effect on `status`. */
  private val matchedLag = MatchStage.latency(p) + 2
  private val holdsLag = TelemetryLane.latency(p) + 1

  private case class Latch(index: Int, channel: Int)

  private def start(dut: PipelineBench): Unit = {
    dut.reset.poke(true.B)
    dut.io.clear.poke(false)
    dut.io.rearm.poke(false)
    dut.io.table.valid.poke(false)
    dut.io.poisoned.foreach(_.poke(false))
    dut.io.slots.foreach { slot => slot.event.poke(false); slot.read.poke(false) }
    dut.clock.step()
    dut.reset.poke(false.B)
    settle(dut)
    val rule = dut.io.rule
    Seq(rule.enable, rule.reads, rule.writes).foreach(_.poke(true))
    rule.end.poke(end)
    RuleFields.poke(rule.key, 0, 0, p.keyBits, p.keyBits)
    RuleFields.poke(rule.offset, end - 1, 7, p.indexBits, p.indexBits)
    rule.op.poke(UpdateOp.Add.code)
    rule.operand.poke(1)
    rule.counterWidth.poke(3)
    rule.notifyOp.poke(Predicate.GreaterEqual)
    rule.notifyOperand.poke(0)
    dut.io.load.poke(true)
    dut.clock.step()
    dut.io.load.poke(false)
    dut.clock.step(TelemetryLane.latency(p))
    map(dut)
  }

  private def map(dut: PipelineBench): Unit = {
    dut.io.table.valid.poke(true)
    dut.io.table.bits.mapped.poke(true)
    dut.clock.step()
    dut.io.table.valid.poke(false)
  }

  /** Waits for the end of a clear, and returns the cycles it took. */
  private def settle(dut: PipelineBench): Int = {
    var cycles = 0
    while (dut.io.status.clearing.peekBoolean()) {
      dut.clock.step()
      cycles += 1
    }
    cycles
  }

  private def event(dut: PipelineBench, channel: Int, index: Option[Int]): Unit = {
    dut.io.slots(channel).event.poke(index.isDefined)
    index.foreach(i => dut.io.slots(channel).request.address.poke(i << 7 | channel << 6))
  }

  behavior of "TelemetryPipeline"
  it should "count every update, latch the first since the acknowledge, and clear" in {
    // Treadle takes minutes to load a whole pipeline.
    test(new PipelineBench(p)).withAnnotations(Seq(VerilatorBackendAnnotation)) { dut =>
      start(dut)
      for (seed <- 1 to 12) withClue(s"seed $seed: ") {
        val random = new Random(seed)
        latch(dut, random)
        clear(dut, random)
      }
    }
  }

  /** Random events on both channels and re-arms. Some runs have few events, so that a re-arm finds the latch empty. */
  private def latch(dut: PipelineBench, random: Random): Unit = {
    val rate = Seq(2, 9, 40)(random.nextInt(3))
    val slots = Seq.fill(150)(Seq.fill(2)(Option.when(random.nextInt(rate) == 0)(random.nextInt(8))))
    val none = Seq(None, None)
    def before(cycle: Int, lag: Int) = slots.lift(cycle - lag).getOrElse(none)
    var latch = Option.empty[Latch]
    var (matched, notifications) = (0, 0)
    for (cycle <- 0 until slots.size + holdsLag) {
      (0 to 1).foreach(c => event(dut, c, slots.lift(cycle).getOrElse(none)(c)))
      matched += before(cycle, matchedLag).count(_.isDefined)
      notifications += before(cycle, holdsLag + 1).count(_.isDefined)
      val status = dut.io.status
      status.matched.expect(matched, s"cycle $cycle")
      status.notifications.expect(notifications, s"cycle $cycle")
      status.notified.expect(latch.isDefined, s"cycle $cycle")
      latch.foreach { first =>
        status.notifiedIndex.expect(first.index, s"cycle $cycle")
        status.notifiedChannel.expect(first.channel, s"cycle $cycle")
      }
      val acknowledge = random.nextInt(8) == 0
      dut.io.rearm.poke(acknowledge)
      if (acknowledge) latch = None
      val hits = before(cycle, holdsLag - 1).zipWithIndex.collect { case (Some(i), c) => Latch(i, c) }
      latch = latch.orElse(hits.headOption)
      dut.clock.step()
    }
    dut.io.rearm.poke(false)
  }

  /** Two clears amid events, the second before the first ends. No earlier event and no table entry is left. */
  private def clear(dut: PipelineBench, random: Random): Unit = {
    val steps = Seq(p.table, p.lines, TelemetryPipeline.drain).max
    def begin(): Unit = {
      dut.io.clear.poke(true)
      (0 to 1).foreach(event(dut, _, Some(3)))
      dut.clock.step()
      dut.io.clear.poke(false)
    }
    begin()
    for (_ <- 0 until random.nextInt(steps)) dut.clock.step()
    begin()
    assert(settle(dut) == steps)
    (0 to 1).foreach(event(dut, _, None))
    dut.clock.step(holdsLag + 1)
    val status = dut.io.status
    Seq(status.matched, status.notifications, status.unmapped, status.outOfRange).foreach(_.expect(0))
    status.notified.expect(false)
    event(dut, 0, Some(3))
    dut.clock.step()
    event(dut, 0, None)
    dut.clock.step(matchedLag)
    status.matched.expect(0)
    status.unmapped.expect(1)
    // Clear again, so that the next seed starts empty.
    begin()
    (0 to 1).foreach(event(dut, _, None))
    settle(dut)
    dut.clock.step(holdsLag + 1)
    map(dut)
  }
}
