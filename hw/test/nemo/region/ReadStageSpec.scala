// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chiseltest._
import org.scalatest.flatspec.AnyFlatSpec
import scala.collection.mutable
import scala.util.Random

class ReadStageSpec extends AnyFlatSpec with ChiselScalatestTester {
  private val p = NemoParams(pipelines = 2, channels = 1, states = 32, table = 2)

  /** A word of a contribution, from the array (0) or from the slot so many before. */
  private case class Word(from: Int, data: BigInt, bad: Boolean)

  /** `hits`: by distance, the word that the slot before has in flight, or none for the whole line. */
  private case class Part(
      pipeline: Int,
      serialRmw: Boolean,
      word: Int,
      words: Map[Int, Word],
      hits: Map[Int, Option[Int]]
  )

  /** A read's slots. `passing` is the one value in flight of a pipeline's slot. Within a serial RMW the slot before is
    * its own word before, so only the first word can hit at distance 1.
    */
  private def random(of: Random, first: Int, passing: (Int, Int) => (BigInt, Boolean)): Seq[Part] = {
    val pipeline = of.nextInt(p.pipelines)
    def part(ks: Seq[Int], at: Int, serialRmw: Boolean): Part = {
      val hits = (for (d <- 1 to UpdateStage.hazardDepth if d > 1 || at == first) yield of.nextInt(5) match {
        case 0     => Some(d -> None)
        case 1 | 2 => Some(d -> Some(ks(of.nextInt(ks.size))))
        case _     => None
      }).flatten.toMap
      val words = ks.map { k =>
        val from = (1 to UpdateStage.hazardDepth).find(d => hits.get(d).exists(_.forall(_ == k))).getOrElse(0)
        val (data, bad) = if (from == 0) (BigInt(64, of), of.nextInt(12) == 0) else passing(pipeline, at - from)
        k -> Word(from, data, bad)
      }.toMap
      Part(pipeline, serialRmw, ks.head, words, hits)
    }
    if (of.nextInt(3) > 0) Seq(part(0 until p.lineWords, first, serialRmw = false))
    else (0 until p.lineWords).map(k => part(Seq(k), first + k, serialRmw = true))
  }

  behavior of "ReadStage"
  for (seed <- 1 to 4)
    it should s"join what pipelines have of a line, gather serial RMW, and keep poison to its line, seed $seed" in {
      test(new ReadStage(p)) { dut =>
        val of = new Random(seed)
        val values = mutable.Map[(Int, Int), (BigInt, Boolean)]()
        def passing(pipeline: Int, slot: Int) =
          values.getOrElseUpdate((pipeline, slot), (BigInt(64, of), of.nextInt(12) == 0))
        val slots = mutable.Buffer[Option[Part]]()
        for (_ <- 0 until 60) slots ++= (
          if (of.nextInt(4) == 0) Seq(None) else random(of, slots.size, passing).map(Option(_))
        )
        val expected = mutable.Queue[(Int, Int, Seq[BigInt], Boolean)]()
        var gathered = Seq[Word]()
        for ((slot, cycle) <- slots.zipWithIndex; part <- slot) {
          gathered = if (part.serialRmw && part.word > 0) gathered else Seq()
          gathered ++= part.words.toSeq.sortBy(_._1).map(_._2)
          if (gathered.size == p.lineWords)
            expected.enqueue((cycle + ReadStage.latency, part.pipeline, gathered.map(_.data), gathered.exists(_.bad)))
        }
        for (cycle <- 0 until slots.size + ReadStage.latency) {
          val slot = slots.lift(cycle).flatten
          dut.io.slot.read.poke(slot.isDefined)
          dut.io.slot.serialRmw.poke(slot.exists(_.serialRmw))
          dut.io.slot.word.poke(slot.fold(0)(_.word))
          dut.io.slot.target.pipeline.poke(slot.fold(0)(_.pipeline))
          def arrived(later: Int) = slots.lift(cycle - UpdateStage.contributionLatency - later).flatten
          for ((part, i) <- dut.io.contributions.zipWithIndex) {
            def ofPipeline(later: Int) = arrived(later).filter(_.pipeline == i)
            def forwards(later: Int, d: Int) = ofPipeline(later).exists(_.hits.contains(d))
            // Lanes that are not read, and values that are not in flight, are zero.
            def value(later: Int, d: Int) =
              if (forwards(later, d)) passing(i, cycle - UpdateStage.contributionLatency - later - d)
              else (BigInt(0), false)
            for (
              d <- 1 to UpdateStage.hazardDepth; port = part.hits(d - 1); hit = ofPipeline(0).flatMap(_.hits.get(d))
            ) {
              port.valid.poke(hit.isDefined)
              port.wholeLine.poke(hit.exists(_.isEmpty))
              port.word.poke(hit.flatten.getOrElse(0))
            }
            val (data, bad) = value(0, 4)
            part.forward4.data.poke(data)
            part.forward4.parity.poke(Parity(data, bad))
            for (k <- 0 until p.lineWords) {
              // Words in flight from distance 1 to 3 are stored with an old value, of good or bad parity.
              val word = ofPipeline(1).flatMap(_.words.get(k)).filter(_.from < UpdateStage.hazardDepth).map { word =>
                if (word.from == 0) word else Word(0, BigInt(64, of), of.nextBoolean())
              }
              part.stored(k).data.poke(word.fold(BigInt(0))(_.data))
              part.stored(k).parity.poke(word.fold(0)(w => Parity(w.data, w.bad)))
            }
            for ((port, later, d) <- Seq((part.forward3, 1, 3), (part.forward2, 2, 2), (part.forward1, 3, 1))) {
              val (data, bad) = value(later, d)
              port.data.poke(data)
              port.parityError.poke(bad)
            }
          }
          dut.io.line.valid.expect(expected.headOption.exists(_._1 == cycle), s"cycle $cycle")
          if (expected.headOption.exists(_._1 == cycle)) {
            val (_, pipeline, words, poison) = expected.dequeue()
            dut.io.pipeline.expect(pipeline)
            dut.io.line.bits.poison.expect(poison, s"cycle $cycle")
            for (k <- 0 until p.lineWords) dut.io.line.bits.words(k).expect(words(k), s"cycle $cycle, word $k")
          }
          dut.clock.step()
        }
        assert(expected.isEmpty)
      }
    }
}
