// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chiseltest._
import org.scalatest.flatspec.AnyFlatSpec
import scala.collection.mutable
import scala.util.Random

class MatchStageSpec extends AnyFlatSpec with ChiselScalatestTester {
  private val plain = NemoParams(pipelines = 1, channels = 1, states = 64, table = 16, addressBits = 20)

  /** Addresses have more bits than what is hashed. */
  private val hashing = plain.copy(addressBits = 34, features = Features(hash = true))

  private sealed trait Outcome
  private case object Ignored extends Outcome
  private case object Unmapped extends Outcome
  private case class Bad(key: Int) extends Outcome
  private case object OutOfRange extends Outcome
  private case class Counter(index: Int) extends Outcome

  private def outcome(dut: MatchStage, w: Int): Outcome = {
    val (p, result) = (dut.p, dut.io.result)
    val flags = Seq(result.matched, result.unmapped, result.outOfRange).map(_.peekBoolean())
    assert(flags.count(identity) <= 1)
    if (flags(0)) {
      val word = (result.line.peekInt() * p.lineWords + result.word.peekInt()).toInt
      Counter(word * (8 >> w) + result.sub.peekInt().toInt)
    } else if (flags(1) && result.parityError.peekBoolean()) Bad(result.key.peekInt().toInt)
    else if (flags(1)) Unmapped
    else if (flags(2)) OutOfRange
    else Ignored
  }

  behavior of "MatchStage"
  for ((some, p) <- Seq("" -> plain, ", some by a hash" -> hashing))
    it should s"find the counter of every event while its table changes$some" in {
      val (bits, space) = (p.addressBits, 1L << p.addressBits)
      test(new MatchStage(p)).withAnnotations(Seq(VerilatorBackendAnnotation)) { dut =>
        for (seed <- 1 to 24) {
          info(s"seed $seed")
          val random = new Random(seed)
          def below(end: Long): Long = (random.nextLong() & Long.MaxValue) % end
          def mask() = random.nextInt(3) match {
            case 0 => space - 1
            case 1 => below(space)
            case _ => 0xfL << random.nextInt(bits - 3)
          }
          val (reads, writes, w) = (random.nextInt(4) > 0, random.nextInt(4) > 0, seed % 4)
          val (start, end) =
            if (seed % 3 == 0) (below(space / 2), space / 2 + below(space / 2)) else (0L, space)
          val (primary, primaryShift) = (mask(), Seq(bits - 4, bits - 6, bits - 3, 0, 63)(random.nextInt(5)))
          val hashes = p.features.hash && seed % 2 == 0
          val (multiplier, size) = (random.nextInt(1 << 27) | 1, 1 + random.nextInt(p.states * (8 >> w)))
          val shifts = if (hashes) Seq(0, 3, 6, 7, 12, 63) else Seq(bits - 8, bits - 6, bits - 4, 63)
          val (sub, subShift) = (mask(), shifts(random.nextInt(shifts.size)))
          val offsetBits = if (hashes) HashStage.bits else p.indexBits
          val rule = dut.io.rule
          rule.enable.poke(true)
          rule.reads.poke(reads)
          rule.writes.poke(writes)
          rule.start.poke(start)
          rule.end.poke(end)
          RuleFields.poke(rule.key, primary, primaryShift, p.keyBits, p.keyBits)
          RuleFields.poke(rule.offset, sub, subShift, offsetBits, p.indexBits)
          val (one, all) = HashStage.identity(p)
          rule.hashMultiplier.foreach(_.poke(if (hashes) BigInt(multiplier) else one))
          rule.hashSize.foreach(_.poke(if (hashes) BigInt(size) else all))
          rule.counterWidth.poke(w)
          // Drain the events of the seed before.
          dut.io.slot.event.poke(false)
          dut.clock.step(MatchStage.latency(p))
          dut.io.disable.poke(false)
          dut.io.load.poke(true)
          dut.clock.step()
          dut.io.load.poke(false)

          val counters = p.states * (8 >> w)
          val table = Array.fill[Option[Int]](p.table)(None)
          val broken = mutable.Set[Int]()
          val expected = mutable.Queue.fill[Outcome](MatchStage.latency(p))(Ignored)
          for (key <- 0 until p.table) {
            dut.io.table.valid.poke(true)
            dut.io.table.bits.key.poke(key)
            dut.io.table.bits.mapped.poke(false)
            dut.io.flips.poke(0)
            dut.clock.step()
          }
          for (cycle <- 0 until 600) {
            val (event, write) = (random.nextInt(8) > 0, random.nextBoolean())
            // Often the key that is being written, so that write and lookup share a cycle.
            val key = random.nextInt(p.table)
            val ofKey = random.nextBoolean()
            val address = if (ofKey) (key.toLong << primaryShift.min(bits - 4)) & (space - 1) else below(space)
            val change = random.nextInt(3) == 0
            dut.io.table.valid.poke(change)
            val flips = if (random.nextInt(8) > 0) 0 else random.nextInt(4)
            dut.io.flips.poke(flips)
            if (change) {
              val base = random.nextInt(counters + counters / 8 + 2)
              val mapped = random.nextInt(4) > 0
              broken -= key
              table(key) = if (mapped) Some(base) else None
              dut.io.table.bits.key.poke(key)
              dut.io.table.bits.base.poke(base)
              dut.io.table.bits.mapped.poke(mapped)
            }
            dut.io.slot.event.poke(event)
            dut.io.slot.request.address.poke(address)
            dut.io.slot.request.write.poke(write)
            val field = BigInt(address & primary) >> primaryShift
            val entry = (field % p.table).toInt
            val offset = BigInt(address & sub) >> subShift
            val overflows = hashes && offset >= (BigInt(1) << 27)
            val index = if (hashes) ((offset * multiplier) % (1 << 27)) * size / (1 << 27) else offset
            expected.enqueue(
              if (!event || !(if (write) writes else reads) || address < start || address >= end) Ignored
              else if (broken(entry)) Bad(entry)
              else if (field >= p.table || table(entry).isEmpty) Unmapped
              else if (overflows || index + table(entry).get >= counters) OutOfRange
              else Counter(table(entry).get + index.toInt)
            )
            // The event of the write's own cycle gets the forwarded entry, without the flips.
            if (change && flips > 0) broken += key
            assert(outcome(dut, w) == expected.dequeue(), s"seed $seed, cycle $cycle")
            dut.clock.step()
          }
        }
      }
    }
}
