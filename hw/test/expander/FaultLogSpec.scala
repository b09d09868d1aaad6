// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import chiseltest._
import org.scalatest.flatspec.AnyFlatSpec
import scala.util.Random

class FaultLogSpec extends AnyFlatSpec with ChiselScalatestTester {
  private val sources = Seq(FaultSource(8, 0), FaultSource(17, 1), FaultSource(18, 1))
  private def log = new FaultLog(sources, idBits = 4, lineBits = 6)

  /** A report of a source in one cycle; `id` and `line` if known. */
  private case class Report(source: Int, lost: Boolean, id: Option[Int] = None, line: Option[Int] = None)

  private def drive(dut: FaultLog, now: Report*): Unit = {
    for ((report, k) <- dut.io.reports.zipWithIndex) {
      val found = now.find(_.source == k)
      report.fault.corrected.poke(found.exists(!_.lost))
      report.fault.uncorrected.poke(found.exists(_.lost))
      report.id.valid.poke(found.exists(_.id.nonEmpty))
      report.id.bits.poke(found.flatMap(_.id).getOrElse(3))
      report.line.valid.poke(found.exists(_.line.nonEmpty))
      report.line.bits.poke(found.flatMap(_.line).getOrElse(5))
    }
    dut.clock.step()
  }
  private def settle(dut: FaultLog): Unit = for (_ <- 0 until 6) drive(dut)
  private def start(dut: FaultLog): Unit = { settle(dut); rearm(dut) }
  private def rearm(dut: FaultLog, now: Report*): Unit = {
    dut.io.rearm.poke(true)
    drive(dut, now: _*)
    dut.io.rearm.poke(false)
  }

  private def first(dut: FaultLog): Option[Report] = {
    val first = dut.io.first
    Option.when(first.valid.peekBoolean()) {
      val source = sources.indexOf(FaultSource(first.memory.peekInt().toInt, first.channel.peekInt().toInt))
      Report(
        source,
        first.uncorrected.peekBoolean(),
        Option.when(first.idValid.peekBoolean())(first.id.peekInt().toInt),
        Option.when(first.setValid.peekBoolean())(dut.io.set.line.peekInt().toInt)
      )
    }
  }

  behavior of "FaultLog"

  it should "count all of a cycle and keep one of them, an uncorrected one before others, and whose it was" in {
    test(log) { dut =>
      start(dut)
      assert(first(dut).isEmpty)
      val (corrected, lost) = (Report(0, lost = false, id = Some(7)), Report(2, lost = true, line = Some(33)))
      drive(dut, corrected, Report(1, lost = false), lost)
      settle(dut)
      dut.io.corrected.expect(2)
      dut.io.uncorrected.expect(1)
      assert(first(dut).contains(lost))
    }
  }

  it should "keep the first, until one comes that was not corrected, and forget it when it is told to" in {
    test(log) { dut =>
      start(dut)
      val (one, two) = (Report(1, lost = false, id = Some(9)), Report(0, lost = false, id = Some(2)))
      for (
        (now, kept) <- Seq(
          one -> one,
          two -> one,
          two.copy(lost = true) -> two.copy(lost = true),
          one -> two.copy(lost = true),
          one.copy(lost = true) -> two.copy(lost = true)
        )
      ) {
        drive(dut, now)
        settle(dut)
        assert(first(dut).contains(kept))
      }
      rearm(dut)
      assert(first(dut).isEmpty)
      drive(dut, one)
      settle(dut)
      assert(first(dut).contains(one))
    }
  }

  it should "lose none that comes amid a command to forget, whatever cycles lie between" in {
    for (distance <- -1 to 6) test(log) { dut =>
      start(dut)
      val (old, fresh) = (Report(0, lost = true, id = Some(1)), Report(2, lost = false, line = Some(8)))
      drive(dut, old)
      settle(dut)
      if (distance < 0) { rearm(dut); drive(dut, fresh) }
      else {
        drive(dut, fresh)
        for (_ <- 0 until distance) drive(dut)
        rearm(dut)
      }
      settle(dut)
      dut.io.corrected.expect(1)
      dut.io.uncorrected.expect(1)
      // A rearm forgets all faults counted by then; the new fault is counted four cycles after its report.
      val kept = first(dut)
      assert(kept.isEmpty || kept.contains(fresh), s"$distance: $kept")
      assert((distance > 3) == kept.isEmpty, s"$distance: $kept")
    }
  }

  it should "count every report, and in its own cycle say that there is one" in {
    test(log) { dut =>
      val random = new Random(1)
      start(dut)
      var (corrected, lost) = (0, 0)
      for (_ <- 0 until 2000) {
        val now = sources.indices.filter(_ => random.nextInt(3) == 0).map(Report(_, random.nextBoolean()))
        drive(dut, now: _*)
        dut.io.anyCorrected.expect(now.exists(!_.lost))
        dut.io.anyUncorrected.expect(now.exists(_.lost))
        corrected += now.count(!_.lost)
        lost += now.count(_.lost)
      }
      settle(dut)
      dut.io.corrected.expect(corrected)
      dut.io.uncorrected.expect(lost)
    }
  }

  it should "stop at the most it can count" in {
    test(new FaultLog(sources, idBits = 4, lineBits = 6, countBits = 3)) { dut =>
      start(dut)
      for (k <- 1 to 5) {
        drive(dut, sources.indices.map(Report(_, lost = true)): _*)
        settle(dut)
        dut.io.uncorrected.expect((3 * k).min(7))
      }
      dut.io.corrected.expect(0)
    }
  }
}
