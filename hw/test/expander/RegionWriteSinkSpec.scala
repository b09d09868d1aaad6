// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{Axi4, Axi4Params}
import anemone.nemo.NemoParams
import chiseltest._
import chiseltest.internal.CachingAnnotation
import org.scalatest.flatspec.AnyFlatSpec
import scala.collection.mutable
import scala.util.Random

class RegionWriteSinkSpec extends AnyFlatSpec with ChiselScalatestTester {

  // A code is slow to interpret; tests of one configuration share what was compiled.
  private val compiled = Seq(VerilatorBackendAnnotation, CachingAnnotation)
  private val ids = 4
  private val p = ExpanderParams(
    NemoParams(pipelines = 2, channels = 1, states = 64, table = 16),
    Axi4Params(idBits = 2),
    telemetryReads = 4,
    readsInFlight = 4,
    writesInFlight = 8,
    regionWrites = 4
  )

  /** A write, and the cycles in which it was granted, done and answered. `acts`: it acknowledges a line. */
  private class Write(
      val number: Int,
      val id: Int,
      val region: Boolean,
      val acts: Boolean,
      val beats: Int,
      random: Random
  ) {
    val refused: Boolean = region && random.nextInt(5) == 0
    val poisoned: Boolean = random.nextInt(5) == 0
    val full: Boolean = acts || random.nextInt(2) == 0
    val asks: Boolean = acts && !refused && !poisoned && random.nextInt(6) > 0
    // Full lines that do not acknowledge, and partial lines of writes that would.
    val strobes: BigInt = if (if (acts) asks || refused || poisoned else full) (BigInt(1) << 64) - 1 else number
    var granted, done, answered = Option.empty[Int]
    var resp: Int = if (!region) beats else if (acts && refused) Axi4.Resp.DecErr else if (acts && poisoned) 2 else 0
  }

  private def start(dut: RegionWriteSink): Unit = {
    val io = dut.io
    (io.inject.map(_.valid) ++ Seq(io.granted.valid, io.region.valid, io.data.valid, io.memoryResponse.valid))
      .foreach(_.poke(false))
    Seq(io.acknowledge.ready, io.acknowledged.valid).foreach(_.poke(false))
    Seq(io.memoryData.ready, io.response.ready).foreach(_.poke(true))
    io.data.bits.last.poke(true)
    dut.clock.step(ids + 2)
  }

  /** Sends `count` writes until all are answered, and checks every handshake of every cycle. Returns how often each case
    * was seen.
    */
  private def runTraffic(dut: RegionWriteSink, seed: Int, count: Int): Map[String, Int] = {
    val random = new Random(seed)
    def maybe(chance: Double) = random.nextDouble() < chance
    val io = dut.io
    val regionRate = Seq(0.05, 0.3, 0.7)(seed % 3)
    val counts = mutable.Map[String, Int]().withDefaultValue(0)
    def rate() = random.nextDouble() * 0.9 + 0.1
    val (asks, sends, takes, answers, engine) = (rate(), rate(), rate(), rate(), rate())
    val writes = for (number <- 0 until count) yield {
      val region = maybe(regionRate)
      val acts = region && maybe(0.7)
      new Write(number, random.nextInt(ids), region, acts, if (acts) 1 else 1 + random.nextInt(3), random)
    }
    var (next, sending, beat, cycle) = (0, 0, 0, 0)
    var dataOffered, regionWent = false
    val memory = mutable.Buffer[Write]() // that memory still has to answer
    val lines = mutable.Queue[Write]() // acknowledges that wait for the engine
    val offered = new OfferedWords(io.acknowledgeWords)
    var answering = Option.empty[Write]
    while (writes.exists(_.answered.isEmpty)) {
      assert(cycle < 60 * count, "writes hang")
      val earlier = writes.take(next)
      val granted = earlier.filter(!_.region)
      def before(age: Int)(at: Option[Int]) = at.exists(_ <= cycle - age)
      val closed = granted.length - granted.count(write => before(2)(write.answered)) == p.writesInFlight
      io.closed.expect(closed)
      val inRegion = earlier.filter(_.region)
      val free = inRegion.length < p.regionWrites ||
        before(1)(inRegion(inRegion.length - p.regionWrites).answered)
      io.region.ready.expect(free, "a write into the region takes the next slot of a ring")
      val asking = if (next < count && maybe(asks)) Some(writes(next)) else None
      io.region.valid.poke(asking.exists(_.region))
      for (write <- asking if write.region) {
        io.region.bits.id.poke(write.id)
        io.region.bits.acknowledges.poke(write.acts)
        io.region.bits.refused.poke(write.refused)
        io.region.bits.pipeline.poke(write.number % 2)
        io.region.bits.line.poke(write.number / 2 % 8)
      }
      val grants = asking.exists(!_.region) && !closed
      io.granted.valid.poke(grants)
      asking.foreach(write => io.granted.bits.poke(write.id))
      if (grants || asking.exists(_.region && free)) {
        writes(next).granted = Some(cycle)
        next += 1
      }
      dataOffered ||= sending < count && maybe(sends)
      val taking = maybe(takes)
      io.memoryData.ready.poke(taking)
      io.data.valid.poke(dataOffered)
      val owner = Option.when(dataOffered)(writes(sending))
      for (write <- owner) {
        io.data.bits.data.poke(write.number)
        io.data.bits.strb.poke(write.strobes)
        io.data.bits.user.poke(write.poisoned)
        io.data.bits.last.poke(beat == write.beats - 1)
      }
      if (answering.isEmpty && maybe(answers)) {
        val oldest = (0 until ids).flatMap(id => memory.find(_.id == id))
        if (oldest.nonEmpty) answering = Some(oldest(random.nextInt(oldest.length)))
      }
      io.memoryResponse.valid.poke(answering.nonEmpty)
      answering.foreach { write =>
        io.memoryResponse.bits.id.poke(write.id)
        io.memoryResponse.bits.resp.poke(write.resp)
      }
      val listening = maybe(takes)
      io.response.ready.poke(listening)
      val offers = io.acknowledge.valid.peekBoolean()
      offered.cycle(offers)
      val takesLine = offers && offered.whole && maybe(engine)
      val applied = maybe(0.7)
      io.acknowledge.ready.poke(takesLine)
      io.acknowledged.valid.poke(takesLine)
      io.acknowledged.bits.poke(applied)
      assert(!offers || lines.nonEmpty, "an acknowledge that nobody asked for")
      if (takesLine) {
        val write = lines.dequeue()
        io.acknowledge.bits.pipeline.expect(write.number % 2)
        io.acknowledge.bits.line.expect(write.number / 2 % 8)
        assert((0 until 8).map(offered.words) == write.number +: Seq.fill(7)(0) && !offered.lost)
        offered.forget()
        write.resp = if (applied) Axi4.Resp.Okay else Axi4.Resp.SlvErr
        write.done = Some(cycle)
        counts(if (applied) "applied" else "not applied") += 1
      }

      // Responses: the oldest unanswered write of its id.
      def oldest(id: Int) = writes.take(next).find(write => write.id == id && write.answered.isEmpty)
      val fires = io.response.valid.peekBoolean() && listening
      val fromMemory = answering.nonEmpty && io.memoryResponse.ready.peekBoolean()
      if (fires) {
        val id = io.response.bits.id.peekInt().toInt
        val write = oldest(id)
        assert(write.exists(_.done.exists(_ < cycle)), s"an answer to id $id out of its order, or too early")
        assert(write.get.region != fromMemory)
        io.response.bits.resp.expect(write.get.resp)
        write.get.answered = Some(cycle)
        if (write.get.region) counts(s"answer ${write.get.resp}") += 1
      } else assert(!fromMemory, "an answer of memory was lost")
      for (write <- answering) {
        val free = oldest(write.id).contains(write)
        val finding = inRegion.exists(other =>
          other.id == write.id && other.answered.isEmpty && !before(SameIdTracker.latency + 1)(other.granted)
        )
        if (!fromMemory && free && listening && !finding) {
          assert(fires && !regionWent, "memory's answer waits for nothing, and not for the other's turn")
          counts("region's turn") += 1
        }
        if (!free) counts("memory waits") += 1
        if (fromMemory) {
          memory -= write
          answering = None
        }
      }
      regionWent = fires && !fromMemory

      // Data: memory's pass from the cycle of the grant on, region data are consumed from the next one on.
      val passes = owner.exists(write => !write.region && write.granted.nonEmpty)
      val ends = owner.exists(write => write.region && write.granted.exists(_ < cycle))
      io.memoryData.valid.expect(passes)
      io.drops.expect(ends && !owner.exists(_.asks))
      if (passes) {
        io.memoryData.bits.data.expect(owner.get.number)
        io.memoryData.bits.strb.expect(owner.get.strobes)
        io.memoryData.bits.user.expect(owner.get.poisoned)
        io.memoryData.bits.last.expect(beat == owner.get.beats - 1)
      }
      val taken = (passes && taking) || ends
      if (dataOffered) io.data.ready.expect(taken)
      if (dataOffered && owner.get.granted.isEmpty) counts("data before their grant") += 1
      if (passes && owner.get.granted.contains(cycle)) counts("data with it") += 1
      if (taken) {
        dataOffered = false
        beat += 1
        if (beat == owner.get.beats) {
          if (owner.get.asks) lines += owner.get else owner.get.done = Some(cycle)
          if (!owner.get.region) memory += owner.get
          sending += 1
          beat = 0
        }
      }
      if (closed) counts("closed") += 1
      dut.clock.step()
      cycle += 1
    }
    counts.toMap
  }

  behavior of "RegionWriteSink"
  it should "pass memory's writes and end the region's, for any order of grants, data and answers" in {
    test(new RegionWriteSink(p)).withAnnotations(compiled) { dut =>
      val counts = for (seed <- 1 to 24) yield {
        start(dut)
        withClue(s"seed $seed: ")(runTraffic(dut, seed, 200))
      }
      val total = counts.flatten.groupMapReduce(_._1)(_._2)(_ + _)
      info(total.toSeq.sorted.mkString(", "))
      val wanted = Seq("data before their grant", "data with it", "memory waits", "region's turn", "closed") ++
        Seq("applied", "not applied", "answer 0", "answer 2", "answer 3")
      for (what <- wanted) assert(total.getOrElse(what, 0) > 10, what)
    }
  }

  /** Acknowledges of line 1, of id 1, and of line 2, of id 2. Returns the response to the one with the flipped bit, the
    * id reported, and whether any was.
    */
  private def second(dut: RegionWriteSink, memory: Int, bits: Int): (Int, Int, Boolean) = {
    val io = dut.io
    start(dut)
    def arm(): Unit = {
      io.inject(memory).valid.poke(bits > 0)
      io.inject(memory).bits.poke(bits > 1)
      dut.clock.step()
      io.inject(memory).valid.poke(false)
    }
    arm()
    for (line <- 1 to 2) {
      io.region.valid.poke(true)
      io.region.bits.id.poke(line)
      io.region.bits.acknowledges.poke(true)
      io.region.bits.refused.poke(false)
      io.region.bits.pipeline.poke(1)
      io.region.bits.line.poke(line)
      dut.clock.step()
    }
    io.region.valid.poke(false)
    io.data.bits.strb.poke((BigInt(1) << 64) - 1)
    io.data.bits.user.poke(false)
    val flipped = memory % 2 + 1 // the second request, or the first line
    val offered = new OfferedWords(io.acknowledgeWords)
    var (sent, lines, refused, resp, found, id) = (0, Seq.empty[Int], Seq.empty[Int], -1, 0, -1)
    for (cycle <- 0 until 60) {
      io.data.valid.poke(sent < 2)
      io.data.bits.data.poke(sent + 1)
      val took = sent < 2 && io.data.ready.peekBoolean()
      val offers = io.acknowledge.valid.peekBoolean()
      offered.cycle(offers)
      val takes = cycle > 20 && offers && offered.whole
      io.acknowledge.ready.poke(takes)
      io.acknowledged.valid.poke(takes)
      io.acknowledged.bits.poke(!offered.lost)
      if (takes) {
        val line = io.acknowledge.bits.line.peekInt().toInt
        if (offered.lost) refused :+= line
        else assert((0 until 8).map(offered.words) == line +: Seq.fill(7)(0))
        lines :+= line
        offered.forget()
      }
      if (io.response.valid.peekBoolean() && io.response.bits.id.peekInt() == flipped)
        resp = io.response.bits.resp.peekInt().toInt
      val fault = io.faults(memory)
      if (fault.corrected.peekBoolean() || fault.uncorrected.peekBoolean()) {
        found += 1
        id = (if (memory == 1) io.planId else io.lineId).peekInt().toInt
        fault.corrected.expect(bits == 1)
      }
      dut.clock.step()
      if (took) sent += 1
    }
    // A request that is lost never reaches the engine; a word that is lost is seen by it.
    val (wanted, wantedRefused) = (memory, bits) match {
      case (1, 2) => (Seq(1), Seq())
      case (2, 2) => (Seq(1, 2), Seq(1))
      case _      => (Seq(1, 2), Seq())
    }
    assert(
      lines == wanted && refused == wantedRefused && found == bits.min(1),
      s"memory $memory, $bits bits: $lines, $refused, $found"
    )
    (resp, id, found > 0)
  }

  for ((memory, name) <- Seq(1 -> "request", 2 -> "line"))
    it should s"correct a bit of a $name that waits, and refuse it when two are flipped" in {
      test(new RegionWriteSink(p)).withAnnotations(compiled) { dut =>
        // The second request waits in a memory, and each line.
        assert(second(dut, memory, 0) == ((Axi4.Resp.Okay, -1, false)))
        assert(second(dut, memory, 1) == ((Axi4.Resp.Okay, memory % 2 + 1, true)))
        assert(second(dut, memory, 2) == ((Axi4.Resp.SlvErr, memory % 2 + 1, true)))
      }
    }

  it should "hold memory's answer to a write behind one into the region, however early it comes" in {
    for (early <- 1 to 8)
      test(new RegionWriteSink(p)).withAnnotations(compiled) { dut =>
        val io = dut.io
        start(dut)
        io.region.valid.poke(true)
        io.region.bits.id.poke(1)
        io.region.bits.acknowledges.poke(false)
        dut.clock.step()
        io.region.valid.poke(false)
        io.granted.valid.poke(true)
        io.granted.bits.poke(1)
        io.memoryResponse.bits.id.poke(1)
        for (cycle <- 1 to 12) {
          io.memoryResponse.valid.poke(cycle > early)
          io.response.valid.expect(false, s"$cycle cycles behind it")
          dut.clock.step()
          io.granted.valid.poke(false)
        }
        // Data of both, the region's first.
        val ids = for (_ <- 0 until 12) yield {
          io.data.valid.poke(true)
          val id = Option.when(io.response.valid.peekBoolean())(io.memoryResponse.ready.peekBoolean())
          dut.clock.step()
          id
        }
        io.data.valid.poke(false)
        assert(ids.flatten.take(2) == Seq(false, true))
      }
  }

  it should "let a write of another id pass, and memory's go every cycle, while a write into the region waits" in {
    test(new RegionWriteSink(p)).withAnnotations(compiled) { dut =>
      val io = dut.io
      start(dut)
      def grant(id: Int): Unit = {
        io.granted.valid.poke(true)
        io.granted.bits.poke(id)
      }
      def region(id: Int): Unit = {
        io.granted.valid.poke(false)
        io.region.valid.poke(true)
        io.region.bits.id.poke(id)
        io.region.bits.acknowledges.poke(false)
      }
      // An unanswered write to memory with id 1, then two into the region, with ids 1 and 2.
      io.data.valid.poke(true)
      grant(1)
      dut.clock.step()
      region(1)
      dut.clock.step()
      region(2)
      dut.clock.step()
      io.region.valid.poke(false)
      grant(3)
      val seen = for (cycle <- 0 until 12) yield {
        // Memory answers writes of id 3 at once.
        io.granted.valid.poke(cycle < 4)
        io.data.valid.poke(cycle <= 4)
        if (cycle >= 1 && cycle < 4) io.memoryData.valid.expect(true, "data behind the region's are not held back")
        io.memoryResponse.valid.poke(cycle >= 4 && cycle < 8)
        io.memoryResponse.bits.id.poke(3)
        val answer = Option.when(io.response.valid.peekBoolean())(io.response.bits.id.peekInt().toInt)
        dut.clock.step()
        answer
      }
      assert(seen.flatten.contains(2) && seen.flatten.count(_ == 3) >= 3 && !seen.flatten.contains(1))
      io.memoryResponse.valid.poke(true)
      io.memoryResponse.bits.id.poke(1)
      io.response.bits.id.expect(1)
      dut.clock.step()
      io.memoryResponse.valid.poke(false)
      val last = for (_ <- 0 until 6) yield {
        val answer = Option.when(io.response.valid.peekBoolean())(io.response.bits.id.peekInt().toInt)
        dut.clock.step()
        answer
      }
      assert(last.flatten == Seq(1), "its own behind it")
    }
  }
}
