// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{Axi4, Axi4Params}
import anemone.nemo.NemoParams
import chiseltest._
import org.scalatest.flatspec.AnyFlatSpec
import scala.collection.mutable
import scala.util.Random

class ReadyLinesSpec extends AnyFlatSpec with ChiselScalatestTester {
  private val p = ExpanderParams(
    NemoParams(pipelines = 2, channels = 1, states = 64, table = 16),
    Axi4Params(idBits = 4),
    telemetryReads = 64,
    readsInFlight = 64
  )

  /** A line that is here, and since when. */
  private case class Here(read: PlainRead, since: Int)

  /** Random reads; each cycle's outputs are those of the plain reference. What they met. */
  private def play(dut: ReadyLines, load: Load, random: Random): Seq[Int] = {
    def maybe(chance: Double) = random.nextDouble() < chance
    val reads = new PlainReads(load, random)
    val outside = mutable.Buffer[PlainRead]() // lines that have not come
    val here = mutable.Buffer[Here]()
    val coming = mutable.Queue[Option[PlainRead]](None, None) // whose data follow
    var (cycle, number, left, atOnce, waited, full, raced) = (0, 0, 0, 0, 0, 0, 0)
    while (cycle < 400 || reads.count > 0) {
      assert(cycle < 4000, "a line was lost")
      if (cycle < 400 && maybe(load.reads) && reads.count < p.readsInFlight) {
        val memory = maybe(load.memory)
        val resp = if (maybe(load.refused)) Axi4.Resp.SlvErr else Axi4.Resp.Okay
        val read =
          new PlainRead(random.nextInt(load.ids), memory, cycle + 1 + random.nextInt(load.latency), number, resp)
        number += 1
        reads.issue(read)
        if (!memory) outside += read
      }

      // In, in any order: those that are next, or soon while there are places for others.
      if (here.length == ReadyLines.places) full += 1
      val most = if (here.length < ReadyLines.places - ReadyLines.reserved) ReadyLines.ahead else 0
      val may = outside.filter(read => here.length < ReadyLines.places && reads.ahead(read) <= most)
      val in = Option.when(may.nonEmpty && maybe(load.taken))(may(random.nextInt(may.length)))
      dut.io.in.valid.poke(in.nonEmpty)
      for (read <- in) {
        outside -= read
        read.poke(dut.io.in.bits.beat)
        dut.io.in.bits.ahead.poke(reads.ahead(read))
      }
      coming.enqueue(in)
      dut.io.data.poke(coming.dequeue().fold(BigInt(513, random)) { read =>
        read.data + (BigInt(if (read.poison) 1 else 0) << 512)
      })

      // Out: one of those that are next and have been here for three cycles.
      val next = here.filter(line => reads.ahead(line.read) == 0)
      val ready = next.filter(_.since + 3 <= cycle)
      if (ready.length > 1) atOnce += 1
      dut.io.out.valid.expect(ready.nonEmpty, "a line leaves if, and only if, one has its turn")
      val offers = reads.memoryOffers(cycle)
      dut.io.memoryId.poke(offers.getOrElse(random.nextInt(1 << p.memory.idBits)))
      val waits = offers.exists(id => !reads.first(id).get.memory)
      for (id <- offers) dut.io.memoryWaits.expect(next.exists(_.read.id == id), s"memory's answer of id $id")
      val taken = maybe(load.taken)
      val passes = offers.nonEmpty && !waits
      dut.io.out.ready.poke(taken && !passes)
      val leaving = Option.when(ready.nonEmpty) {
        val id = dut.io.out.bits.id.peekInt().toInt
        val line = ready.find(_.read.id == id)
        assert(line.nonEmpty, s"a line of id $id that is not next")
        line.get.read.expect(dut.io.out.bits)
        line.get
      }
      val answer = if (passes) offers else leaving.map(_.read.id)
      dut.io.answer.valid.poke(taken && answer.nonEmpty)
      dut.io.answer.bits.poke(answer.getOrElse(random.nextInt(1 << p.memory.idBits)))
      if (taken) {
        if (in.exists(read => answer.contains(read.id))) raced += 1
        answer.foreach(reads.answer)
        for (line <- leaving if !passes) {
          here -= line
          left += 1
          for (other <- ready if other != line) {
            other.read.passed += 1
            assert(other.read.passed < ReadyLines.places, "a line is passed by others again and again")
          }
          if (line.since + 10 < cycle) waited += 1
        }
      }
      here ++= in.map(Here(_, cycle))
      dut.clock.step()
      cycle += 1
    }
    Seq(left, atOnce, waited, full, raced)
  }

  behavior of "ReadyLines"
  it should "let a line go if and only if it has its turn, by turns, three cycles after it came" in {
    test(new ReadyLines(p)).withAnnotations(Seq(VerilatorBackendAnnotation)) { dut =>
      val met = for (seed <- 1 to 60) yield {
        val random = new Random(seed)
        val load = Load.random(random, 1 << p.memory.idBits)
        withClue(s"seed $seed, $load: ")(play(dut, load, random))
      }
      info(s"seeds 1 to 60: ${met.transpose.map(_.sum)}")
      assert(met.transpose.forall(_.sum > 100), "left, several at once, waited, full, answered as they came")
    }
  }
}
