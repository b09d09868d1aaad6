// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{Axi4ReadData, BitSlicedCam, OneHot, VotedRam}
import chisel3._
import chisel3.util._

/** A beat on its way to [[ReadPrefetchBuffer]], two cycles before its data. */
class PrefetchedBeat(p: ExpanderParams) extends Bundle {
  val beat = new TelemetryBeat(p)

  /** Reads of its id ahead of it two cycles ago, without the ones answered in that cycle; at most
    * [[ReadPrefetchBuffer.ahead]].
    */
  val ahead = UInt(log2Ceil(ReadPrefetchBuffer.ahead + 1).W)
}

/** Telemetry lines that leave soon. They are fetched before they are next in order, so each can follow a response of
  * its id in the very next cycle.
  *
  * The offered line is a register and stays until it is taken. The next offer is another line that is next in order,
  * the oldest first; otherwise the line that the response of this cycle makes next. That is at most one, since the
  * response has one id.
  *
  * Latency: three cycles from `in` to the offer.
  */
class ReadPrefetchBuffer(p: ExpanderParams) extends Module {
  private val entries = ReadPrefetchBuffer.entries
  val io = IO(new Bundle {

    /** There is always a free entry, because the sender counts credits. */
    val in = Flipped(Valid(new PrefetchedBeat(p)))

    /** Poison and data of the line of two cycles ago; an uncorrectable error in the line of three cycles ago. */
    val data = Input(UInt((p.memory.dataBits + 1).W))
    val uncorrectable = Input(Bool())

    /** The id answered in the last cycle. */
    val answered = Flipped(Valid(UInt(p.memory.idBits.W)))
    val memory = Input(new MemoryHead(p))

    /** A read is answered in this cycle: by memory's head; by the offered line. */
    val memoryAnswers = Input(Bool())
    val taken = Input(Bool())
    val offer = Valid(new Axi4ReadData(p.memory))

    /** The offered line has the id of memory's next head. */
    val offerIsNext = Output(Bool())

    /** One cycle ago, a line with the id of memory's head was next in order; had one read ahead. */
    val lineWasNext = Output(Bool())
    val lineWasSecond = Output(Bool())

    /** A bit was corrected in the line that left [[VotedRam.latency]] cycles ago; inject a flip into the next line. */
    val corrected = Output(Bool())
    val inject = Flipped(Valid(Bool()))
  })
  private def mask: UInt = RegInit(0.U(entries.W))

  /** Only the first entries hold lines with reads ahead: the others are reserved. */
  private val early = entries - ReadPrefetchBuffer.reserved
  private def earlyMask: UInt = RegInit(0.U(early.W))
  private val used = mask
  private val ids = new BitSlicedCam(entries, p.memory.idBits)
  private val answers = new BitSlicedCam(entries, TelemetryBeat.answerBits)

  /** Lines with no read ahead, and with one. */
  private val (lineNext, second) = (mask, earlyMask)

  /** Lines with two or more reads ahead, by number, counting responses up to two cycles ago; and `advanced`, the lines
    * that the last cycle's response moved forward.
    */
  private val others = Seq.fill(ReadPrefetchBuffer.ahead - 1)(earlyMask)
  private val advanced = earlyMask

  /** By early entry, the lines with the same id. */
  private val same = Seq.fill(early)(Reg(UInt(entries.W)))

  /** By entry, the lines that entered before it. */
  private val before = Seq.fill(entries)(Reg(UInt(entries.W)))

  // A beat enters one cycle later: by then it is known which lines have its id, and how many reads are ahead of it
  // except for the responses of the last two cycles.
  private def isId(of: Valid[UInt], id: UInt): Bool = of.valid && of.bits === id
  private def moved(distance: UInt, count: Bool): UInt = Mux(count, distance >> 1, distance)
  private val arrives = RegNext(io.in.valid, false.B)
  private val beat = RegNext(io.in.bits.beat)
  private val id = beat.id
  private val far = UIntToOH(io.in.bits.ahead, ReadPrefetchBuffer.ahead + 1)
  private val farther = RegNext(moved(far, isId(io.answered, io.in.bits.beat.id)))
  private val distance = moved(farther, isId(io.answered, id))
  private val free = mask
  private val enters = OneHot.onlyIf(arrives, free)
  private val entersEarly = enters(early - 1, 0)
  free := ReadPrefetchBuffer.firstOf(~(used | enters))
  assert(!arrives || free.orR, "a telemetry line without a free entry")
  assert(
    !enters(entries - 1, early).orR || RegNext(io.in.bits.ahead) === 0.U,
    "a line with reads ahead in a reserved entry"
  )
  private val sameAsNew = RegNext(
    (ids.equal(io.in.bits.beat.id) & ~enters) | OneHot.onlyIf(io.in.bits.beat.id === id, enters)
  )
  ids.next(0.U, enters, id)
  answers.next(0.U, enters, beat.answer)
  for ((row, entry) <- same.zipWithIndex)
    row := Mux(enters(entry), sameAsNew, (row & ~enters) | OneHot.onlyIf(sameAsNew(entry), enters))
  for ((row, entry) <- before.zipWithIndex) row := Mux(enters(entry), Fill(entries, 1.U), row) & ~enters
  private val headMatch = new HeadIdMatch(ids, entries, io.memory, enters, id)

  private val offered = RegInit(false.B)
  private val offer = mask

  /** The offered line's number, for the memories' address, and its id; to select them by `offer` takes longer. */
  private val offerNumber = RegInit(0.U(log2Ceil(entries).W))
  private val offerId = Reg(UInt(p.memory.idBits.W))
  private val sameAsOffer = VecInit(same.map(row => (row & offer).orR)).asUInt
  io.offerIsNext := headMatch.next(offer)
  used := (used & ~OneHot.onlyIf(io.taken, offer)) | enters

  private val more = others.zipWithIndex.map { case (lines, k) =>
    (lines & ~advanced) | (others.lift(k + 1).getOrElse(0.U(early.W)) & advanced)
  }
  for (((lines, now), k) <- others.zip(more).zipWithIndex)
    lines := (now & ~entersEarly) | OneHot.onlyIf(distance(k + 2), entersEarly)

  // A response moves every line of its id forward by one. Which id is answered is known late in the cycle, so the next
  // state is computed for no response, for memory's and for the offered line's, and then selected. Lines with two or
  // more reads ahead are updated one cycle later. Of the lines that are next in order, the oldest is offered.
  private val waiting = lineNext & ~offer
  private val first = VecInit(before.zipWithIndex.map { case (row, entry) =>
    waiting(entry) && !(waiting & row).orR
  }).asUInt
  private case class After(lineNext: UInt, second: UInt, advanced: UInt, offer: UInt, number: UInt, offered: Bool)
  private def after(forward: UInt, anyNext: Bool, free: Bool, left: UInt): After = {
    val next = forward & second
    def number(of: UInt): UInt = OneHot.number(of, entries)
    After(
      (lineNext | next) & ~enters & ~left,
      ((second & ~forward) | (more.head & forward)) & ~entersEarly,
      forward & ~entersEarly,
      Mux(free, first | OneHot.onlyIf(!waiting.orR, next), offer),
      Mux(free, Mux(waiting.orR, number(first), number(next)), offerNumber),
      !free || waiting.orR || anyNext
    )
  }
  private val none = 0.U(entries.W)
  private val sameAsHead = headMatch.head(early - 1, 0)
  // By entry, whether a line with the same id has one read ahead.
  private val secondOfId = VecInit.tabulate(entries)(entry => (VecInit(same.map(_(entry))).asUInt & second).orR).asUInt
  private val cases = Seq(
    after(none, false.B, !offered, none),
    after(sameAsHead, (sameAsHead & second).orR, !offered, none),
    after(sameAsOffer, (secondOfId & offer).orR, true.B, offer)
  )
  private def chosen[T <: Data](what: After => T): T =
    Mux(io.taken, what(cases(2)), Mux(io.memoryAnswers, what(cases(1)), what(cases(0))))
  private val newMoves =
    Mux(io.taken, (sameAsNew & offer).orR, io.memoryAnswers && io.memory.isHead(id))
  lineNext := chosen(_.lineNext) | OneHot.onlyIf(distance(0) || (distance(1) && newMoves), enters)
  second := chosen(_.second) | OneHot.onlyIf(Mux(newMoves, distance(2), distance(1)), entersEarly)
  advanced := chosen(_.advanced) | OneHot.onlyIf(newMoves, entersEarly)
  offer := chosen(_.offer)
  offerNumber := chosen(_.number)
  offered := chosen(_.offered)
  // A line that becomes next in this cycle has the id that is answered. Without an offer it is any.
  when(io.taken || !offered) {
    offerId := Mux(waiting.orR, ids(first), Mux(io.taken, offerId, io.memory.head))
  }
  assert(!offered || offerId === ids(offer), "an offered line with another's id")
  assert(!(io.memoryAnswers && (headMatch.head & lineNext).orR), "a telemetry line was overtaken by memory's answer")
  assert(!(io.taken && (sameAsOffer & waiting(early - 1, 0)).orR), "a telemetry line was overtaken")
  io.lineWasNext := RegNext(headMatch.next(lineNext))
  io.lineWasSecond := RegNext(headMatch.next(second.pad(entries)))

  // Read in the cycle in which the line may leave.
  private val data = Module(new VotedRam(entries, p.memory.dataBits + 1))
  private val entered = RegNext(RegNext(enters))
  data.io.write.valid := RegNext(arrives, false.B)
  data.io.write.bits.address := RegNext(OneHot.number(free, entries))
  data.io.write.bits.data := io.data
  data.io.read := offerNumber
  data.io.counts := io.taken
  data.io.inject := io.inject
  io.corrected := data.io.corrected
  private val uncorrectable = mask
  private val poisoned = uncorrectable | OneHot.onlyIf(io.uncorrectable, entered)
  uncorrectable := poisoned & ~enters
  private val leaving = TelemetryBeat(p, offerId, answers(offer))
  io.offer.valid := offered
  io.offer.bits.id := leaving.id
  io.offer.bits.data := data.io.data
  io.offer.bits.user := data.io.data(p.memory.dataBits) || (poisoned & offer).orR
  io.offer.bits.resp := leaving.resp
  io.offer.bits.last := leaving.last
}

object ReadPrefetchBuffer {

  /** The first set bit of `some`. */
  private def firstOf(some: UInt): UInt = {
    val size = 4
    val groups = (0 until entries by size).map(from => some(from + size - 1, from))
    val first = OneHot.first(VecInit(groups.map(_.orR)).asUInt, groups.length)
    VecInit(groups.zipWithIndex.map { case (group, g) => OneHot.onlyIf(first(g), OneHot.first(group, size)) }).asUInt
  }

  val entries: Int = 20

  /** The last entries, reserved for lines with no read ahead, so lines that wait for others neither block nor slow them:
    * as many as the cycles from picking a line to getting its credit back. A line takes the first free entry.
    */
  val reserved: Int = 7

  /** Most reads ahead of a line when it is fetched: as many responses as can come during the fetch. */
  val ahead: Int = 7
}
