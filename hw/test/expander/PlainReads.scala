// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{Axi4, Axi4ReadData}
import chiseltest._
import scala.collection.mutable
import scala.util.Random

/** An outstanding read: of memory, answered in cycle `due` at the earliest, or a telemetry beat. */
class PlainRead(val id: Int, val memory: Boolean, val due: Int, val number: Int, val resp: Int = Axi4.Resp.Okay) {
  val okay: Boolean = resp == Axi4.Resp.Okay
  val last: Boolean = number % 3 > 0
  val poison: Boolean = okay && number % 5 == 0

  /** The line's data: its number in every word. */
  val words: Seq[BigInt] = Seq.tabulate(8)(k => (BigInt(number) << 32) + k)
  val data: BigInt = words.zipWithIndex.map { case (word, k) => word << (64 * k) }.sum

  /** The cycle in which its line arrived; a refused beat has none. */
  var arrived = Option.empty[Int]

  /** Memory has responded. */
  var sent = false

  /** The cycle since which nothing of its id is ahead. */
  var firstSince = Option.empty[Int]

  def poke(to: TelemetryBeat): Unit = {
    to.id.poke(id)
    to.last.poke(last)
    to.resp.poke(resp)
  }
  def poke(to: Axi4ReadData): Unit = {
    to.id.poke(id)
    to.data.poke(data)
    to.resp.poke(resp)
    to.last.poke(true)
    to.user.poke(poison)
  }
  def expect(from: ReadResponse): Unit = {
    from.isLine.expect(!memory)
    from.beat.resp.expect(resp)
    from.beat.last.expect(memory || last)
    val own = if (memory) from.memoryData.peekInt() else from.lineData.peekInt()
    assert(own.testBit(512) == poison, "poison")
    if (okay) assert(own.clearBit(512) == data, "data")
  }
}

/** Load of all sides. Probabilities per cycle of a read, of a memory response and of accepting one; shares of memory
  * among the reads, and of refused reads and serial read-modify-writes among telemetry reads; memory's highest latency.
  */
case class Load(
    ids: Int,
    memory: Double,
    latency: Int = 1,
    reads: Double = 1,
    refused: Double = 0,
    serialRmws: Double = 0,
    answers: Double = 1,
    taken: Double = 1
)

object Load {
  def random(random: Random, ids: Int): Load = {
    def one[T](of: T*) = of(random.nextInt(of.length))
    Load(
      one(1, 2, ids, ids),
      one(0.0, 0.1, 0.5, 0.8),
      one(1, 5, 40),
      one(1.0, 1.0, 0.6, 0.2),
      one(0.0, 0.1, 0.5),
      one(0.0, 0.1),
      one(1.0, 0.7, 0.2),
      one(1.0, 1.0, 0.8, 0.4)
    )
  }
}

/** The outstanding reads of a channel. AXI requires responses of one id in order. */
class PlainReads(load: Load, random: Random) {
  private val queues = Seq.fill(load.ids)(mutable.Buffer[PlainRead]())
  private var offered = Option.empty[PlainRead]

  def issue(read: PlainRead): Unit = queues(read.id) += read
  def count: Int = queues.map(_.length).sum
  def ahead(read: PlainRead): Int = queues(read.id).indexOf(read)
  def first(id: Int): Option[PlainRead] = queues(id).headOption

  /** The response that memory offers until it is accepted. */
  def memoryOffers(cycle: Int): Option[PlainRead] = {
    if (offered.forall(_.sent)) {
      val due = queues.flatMap(_.find(read => read.memory && !read.sent)).filter(_.due <= cycle)
      offered = Option.when(due.nonEmpty && random.nextDouble() < load.answers)(due(random.nextInt(due.length)))
    }
    offered
  }

  /** The first read of an id is answered. */
  def answer(id: Int): PlainRead = queues(id).remove(0)

  /** Records for each line the cycle since which no read of its id is ahead. */
  def recordFirst(cycle: Int): Seq[PlainRead] = {
    val lines = queues.flatMap(_.headOption).filter(!_.memory)
    for (line <- lines if line.firstSince.isEmpty) line.firstSince = Some(cycle)
    lines
  }
}
