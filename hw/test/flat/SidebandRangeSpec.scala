// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.{Axi4, Axi4Params, Axi4Port}
import chisel3._
import chiseltest._
import org.scalatest.flatspec.AnyFlatSpec
import scala.collection.mutable
import scala.util.Random

/** A memory controller that answers an id's requests in order and ids in any order, and takes a write's address and
  * data together.
  */
class LineController(port: Axi4Port, random: Random) {
  case class Line(data: BigInt, poison: Boolean)

  /** A request that was taken. */
  case class Taken(id: Int, address: Int, line: Line, refused: Boolean)
  private class Answers {
    val queues = mutable.Map[Int, mutable.Queue[(Taken, Int)]]()
    var shown: Option[Taken] = None
    def outstanding: Int = queues.values.map(_.length).sum
    def choose(cycle: Int): Unit = if (shown.isEmpty) {
      val ready = queues.collect { case (id, queue) if queue.nonEmpty && queue.head._2 <= cycle => id }.toSeq
      if (ready.nonEmpty) shown = Some(queues(ready(random.nextInt(ready.length))).head._1)
    }
    def taken(): Unit = {
      queues(shown.get.id).dequeue()
      shown = None
    }
  }
  val lines = mutable.Map[Int, Line]()
  val (reads, writes) = (mutable.Queue[Taken](), mutable.Queue[Taken]())
  private val (r, b) = (new Answers, new Answers)
  var (latency, busy, refuses, cycle) = (1, 0.0, 0.0, 0)
  private val unwritten = Line(0, poison = true)

  def outstanding: Int = r.outstanding + b.outstanding
  def forget(): Unit = for (answers <- Seq(r, b)) {
    answers.queues.clear()
    answers.shown = None
  }

  /** An answer that nobody asked for. */
  def invent(id: Int, read: Boolean): Unit = {
    val queue = (if (read) r else b).queues.getOrElseUpdate(id, mutable.Queue())
    queue += Taken(id, 0, unwritten, refused = false) -> cycle
  }

  /** The outputs of this cycle. */
  def offer(): Unit = {
    val ready = random.nextDouble() >= busy
    Seq(port.ar.ready, port.aw.ready, port.w.ready).foreach(_.poke(ready))
    Seq(r, b).foreach(_.choose(cycle))
    def resp(taken: Taken) = if (taken.refused) Axi4.Resp.SlvErr else Axi4.Resp.Okay
    port.r.valid.poke(r.shown.isDefined)
    for (taken <- r.shown) {
      port.r.bits.id.poke(taken.id)
      port.r.bits.resp.poke(resp(taken))
      port.r.bits.data.poke(taken.line.data)
      port.r.bits.user.poke(taken.line.poison)
      port.r.bits.last.poke(true)
    }
    port.b.valid.poke(b.shown.isDefined)
    for (taken <- b.shown) {
      port.b.bits.id.poke(taken.id)
      port.b.bits.resp.poke(resp(taken))
    }
  }

  /** Ends the cycle. Whether an answer was taken. */
  def step(): Int = {
    val due = cycle + 1 + random.nextInt(latency)
    def take(log: mutable.Queue[Taken], answers: Answers, id: Int, address: Int, line: Line): Taken = {
      assert(address % 64 == 0)
      val taken = Taken(id, address / 64, line, random.nextDouble() < refuses)
      log += taken
      answers.queues.getOrElseUpdate(id, mutable.Queue()) += taken -> due
      taken
    }
    if (port.ar.valid.peekBoolean() && port.ar.ready.peekBoolean()) {
      val address = port.ar.bits.addr.peekInt().toInt
      take(reads, r, port.ar.bits.id.peekInt().toInt, address, lines.getOrElse(address / 64, unwritten))
    }
    assert(port.aw.valid.peekBoolean() == port.w.valid.peekBoolean())
    if (port.aw.valid.peekBoolean() && port.aw.ready.peekBoolean()) {
      val address = port.aw.bits.addr.peekInt().toInt
      val (strobe, data) = (port.w.bits.strb.peekInt(), port.w.bits.data.peekInt())
      val mask = (0 until 64).filter(strobe.testBit).map(BigInt(0xff) << 8 * _).foldLeft(BigInt(0))(_ | _)
      val old = lines.getOrElse(address / 64, unwritten)
      val whole = strobe == (BigInt(1) << 64) - 1
      val line = Line((old.data &~ mask) | (data & mask), port.w.bits.user.peekBoolean() || (!whole && old.poison))
      val taken = take(writes, b, port.aw.bits.id.peekInt().toInt, address, line)
      if (!taken.refused) lines(taken.address) = line
    }
    var answered = 0
    if (r.shown.isDefined && port.r.ready.peekBoolean()) { r.taken(); answered += 1 }
    if (b.shown.isDefined && port.b.ready.peekBoolean()) { b.taken(); answered += 1 }
    cycle += 1
    answered
  }
}

class SidebandRangeSpec extends AnyFlatSpec with ChiselScalatestTester {
  private val p = FlatParams(Axi4Params(idBits = 5, addressBits = 14), addressBits = 12, requests = 8, drain = 20)
  private val nearBits = 12
  private val lines = SidebandRange.lines(nearBits).toInt
  private val beats = lines until 64
  private val wordMask = (BigInt(1) << p.sidebandBits) - 1

  /** What near's port must hold, and requests to it. */
  private class Bench(dut: SidebandRange, seed: Int) {
    val random = new Random(seed)
    val controller = new LineController(dut.io.controller, random)
    private val near = dut.io.near
    case class Contents(data: BigInt, word: BigInt, poison: Boolean)
    case class Write(id: Int, line: Int, contents: Contents)

    /** Possible contents by line; several where a write was refused or cut. */
    val known = mutable.Map[Int, Set[Contents]]()
    private val asked = mutable.Queue[Int]()
    private val writing = mutable.Map[Int, mutable.Queue[Write]]()
    private var running = false
    private var (read, write) = (Option.empty[Int], Option.empty[Write])
    var (load, takes, strays, answered, poisoned) = (0.0, 1.0, 0, 0, 0)

    /** Requests at the controller a cycle ago; whether there are only those of the unit. */
    private var outstanding = 0
    var ownOnly = true
    def busy: Boolean = asked.nonEmpty || writing.values.exists(_.nonEmpty) || read.isDefined || write.isDefined
    private def linesInUse = asked ++ writing.values.flatten.map(_.line) ++ read ++ write.map(_.line)

    def reset(powerOn: Boolean): Unit = {
      dut.io.powerOn.poke(powerOn)
      dut.reset.poke(true.B)
      running = false
      for (unanswered <- writing.values.flatten ++ write) cut(unanswered)
      asked.clear()
      writing.clear()
      read = None
      write = None
      for (valid <- Seq(near.ar.valid, near.aw.valid, near.w.valid)) valid.poke(false)
      for (_ <- 0 until 2) cycle() // in the first a request may still be taken
      controller.reads.clear()
      controller.writes.clear()
      dut.reset.poke(false.B)
      running = true
      dut.io.powerOn.poke(false)
      strays = 0
    }

    /** A write of which each half may be in memory or not. */
    private def cut(write: Write): Unit = {
      val both = known.getOrElse(write.line, Set()) + write.contents
      val halves = for (one <- both; other <- both) yield Contents(one.data, other.word, one.poison)
      if (known.contains(write.line)) known(write.line) = halves
    }

    private def draw(): Unit = {
      def free = { val used = linesInUse.toSet; (0 until lines).filterNot(used) }
      if (read.isEmpty && asked.length < 12 && random.nextDouble() < load) {
        val there = free.filter(known.contains)
        if (there.nonEmpty) read = Some(there(random.nextInt(there.length)))
      }
      if (write.isEmpty && random.nextDouble() < load) {
        val ids = 0 +: (1 until p.mshrs).filter(writing.getOrElse(_, mutable.Queue()).isEmpty)
        val contents = Contents(BigInt(512, random), BigInt(p.sidebandBits, random), random.nextDouble() < 0.1)
        if (free.length > lines / 2)
          write = Some(Write(ids(random.nextInt(ids.length)), free(random.nextInt(free.length)), contents))
      }
    }

    /** One cycle; all answers are compared. */
    def cycle(): Unit = {
      if (running) draw()
      near.ar.valid.poke(read.isDefined)
      for (line <- read) near.ar.bits.addr.poke(line * 64)
      for (valid <- Seq(near.aw.valid, near.w.valid)) valid.poke(write.isDefined)
      for (Write(id, line, contents) <- write) {
        near.aw.bits.id.poke(id)
        near.aw.bits.addr.poke(line * 64)
        near.w.bits.data.poke(contents.data)
        near.w.bits.user.poke(contents.poison)
        near.w.bits.strb.poke((BigInt(1) << 64) - 1)
        dut.io.wsideband.poke(contents.word)
      }
      near.r.ready.poke(random.nextDouble() < takes)
      near.b.ready.poke(random.nextDouble() < takes)
      if (running && ownOnly && outstanding > 0) dut.io.quiet.expect(false.B)
      outstanding = controller.outstanding
      controller.offer()
      if (read.isDefined && near.ar.ready.peekBoolean()) {
        asked += read.get
        read = None
      }
      assert(near.aw.ready.peekBoolean() == near.w.ready.peekBoolean())
      if (write.isDefined && near.aw.ready.peekBoolean()) {
        writing.getOrElseUpdate(write.get.id, mutable.Queue()) += write.get
        write = None
      }
      if (running && near.r.valid.peekBoolean() && near.r.ready.peekBoolean()) compareRead()
      if (running && near.b.valid.peekBoolean() && near.b.ready.peekBoolean()) compareWrite()
      if (dut.io.stray.peekBoolean()) strays += 1
      controller.step()
      dut.clock.step()
    }

    private def compareRead(): Unit = {
      val line = asked.dequeue()
      val (word, data) = (controller.reads.dequeue(), controller.reads.dequeue())
      assert((word.address, data.address) == ((lines + line / 16, line)), "the word's beat, then the line")
      val refused = word.refused || data.refused
      assert((near.r.bits.resp.peekInt() != 0) == refused && near.r.bits.last.peekBoolean())
      assert(near.r.bits.id.peekInt() == 0)
      answered += 1
      if (!refused) {
        val found = Contents(
          near.r.bits.data.peekInt(),
          dut.io.rsideband.peekInt(),
          near.r.bits.user.peekBoolean()
        )
        if (word.line.poison) {
          assert(found.word == 0, "a poisoned word")
          poisoned += 1
          assert(known(line).exists(_.copy(word = 0) == found))
        } else {
          assert(known(line).contains(found), s"line $line")
          known(line) = Set(found)
        }
      }
    }

    private def compareWrite(): Unit = {
      val id = near.b.bits.id.peekInt().toInt
      assert(writing.get(id).exists(_.nonEmpty), s"an answer to no write of id $id")
      val write = writing(id).dequeue()
      val place = write.line % 16
      val data = controller.writes.dequeueFirst(taken => taken.id == id && taken.address == write.line).get
      val word = controller.writes.dequeueFirst(taken => taken.id == id && taken.address == lines + write.line / 16).get
      assert(((word.line.data >> 32 * place) & wordMask) == write.contents.word)
      val refused = Seq(data, word).exists(_.refused)
      assert((near.b.bits.resp.peekInt() != 0) == refused, s"$data $word")
      answered += 1
      if (!refused) known(write.line) = Set(write.contents)
      else if (known.contains(write.line)) cut(write)
    }

    /** Waits until the whole range was zeroed, once and in order. */
    def zeroed(): Unit = {
      while (controller.writes.length < beats.length) {
        cycle()
        assert(controller.reads.isEmpty)
      }
      assert(controller.writes.map(_.address).toSeq == beats)
      controller.writes.clear()
    }

    def finish(): Unit = {
      load = 0
      takes = 1
      var left = 3000
      while (busy || controller.outstanding > 0) {
        cycle()
        left -= 1
        assert(left > 0, "it hangs")
      }
      for (_ <- 0 until 3) cycle()
      dut.io.quiet.expect(true.B)
    }

    def phase(cycles: Int): Unit = {
      load = Seq(0.1, 0.6, 1.0)(random.nextInt(3))
      takes = Seq(0.3, 1.0)(random.nextInt(2))
      controller.latency = Seq(1, 8, 40)(random.nextInt(3))
      controller.busy = Seq(0.0, 0.5)(random.nextInt(2))
      for (_ <- 0 until cycles) cycle()
    }
  }

  /** `run` on a unit that has zeroed the range, or is about to. */
  private def each(seeds: Int, zeroed: Boolean = true)(run: Bench => Unit): Unit =
    test(new SidebandRange(p, nearBits, Axi4Params(idBits = 4, addressBits = 14), reads = 8)) { dut =>
      for (seed <- 0 until seeds) withClue(s"seed $seed: ") {
        val bench = new Bench(dut, seed)
        bench.reset(powerOn = true)
        if (zeroed) bench.zeroed()
        run(bench)
      }
    }

  behavior of "SidebandRange"

  it should "keep a word for each line, whatever is refused and in whatever order ids are answered" in
    each(5) { bench =>
      bench.controller.refuses = if (bench.random.nextBoolean()) 0.1 else 0.0
      for (_ <- 0 until 4) bench.phase(250)
      bench.controller.refuses = 0
      bench.finish()
      assert(bench.answered > 100 && bench.strays == 0)
      assert(beats.forall(beat => !bench.controller.lines(beat).poison), "the range was not zeroed in whole beats")
    }

  it should "give a word of zero where the word's beat is poisoned, and the line as it is" in each(2) { bench =>
    for (round <- 0 until 3) {
      bench.phase(200)
      bench.finish()
      if (round == 0) for (beat <- beats) {
        val was = bench.controller.lines(beat)
        bench.controller.lines(beat) = was.copy(poison = true)
      }
    }
    assert(bench.poisoned > 10)
  }

  it should "forget what a warm reset cuts, whether the memory does or not, and take no late answer for another" in
    each(6) { bench =>
      val forgets = bench.random.nextBoolean()
      bench.ownOnly = false
      bench.phase(300)
      for (_ <- 0 until 3) {
        bench.controller.latency = 15 // less than `drain`
        for (_ <- 0 until 20) bench.cycle()
        bench.takes = 1
        bench.load = 0
        val late = bench.controller.outstanding
        bench.reset(powerOn = false)
        if (forgets) bench.controller.forget()
        val zeroes = bench.controller.writes.length
        for (_ <- 0 until 2 * p.drain + 30) bench.cycle()
        if (!forgets && late > 4) assert(bench.strays > 0, "late answers were not reported")
        assert(bench.controller.writes.length == zeroes, "a warm reset must not zero the range")
        bench.phase(200)
        bench.finish()
      }
    }

  it should "zero the range again after a reset amid that, and ask nothing before" in each(3, zeroed = false) { bench =>
    bench.ownOnly = false
    bench.controller.latency = 4
    bench.controller.busy = 0.8
    while (bench.controller.writes.length < 1 + bench.random.nextInt(beats.length - 1)) bench.cycle()
    bench.reset(powerOn = false)
    bench.load = 1
    bench.zeroed()
    bench.phase(200)
    bench.finish()
    assert(beats.forall(beat => !bench.controller.lines(beat).poison))
  }

  it should "write zeroes again that are refused" in each(4, zeroed = false) { bench =>
    bench.controller.refuses = 0.2
    bench.controller.latency = 4
    bench.load = 1
    def asked = bench.controller.reads.nonEmpty || bench.controller.writes.exists(_.address < lines)
    for (_ <- 0 until 3000 if !asked) bench.cycle()
    assert(asked, "the range is never zeroed")
    assert(beats.forall(bench.controller.lines.get(_).exists(!_.poison)))
    bench.controller.writes.dequeueAll(_.address >= lines)
    bench.controller.refuses = 0
    bench.phase(200)
    bench.finish()
  }

  it should "drop answers of ids that nobody asked for amid others" in each(3) { bench =>
    bench.ownOnly = false
    bench.controller.latency = 8
    for (read <- Seq(true, false)) {
      bench.load = 1
      for (_ <- 0 until 40) {
        for (_ <- 0 until bench.random.nextInt(8)) bench.cycle()
        bench.controller.invent(p.mshrs + bench.random.nextInt(8), read)
      }
      bench.finish()
    }
    assert(bench.strays == 80)
  }

  it should "drop answers that nobody asked for" in each(2) { bench =>
    bench.ownOnly = false
    bench.phase(200)
    bench.finish()
    for (read <- Seq(true, false); id <- Seq(0, 3)) {
      bench.controller.invent(id, read)
      bench.finish()
    }
    assert(bench.strays == 4)
    bench.phase(200)
    bench.finish()
    assert(bench.strays == 4)
  }

  it should "ask for a beat in each cycle" in each(1) { bench =>
    bench.phase(300)
    bench.finish()
    bench.controller.latency = 1
    bench.controller.busy = 0
    bench.load = 1
    for (_ <- 0 until 30) bench.cycle()
    val before = bench.answered
    for (_ <- 0 until 100) bench.cycle()
    assert(bench.answered - before >= 90, "reads and writes have two beats each") // two ports, 200 beats
  }

  it should "refuse sizes that do not fit" in {
    def refused(what: String)(make: => Unit) = {
      val thrown = intercept[Exception](make)
      val causes = Iterator.iterate[Throwable](thrown)(_.getCause).takeWhile(_ != null).map(_.getMessage)
      assert(causes.exists(_.contains(what)), thrown)
    }
    val ports = Axi4Params(idBits = 4, addressBits = 14)
    refused("nearBits: 12 to the ports' 14, not 15")(test(new SidebandRange(p, 15, ports)) { _ => })
    refused("below.idBits: 3 or more, not 2")(test(new SidebandRange(p, 12, ports.copy(idBits = 2))) { _ => })
  }
}
