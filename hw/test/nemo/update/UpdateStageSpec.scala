// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chiseltest._
import firrtl2.annotations.{CircuitTarget, MemoryArrayInitAnnotation}
import org.scalatest.flatspec.AnyFlatSpec
import scala.collection.mutable
import scala.util.Random

class UpdateStageSpec extends AnyFlatSpec with ChiselScalatestTester {
  private val ops = UpdateOp.ofRules
  private val p =
    NemoParams(pipelines = 2, channels = 1, states = 16, table = 2, addressBits = 16, features = Features(ops = ops))

  /** Line 0 starts with bad parity in every word, line 1 with good parity. There is no other source of bad parity. */
  private val memories = (0 until p.lineWords).map { k =>
    val bank = CircuitTarget("UpdateStage").module(if (k == 0) "Ram1R1W" else s"Ram1R1W_$k")
    MemoryArrayInitAnnotation(bank.ref("memory"), Seq(BigInt(1) << p.wordBits, BigInt(0)))
  }

  private sealed trait Slot
  private case object Idle extends Slot
  private case class Event(line: Int, word: Int, sub: Int) extends Slot
  private case class Read(line: Int, effect: Boolean, word: Option[Int]) extends Slot

  /** Few counters, so that most slots access a word in flight. */
  private def slots(random: Random, w: Int, serialRmw: Boolean): Seq[Slot] = Seq.fill(500) {
    val (line, word) = (random.nextInt(2), random.nextInt(2))
    random.nextInt(8) match {
      case 0                         => Seq(Idle)
      case 1 if random.nextBoolean() => Seq(Read(line, effect = false, None))
      case 1 if serialRmw            => (0 until p.lineWords).map(k => Read(line, effect = true, Some(k)))
      case 1                         => Seq(Read(line, effect = true, None))
      case _                         => Seq(Event(line, word, random.nextInt(8 >> w)))
    }
  }.flatten

  private case class Word(data: BigInt, bad: Boolean)
  private case class Outcome(updated: Option[(BigInt, Int)], good: Boolean, part: Map[Int, Word])

  /** The expected outcome of each slot. `distances` collects the distances at which a word was accessed again, by event
    * or read.
    */
  private def fold(
      slots: Seq[Slot],
      rule: TestRule,
      words: mutable.Map[(Int, Int), Word],
      distances: mutable.Set[(Boolean, Int)]
  ): Seq[Outcome] = {
    val w = rule.counterWidth
    val written = mutable.Map[(Int, Int), Int]()
    val clearsParity = rule.effectKind == ReadEffect.Reset
    def write(at: (Int, Int), word: Word, slot: Int): Unit = { words(at) = word; written(at) = slot }
    for ((slot, i) <- slots.zipWithIndex) yield slot match {
      case Idle => Outcome(None, good = false, Map())
      case Event(line, word, sub) =>
        written.get((line, word)).foreach(at => distances += ((false, i - at)))
        val before = words((line, word))
        val bytes = ((1 << (1 << w)) - 1) << (sub << w)
        val after = Word(PlainFold.word(rule.op, before.data, rule.operand, w, bytes), before.bad)
        write((line, word), after, i)
        val bits = 8 << w
        val value = (after.data >> (sub * bits)) & ((BigInt(1) << bits) - 1)
        Outcome(Some((value << (sub * bits), ((line * p.lineWords + word) * (8 >> w)) + sub)), !before.bad, Map())
      case Read(line, effect, word) =>
        val ks = word.fold[Seq[Int]](0 until p.lineWords)(Seq(_))
        ks.foreach(k => written.get((line, k)).foreach(at => distances += ((true, i - at))))
        val part = ks.map(k => k -> words((line, k))).toMap
        if (effect && rule.effectKind != ReadEffect.None) for (k <- ks) {
          val op = if (clearsParity) UpdateOp.Set else rule.effectOp
          val data = PlainFold.word(op, part(k).data, rule.effectOperand, w, 0xff)
          write((line, k), Word(data, part(k).bad && !clearsParity), i)
        }
        Outcome(None, good = false, part)
    }
  }

  private def load(dut: UpdateStage, rule: TestRule): Unit = {
    def repeated(operand: BigInt) = RuleFields.repeated(operand, rule.counterWidth)
    dut.io.rule.op.poke(rule.op.code)
    dut.io.rule.operand.poke(repeated(rule.operand))
    dut.io.rule.lineOperand.poke(false)
    dut.io.rule.writeOperand.poke(false)
    dut.io.rule.counterWidth.poke(rule.counterWidth)
    dut.io.rule.effectUpdates.poke(rule.effectKind != ReadEffect.None)
    val clearsParity = rule.effectKind == ReadEffect.Reset
    dut.io.rule.clearsParity.poke(clearsParity)
    dut.io.rule.effectOp.poke((if (clearsParity) UpdateOp.Set else rule.effectOp).code)
    dut.io.rule.effectOperand.poke(repeated(rule.effectOperand))
    dut.io.load.poke(true)
    dut.clock.step()
    dut.io.load.poke(false)
  }

  private def offer(dut: UpdateStage, slot: Slot): Unit = {
    dut.io.matched.matched.poke(slot.isInstanceOf[Event])
    dut.io.slot.read.poke(slot.isInstanceOf[Read])
    dut.io.slot.serialRmw.poke(false)
    slot match {
      case Event(line, word, sub) =>
        dut.io.matched.line.poke(line)
        dut.io.matched.word.poke(word)
        dut.io.matched.sub.poke(sub)
      case Read(line, effect, word) =>
        dut.io.slot.target.line.poke(line)
        dut.io.slot.target.effect.poke(effect)
        dut.io.slot.serialRmw.poke(word.isDefined)
        dut.io.slot.word.poke(word.getOrElse(0))
      case Idle =>
    }
  }

  private def stored(word: StateWord): Word = {
    val data = word.data.peekInt()
    Word(data, word.parity.peekInt() != Parity(data, bad = false))
  }
  private def value(value: InFlight): Word = Word(value.data.peekInt(), value.parityError.peekBoolean())

  /** By word, the distance of the youngest slot that has it in flight. */
  private def hits(dut: UpdateStage): Map[Int, Int] = (for {
    d <- UpdateStage.hazardDepth to 1 by -1
    hit = dut.io.contribution.hits(d - 1) if hit.valid.peekBoolean()
    k <- if (hit.wholeLine.peekBoolean()) 0 until p.lineWords else Seq(hit.word.peekInt().toInt)
  } yield k -> d).toMap

  // Resets come last, because they clear all bad parity.
  private val effects = Seq(ReadEffect.None, ReadEffect.Op, ReadEffect.Reset)

  behavior of "UpdateStage"
  it should "fold updates and reads of random slots, in flight or not, good and bad" in {
    test(new UpdateStage(p)).withAnnotations(memories :+ VerilatorBackendAnnotation) { dut =>
      dut.io.disable.poke(false)
      dut.io.clear.valid.poke(false)
      val words = mutable.Map[(Int, Int), Word]().withDefault { case (line, _) => Word(0, line == 0) }
      for (seed <- 1 to 12) withClue(s"seed $seed: ")(run(dut, seed, words))
    }
  }

  /** At least 500 slots of one rule, on the states that the rule before left. */
  private def run(dut: UpdateStage, seed: Int, words: mutable.Map[(Int, Int), Word]): Unit = {
    val random = new Random(seed)
    val rule = TestRule(
      op = ops(seed % ops.size),
      operand = 1 + random.nextInt(5),
      counterWidth = seed % 4,
      effectKind = effects((seed - 1) / 4),
      effectOp = ops((seed + 3) % ops.size),
      effectOperand = random.nextInt(200)
    )
    val all = slots(random, rule.counterWidth, rule.effectKind == ReadEffect.Op)
    val distances = mutable.Set[(Boolean, Int)]()
    val outcomes = fold(all, rule, words, distances)
    assert((for (read <- Seq(false, true); d <- 1 to 5) yield (read, d)).forall(distances), "not every distance is met")
    load(dut, rule)
    val newest = mutable.Map[Int, Map[Int, Int]]()
    val inArray = mutable.Map[Int, Seq[Word]]()
    val passed = mutable.Map[(Int, Int), Word]()
    for (cycle <- 0 until all.size + UpdateStage.latency) {
      offer(dut, all.lift(cycle).getOrElse(Idle))
      for (outcome <- outcomes.lift(cycle - UpdateStage.latency)) {
        dut.io.updated.valid.expect(outcome.updated.isDefined && outcome.good, s"slot ${cycle - UpdateStage.latency}")
        for ((value, index) <- outcome.updated) {
          val bytes = dut.io.updated.bits.byteMask.peekInt()
          val mask = (0 until 8).filter(bytes.testBit).map(k => BigInt(255) << (8 * k)).sum
          assert((dut.io.updated.bits.data.peekInt() & mask) == value, s"cycle $cycle")
          dut.io.updated.bits.index.expect(index)
        }
      }
      val part = dut.io.contribution
      val slot = cycle - UpdateStage.contributionLatency
      newest(slot) = hits(dut)
      passed((slot, 4)) = stored(part.forward4)
      inArray(slot - 1) = part.stored.map(stored)
      passed((slot - 1, 3)) = value(part.forward3)
      passed((slot - 2, 2)) = value(part.forward2)
      passed((slot - 3, 1)) = value(part.forward1)
      // forward1 is the last value to arrive.
      val whole = slot - 3
      for (outcome <- outcomes.lift(whole) if all(whole).isInstanceOf[Read]) {
        val asked = outcome.part
        for (k <- 0 until p.lineWords) {
          val from = newest(whole).get(k).filter(_ => asked.contains(k))
          val seen = from.fold(inArray(whole)(k))(d => passed((whole, d)))
          assert(seen == asked.getOrElse(k, Word(0, bad = false)), s"word $k of slot $whole")
          // Words of a line are read unless they are being written; a single word only if it is not in flight.
          val isRead = from.forall(d => d < UpdateStage.hazardDepth && asked.size > 1)
          assert(isRead || inArray(whole)(k) == Word(0, bad = false), s"word $k of slot $whole was read as well")
        }
      }
      dut.clock.step()
    }
    offer(dut, Idle)
  }
}
