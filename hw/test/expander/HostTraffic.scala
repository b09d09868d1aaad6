// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.Axi4Address
import chisel3._
import chisel3.util.DecoupledIO
import chiseltest._
import org.scalatest.Assertions
import scala.collection.mutable
import scala.util.Random

/** Random traffic of several hosts through a [[HostArbiter]], and a channel that responds in any order of ids.
  *
  * The address of a request is its number; its data, its responses and their receiver follow from it.
  */
class HostTraffic(dut: HostArbiter, p: ExpanderParams, seed: Int) extends Assertions {
  private val random = new Random(seed)
  private def maybe(chance: Double) = random.nextDouble() < chance
  private def rate() = 0.2 + 0.8 * random.nextDouble()
  private val ownIds = 1 << p.hostPort.idBits
  private var numbers = 0

  private case class Request(number: Int, id: Int, beats: Int)
  private case class Beat(number: Int, beat: Int, last: Boolean)

  /** A host: its offered requests, and its expected responses by id. */
  private class Host(val number: Int) {
    private val port = dut.io.hosts(number)
    private val (load, taken) = (rate(), rate())
    var asks = true
    private val read, write = mutable.Queue[Request]()
    private val data = mutable.Queue[Beat]()
    val reads, writes = Seq.fill(ownIds)(mutable.Queue[Request]())
    private var offersData, readBeats = 0
    var accepted, answered = 0

    /** Addresses ahead of their data; negative: data ahead of their addresses. */
    var ahead = 0

    private def request(): Request = {
      numbers += 1
      Request(numbers, random.nextInt(ownIds), 1 + random.nextInt(3))
    }
    private def offer(to: DecoupledIO[Axi4Address], queue: mutable.Queue[Request]): Unit = {
      to.valid.poke(queue.nonEmpty)
      queue.headOption.foreach { one =>
        to.bits.id.poke(one.id)
        to.bits.addr.poke(one.number)
        to.bits.len.poke(one.beats - 1)
      }
    }

    def drive(): Unit = {
      if (asks && read.isEmpty && maybe(load)) read += request()
      if (asks && write.isEmpty && data.length < 6 && maybe(load)) {
        val one = request()
        write += one
        data ++= Seq.tabulate(one.beats)(beat => Beat(one.number, beat, beat == one.beats - 1))
      }
      offer(port.ar, read)
      offer(port.aw, write)
      // Data may come before or after their address; an offer stays until it is accepted.
      if (offersData == 0 && data.nonEmpty && maybe(load)) offersData = 1
      port.w.valid.poke(offersData == 1)
      if (offersData == 1) {
        port.w.bits.data.poke(data.head.number * 16 + data.head.beat)
        port.w.bits.last.poke(data.head.last)
        port.w.bits.strb.poke(data.head.beat + 1)
      }
      port.r.ready.poke(maybe(taken))
      port.b.ready.poke(maybe(taken))
    }

    def look(): Unit = {
      if (port.ar.valid.peekBoolean() && port.ar.ready.peekBoolean()) {
        val one = read.dequeue()
        reads(one.id) += one
        accepted += 1
      }
      if (port.aw.valid.peekBoolean() && port.aw.ready.peekBoolean()) {
        val one = write.dequeue()
        writes(one.id) += one
        accepted += 1
        ahead += 1
      }
      if (port.w.valid.peekBoolean() && port.w.ready.peekBoolean()) {
        if (data.dequeue().last) ahead -= 1
        offersData = 0
      }
      if (port.r.valid.peekBoolean() && port.r.ready.peekBoolean()) {
        val queue = reads(port.r.bits.id.peekInt().toInt)
        assert(queue.nonEmpty, "an answer to no read of this host")
        assert(port.r.bits.data.peekInt() == queue.head.number * 16 + readBeats, "the data of another read")
        readBeats += 1
        val last = port.r.bits.last.peekBoolean()
        assert(last == (readBeats == queue.head.beats))
        if (last) { queue.dequeue(); readBeats = 0; answered += 1 }
      }
      if (port.b.valid.peekBoolean() && port.b.ready.peekBoolean()) {
        val queue = writes(port.b.bits.id.peekInt().toInt)
        assert(queue.nonEmpty, "an answer to no write of this host")
        val one = queue.dequeue()
        assert(port.b.bits.resp.peekInt() == one.number % 4, "the answer to another write")
        answered += 1
      }
    }
    def offers: Boolean = read.nonEmpty || write.nonEmpty || data.nonEmpty
  }
  private val all = Seq.tabulate(p.hosts)(new Host(_))

  /** The channel. */
  private val port = dut.io.channel
  private val (free, speed) = (rate(), rate())
  private val ids = 1 << p.memory.idBits
  private val reads, writes = Seq.fill(ids)(mutable.Queue[Request]())
  private val unwritten = mutable.Queue[(Int, Request)]()
  private var beat = 0
  private var reading, responding = Option.empty[Int]
  private var readBeat = 0

  private def driveChannel(): Unit = {
    port.ar.ready.poke(maybe(free))
    port.aw.ready.poke(maybe(free))
    port.w.ready.poke(maybe(free))
    def any(of: Seq[mutable.Queue[Request]]) = random.shuffle((0 until ids).filter(of(_).nonEmpty).toList).headOption
    if (reading.isEmpty && maybe(speed)) reading = any(reads)
    if (responding.isEmpty && maybe(speed)) responding = any(writes)
    port.r.valid.poke(reading.nonEmpty)
    for (id <- reading) {
      val one = reads(id).head
      port.r.bits.id.poke(id)
      port.r.bits.data.poke(one.number * 16 + readBeat)
      port.r.bits.last.poke(readBeat == one.beats - 1)
    }
    port.b.valid.poke(responding.nonEmpty)
    for (id <- responding) {
      port.b.bits.id.poke(id)
      port.b.bits.resp.poke(writes(id).head.number % 4)
    }
  }

  // What is offered to the channel and not accepted has to stay as it is.
  private val stalled = mutable.Map[String, Seq[BigInt]]()
  private def stays(name: String, of: DecoupledIO[Axi4Address]): Unit = {
    val valid = of.valid.peekBoolean()
    val offered = of.bits.getElements.map(_.asInstanceOf[UInt].peekInt())
    stalled.remove(name).foreach(before => assert(valid && offered == before, s"$name changes while it waits"))
    if (valid && !of.ready.peekBoolean()) stalled(name) = offered
  }

  private def lookChannel(): Unit = {
    stays("ar", port.ar)
    stays("aw", port.aw)
    def address(of: Axi4Address): (Int, Request) = {
      val id = of.id.peekInt().toInt
      id -> Request(of.addr.peekInt().toInt, id % ownIds, of.len.peekInt().toInt + 1)
    }
    def fires(of: DecoupledIO[Data]) = of.valid.peekBoolean() && of.ready.peekBoolean()
    if (fires(port.ar)) {
      val (id, one) = address(port.ar.bits)
      reads(id) += one
    }
    // An address may come in the cycle of its data, not later.
    if (fires(port.w)) {
      assert(unwritten.nonEmpty, "data ahead of their address")
      val (id, one) = unwritten.head
      assert(port.w.bits.data.peekInt() == one.number * 16 + beat, "the data of another write")
      assert(port.w.bits.strb.peekInt() == beat + 1)
      beat += 1
      if (port.w.bits.last.peekBoolean()) {
        assert(beat == one.beats)
        unwritten.dequeue()
        writes(id) += one
        beat = 0
      }
    }
    if (fires(port.aw)) unwritten += address(port.aw.bits)
    for (id <- reading if port.r.ready.peekBoolean()) {
      readBeat += 1
      if (readBeat == reads(id).head.beats) { reads(id).dequeue(); readBeat = 0; reading = None }
    }
    for (id <- responding if port.b.ready.peekBoolean()) { writes(id).dequeue(); responding = None }
  }

  private var cycle = 0

  /** One cycle. */
  def step(): Unit = withClue(s"seed $seed, cycle $cycle: ") {
    all.foreach(_.drive())
    driveChannel()
    all.foreach(_.look())
    lookChannel()
    dut.clock.step()
    cycle += 1
  }

  /** Steps until nothing is outstanding; no host starts another request. */
  def finish(): Unit = {
    all.foreach(_.asks = false)
    var left = 4000
    while (all.exists(host => host.offers || host.accepted > host.answered)) {
      step()
      left -= 1
      assert(left > 0, s"seed $seed: requests have no answer")
    }
    all.foreach(_.asks = true)
  }

  /** Requests accepted of each host; responses to all of them; hosts whose data come before or after their address. */
  def accepted: Seq[Int] = all.map(_.accepted)
  def answered: Int = all.map(_.answered).sum
  def uneven: Int = all.count(_.ahead != 0)
}
