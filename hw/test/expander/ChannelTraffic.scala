// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{Axi4, Axi4Address, Axi4ReadData, Axi4WriteData}
import chisel3.util.{DecoupledIO, ReadyValidIO}
import chiseltest._
import org.scalatest.Assertions
import scala.collection.mutable
import scala.util.Random

/** Random traffic through a [[MemoryChannel]], and a check of all its outputs.
  *
  * Expected values follow from the order in which each port's requests are accepted: the n-th memory read is the n-th
  * one downstream and returns its number; the n-th telemetry line is the engine's n-th response.
  */
class ChannelTraffic(dut: MemoryChannel, p: ExpanderParams, windows: WindowBases, channel: Int, seed: Int)
    extends Assertions {
  import ChannelTraffic._
  private val (up, down) = (dut.io.upstream, dut.io.downstream)
  private val random = new Random(seed)
  private def maybe(chance: Double) = random.nextDouble() < chance
  private def rate() = 0.2 + 0.8 * random.nextDouble()
  private val (load, dataLoad, free, memoryRate, taken, engineRate) = (rate(), rate(), rate(), rate(), rate(), rate())
  private val ids = 1 << p.memory.idBits
  private def byId[T] = Seq.fill(ids)(mutable.Queue[T]())

  // Upstream: offered requests, and expected responses.
  private var ar, aw = Option.empty[Request]
  private var data = Option.empty[Data]
  private var dataSent = 0
  private val sent = mutable.Queue[Sent]() // writes that wait for data
  private val early = mutable.Queue[Data]() // data whose address is not accepted yet
  private val readAnswers = byId[Answer]
  private val writeAnswers = byId[WriteAnswer]

  // Downstream: expected requests, and responses that memory still has to send.
  private val reads, writes = mutable.Queue[Request]()
  private val written = mutable.Queue[Data]()
  private val toMemory = mutable.Queue[Seq[Answer]]() // the responses to `reads`
  private val memoryReads = byId[Answer]
  private var (readNumber, lineNumber) = (0, 0)
  private val unwritten = mutable.Queue[Request]() // memory's writes with data outstanding
  private var lasts = 0 // data bursts whose address has not come yet
  private val memoryWrites = byId[Int]
  private val answerable = Array.fill(ids)(0) // by id, memory's writes that have all their data
  private var r = Option.empty[(Int, Answer)]
  private var b = Option.empty[(Int, Int)]

  // The engine.
  private val events = Map(false -> mutable.Queue[Int](), true -> mutable.Queue[Int]()) // of reads, of writes
  private val acknowledges = mutable.Queue[(Request, Data, WriteAnswer)]()
  private val offered = new OfferedWords(dut.io.acknowledgeWords)
  private var applies =
    Option.empty[Boolean] // the acknowledge offered to the engine completes in this cycle; true: applied
  var applied, notApplied = 0
  private val asked = mutable.Queue[(Int, Int, Boolean)]()
  private val lines = mutable.Queue[(Int, Int)]() // cycle, number
  private var linesAsked = 0
  private val errors = Array.fill(4)(0)
  val expectedErrors: Array[Int] = Array.fill(4)(0)
  private var cycle = 0

  private def request() = {
    val bases = windows.bases ++ windows.acknowledge :+ 0 :+ 0x3000 :+ random.nextInt(16) * 4096
    Request.random(random, p, bases(random.nextInt(bases.length)))
  }
  private def expected[T](queue: mutable.Queue[T], what: String): T = {
    assert(queue.nonEmpty, s"$what that nobody asked for")
    queue.dequeue()
  }
  private def offer(to: DecoupledIO[Axi4Address], request: Option[Request]): Unit = {
    to.valid.poke(request.nonEmpty)
    request.foreach(_.poke(to.bits))
  }
  private def fires(item: ReadyValidIO[_]): Boolean = item.valid.peekBoolean() && item.ready.peekBoolean()

  private def accept(request: Request, write: Boolean): Unit = {
    val region = windows.find(request.addr, p).nonEmpty
    if (!region) {
      events(write) ++= request.addresses.filter(_ < (1 << p.nemo.addressBits))
    }
    if (write) {
      val resp = if (!region && maybe(0.2)) Axi4.Resp.SlvErr else Axi4.Resp.Okay
      val answer = new WriteAnswer(Option.unless(region)(resp))
      sent += new Sent(request, answer)
      writeAnswers(request.id) += answer
      if (!region) {
        writes += request
        expectedErrors(3) += resp / 2
        memoryWrites(request.id) += resp
      }
    } else if (region) {
      for ((beat, i) <- request.beats(windows, write, p).zipWithIndex) {
        val (resp, line) = beat.answer(windows, channel, p)
        asked ++= line
        readAnswers(request.id) += Answer(
          line.map(_ => lineData(lineNumber)),
          resp,
          i == request.beats - 1,
          line.nonEmpty && lineNumber % 5 == 0
        )
        if (line.nonEmpty) lineNumber += 1 else expectedErrors(1) += 1
      }
    } else {
      reads += request
      for (i <- 0 until request.beats) {
        val resp = if (maybe(0.1)) Axi4.Resp.SlvErr else Axi4.Resp.Okay
        expectedErrors(2) += resp / 2
        val number = (BigInt(1) << 511) + readNumber
        readNumber += 1
        readAnswers(request.id) += Answer(Some(number), resp, i == request.beats - 1, maybe(0.2))
      }
      toMemory += readAnswers(request.id).takeRight(request.beats).toSeq
    }
  }

  /** A data beat of the oldest write that waits for data. */
  private def takes(data: Data): Unit = {
    val write = sent.head
    val request = write.request
    write.beats += 1
    if (write.beats == request.beats) sent.dequeue()
    if (windows.find(request.addr, p).isEmpty) written += data
    else {
      val asks = windows.acknowledges(request.addr, p) && request.beats == 1 && request.size == 6
      val (resp, line) = windows.answer(request, request.addr, channel, p)
      if (asks && line.nonEmpty && data.full && !data.user) acknowledges += ((request, data, write.answer))
      else {
        expectedErrors(0) += 1
        if (data.last) write.answer.resp = Some(if (asks && resp != 0) resp else if (asks && data.user) 2 else 0)
      }
    }
  }

  /** Inputs of a cycle. */
  private def poke(generate: Boolean): Unit = {
    if (ar.isEmpty && generate && maybe(load)) ar = Some(request())
    if (aw.isEmpty && generate && maybe(load)) aw = Some(request())
    offer(up.ar, ar)
    offer(up.aw, aw)
    // Data may come before the address.
    val first = sent.headOption.map(write => write.request.beats - write.beats)
      .orElse(aw.map(_.beats - early.length).filter(_ > 0))
    if (data.isEmpty && maybe(dataLoad)) first.foreach { left =>
      data = Some(Data(dataSent, left == 1, maybe(0.2), maybe(0.8)))
      dataSent += 1
    }
    up.w.valid.poke(data.nonEmpty)
    data.foreach(_.poke(up.w.bits))
    if (r.isEmpty && maybe(memoryRate)) {
      val ready = (0 until ids).filter(memoryReads(_).nonEmpty)
      if (ready.nonEmpty) r = Some(ready(random.nextInt(ready.length))).map(id => (id, memoryReads(id).dequeue()))
    }
    down.r.valid.poke(r.nonEmpty)
    for ((id, answer) <- r) {
      down.r.bits.id.poke(id)
      answer.poke(down.r.bits)
    }
    if (b.isEmpty && maybe(memoryRate)) {
      val ready = (0 until ids).filter(answerable(_) > 0)
      if (ready.nonEmpty) b = Some(ready(random.nextInt(ready.length))).map(id => (id, memoryWrites(id).dequeue()))
      b.foreach { case (id, _) => answerable(id) -= 1 }
    }
    down.b.valid.poke(b.nonEmpty)
    for ((id, resp) <- b) {
      down.b.bits.id.poke(id)
      down.b.bits.resp.poke(resp)
    }
    Seq(down.ar.ready, down.aw.ready, down.w.ready).foreach(_.poke(maybe(free)))
    Seq(up.r.ready, up.b.ready).foreach(_.poke(maybe(taken)))
    dut.io.open.poke(maybe(engineRate))
    // The offer to the engine is sampled one cycle earlier.
    dut.io.acknowledge.ready.poke(false)
    dut.io.acknowledged.valid.poke(false)
    val offers = dut.io.acknowledge.valid.peekBoolean()
    offered.cycle(offers)
    if (offers && offered.whole && maybe(engineRate / 4)) {
      applies = Some(maybe(0.7))
      dut.io.acknowledge.ready.poke(true)
      dut.io.acknowledged.valid.poke(true)
      dut.io.acknowledged.bits.poke(applies.get)
    }
    val line = lines.headOption.filter(_._1 == cycle)
    dut.io.line.valid.poke(line.nonEmpty)
    for ((_, number) <- line) {
      lines.dequeue()
      for ((word, i) <- dut.io.line.bits.words.zipWithIndex) word.poke(BigInt(number) * 8 + i)
      dut.io.line.bits.poison.poke(number % 5 == 0)
    }
  }

  /** Checks the outputs of a cycle; those that others depend on come first. */
  private def check(): Unit = {
    if (fires(up.ar)) {
      accept(ar.get, write = false)
      ar = None
    }
    if (fires(up.aw)) {
      accept(aw.get, write = true)
      aw = None
    }
    if (dut.io.event.valid.peekBoolean()) {
      val event = dut.io.event.bits
      val wanted = expected(events(event.write.peekBoolean()), "an event")
      assert(event.address.peekInt().toInt == wanted, "another event")
    }
    if (dut.io.read.valid.peekBoolean()) {
      val read = dut.io.read.bits
      val line = (read.pipeline.peekInt().toInt, read.line.peekInt().toInt, read.effect.peekBoolean())
      assert(line == expected(asked, "a line"), "another line")
      lines += ((cycle + engineLatency, linesAsked))
      linesAsked += 1
    }
    if (fires(up.w)) {
      early += data.get
      data = None
    }
    while (sent.nonEmpty && early.nonEmpty) takes(early.dequeue())
    for (done <- applies) {
      val (request, data, answer) = expected(acknowledges, "an acknowledge")
      val target = dut.io.acknowledge.bits
      val (_, line) = windows.answer(request, request.addr, channel, p)
      assert(line.contains((target.pipeline.peekInt().toInt, target.line.peekInt().toInt, false)), "another line")
      for ((i, word) <- offered.words) assert(word == data.word(i), "another word")
      offered.forget()
      answer.resp = Some(if (done) 0 else 2)
      if (done) applied += 1 else notApplied += 1
      applies = None
    }
    if (fires(down.ar)) {
      val read = expected(reads, "a memory read")
      assert(Request.peek(down.ar.bits) == read)
      memoryReads(read.id) ++= toMemory.dequeue()
    }
    if (fires(down.aw)) {
      val write = expected(writes, "a memory write")
      assert(Request.peek(down.aw.bits) == write)
      unwritten += write
    }
    if (fires(down.w)) {
      val beat = expected(written, "memory's data")
      beat.expect(down.w.bits)
      if (beat.last) lasts += 1
    }
    while (lasts > 0 && unwritten.nonEmpty) {
      lasts -= 1
      answerable(unwritten.dequeue().id) += 1
    }
    if (fires(up.r)) expected(readAnswers(up.r.bits.id.peekInt().toInt), "read data").expect(up.r.bits)
    if (fires(up.b)) {
      val answer = expected(writeAnswers(up.b.bits.id.peekInt().toInt), "a write's answer")
      up.b.bits.resp.expect(answer.resp.getOrElse(fail("a write is answered before it is done")))
    }
    if (fires(down.r)) r = None
    if (fires(down.b)) b = None
    val pins = dut.io.errors
    for ((error, i) <- Seq(pins.droppedWrite, pins.refusedRead, pins.memoryRead, pins.memoryWrite).zipWithIndex)
      if (error.peekBoolean()) errors(i) += 1
  }

  private def over: Boolean =
    (Seq(
      sent,
      reads,
      writes,
      written,
      events(false),
      events(true),
      asked,
      lines,
      acknowledges
    ) ++ readAnswers ++ writeAnswers).forall(_.isEmpty) &&
      ar.isEmpty && aw.isEmpty

  /** Sends requests for `cycles` cycles, then waits until nothing is outstanding. */
  def run(cycles: Int): Unit = {
    while (cycle < cycles || !over) {
      assert(cycle < cycles + 4000, "something was lost")
      poke(cycle < cycles)
      withClue(s"cycle $cycle: ")(check())
      dut.clock.step()
      cycle += 1
    }
    assert(errors.toSeq == expectedErrors.toSeq, "errors")
  }
}

object ChannelTraffic {

  /** From a read to its line, docs/expander.md. */
  val engineLatency: Int = 9

  private def lineData(number: Int): BigInt =
    (0 until 8).map(i => (BigInt(number) * 8 + i) << (64 * i)).sum

  /** A read data beat; a refused one has no expected data. */
  private case class Answer(data: Option[BigInt], resp: Int, last: Boolean, user: Boolean) {
    def poke(to: Axi4ReadData): Unit = {
      to.data.poke(data.get)
      to.resp.poke(resp)
      to.last.poke(last)
      to.user.poke(user)
    }
    def expect(from: Axi4ReadData): Unit = {
      data.foreach(from.data.expect(_))
      from.resp.expect(resp)
      from.last.expect(last)
      if (data.nonEmpty) from.user.expect(user)
    }
  }

  /** The response to a write, once it is known. */
  private class WriteAnswer(var resp: Option[Int])

  /** A write that was accepted, and how many beats of data it had. */
  private class Sent(val request: Request, val answer: WriteAnswer) {
    var beats = 0
  }

  /** A beat of write data. */
  private case class Data(number: Int, last: Boolean, user: Boolean, full: Boolean) {
    private val bits = (BigInt(number) << 480) + number
    private val strobes = if (full) (BigInt(1) << 64) - 1 else BigInt(number)
    def word(i: Int): BigInt = (bits >> (64 * i)) & ((BigInt(1) << 64) - 1)
    def poke(to: Axi4WriteData): Unit = {
      to.data.poke(bits)
      to.strb.poke(strobes)
      to.last.poke(last)
      to.user.poke(user)
    }
    def expect(from: Axi4WriteData): Unit = {
      from.data.expect(bits)
      from.strb.expect(strobes)
      from.last.expect(last)
      from.user.expect(user)
    }
  }
}
