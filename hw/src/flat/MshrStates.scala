// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.{BitSlicedCam, OneHot}
import chisel3._
import chisel3.util._

/** The effect of one [[SwapSequencer]] step on one MSHR. */
class MshrCommit(p: FlatParams) extends Bundle {
  val mshr = UInt(p.mshrs.W)

  /** Near's line, or the far line, is sent to memory; if neither, `change` is applied, which was derived from
    * `state`.
    */
  val nearWrite = Bool()
  val farWrite = Bool()
  val change = new MshrUpdate
  val state = new MshrState(p)
  val op = new SwapOp(p)
}

/** Responses of memory, one bit per MSHR. */
class MemoryEvents(p: FlatParams) extends Bundle {
  val nearWritten = UInt(p.mshrs.W)
  val nearRefused = UInt(p.mshrs.W)
  val farWritten = UInt(p.mshrs.W)
  val farRefused = UInt(p.mshrs.W)
  val farRead = UInt(p.mshrs.W)
  val farReadRefused = UInt(p.mshrs.W)
}

/** State of every MSHR, and the journal. A warm reset forgets pending requests but keeps the buffered lines that are
  * not written yet. Each register has one bit per MSHR; each CAM one number per MSHR.
  */
class MshrStates(p: FlatParams) extends Module {
  private val mshrs = p.mshrs
  val io = IO(new Bundle {
    val powerOn = Input(Bool())
    val allocated = Flipped(Valid(new AllocatedMshr(p)))
    val commit = Flipped(Valid(new MshrCommit(p)))
    val events = Input(new MemoryEvents(p))

    /** State of the MSHR `select`, and which of its two buffer rows holds the near line. */
    val select = Input(UInt(mshrs.W))
    val state = Output(new MshrState(p))
    val nearRow = Output(Bool())
    val nearRows = Output(UInt(mshrs.W))

    val swapDisabled = Output(UInt(mshrs.W))

    /** A step disables swapping in a set in which it was enabled. */
    val disablesSwap = Output(Bool())

    /** MSHRs with a line to write to near, or to far, that may be written now. */
    val nearWritable = Output(UInt(mshrs.W))
    val farWritable = Output(UInt(mshrs.W))

    /** MSHRs with a failed write to handle. */
    val refused = Output(UInt(mshrs.W))

    /** MSHRs that hold lines which memory lacks; MSHRs with any work under way. */
    val unwritten = Output(UInt(mshrs.W))
    val active = Output(UInt(mshrs.W))

    /** MSHRs with an outstanding far read. */
    val fetching = Output(UInt(mshrs.W))
  })
  private def journal: UInt = withReset(io.powerOn) { RegInit(0.U(mshrs.W)) }
  private def mask: UInt = RegInit(0.U(mshrs.W))
  private val (nearRows, swapDisabled, nearBuffered, farBuffered) = (journal, journal, journal, journal)
  private val (nearDirty, nearWriting, farDirty, farWriting) = (journal, journal, journal, journal)
  private val (nearAfterFar, swapPending, nearFailed, farFailed) = (journal, journal, journal, journal)
  private val (fetching, fetched, fetchFailed, answered) = (mask, mask, mask, mask)
  private val permutations = new BitSlicedCam(mshrs, (new Permutation(p)).getWidth)
  private val farTags = new BitSlicedCam(mshrs, p.tagBits)

  // State of the MSHR `select`.
  private def bit(word: UInt): Bool = (word & io.select).orR
  private val s = io.state
  s.permutation := permutations(io.select).asTypeOf(new Permutation(p))
  s.swapDisabled := bit(swapDisabled)
  s.nearBuffered := bit(nearBuffered)
  s.nearDirty := bit(nearDirty)
  s.nearWriting := bit(nearWriting)
  s.farTag := farTags(io.select)
  s.farBuffered := bit(farBuffered)
  s.farDirty := bit(farDirty)
  s.farWriting := bit(farWriting)
  s.fetching := bit(fetching)
  s.fetched := bit(fetched)
  s.fetchFailed := bit(fetchFailed)
  s.answered := bit(answered)
  s.swapPending := bit(swapPending)
  s.nearFailed := bit(nearFailed)
  s.farFailed := bit(farFailed)
  s.ackPending := DontCare
  io.nearRow := bit(nearRows)
  io.nearRows := nearRows
  io.swapDisabled := swapDisabled

  private val failed = nearFailed | farFailed
  io.nearWritable := nearDirty & ~nearWriting & ~nearAfterFar & ~failed
  io.farWritable := farDirty & ~farWriting & ~failed
  io.refused := failed
  io.unwritten := nearDirty | nearWriting | farDirty | farWriting | failed
  io.active := io.unwritten | fetching
  io.fetching := fetching

  // The change of a step, and the responses of memory in the same cycle.
  private val runs = !reset.asBool
  private val commit = io.commit.bits
  private val events = Wire(chiselTypeOf(io.events))
  private def awaited(answers: UInt, by: UInt): UInt = OneHot.onlyIf(runs, answers & by)
  events.nearWritten := awaited(io.events.nearWritten, nearWriting)
  events.nearRefused := awaited(io.events.nearRefused, nearWriting)
  events.farWritten := awaited(io.events.farWritten, farWriting)
  events.farRefused := awaited(io.events.farRefused, farWriting)
  events.farRead := awaited(io.events.farRead, fetching)
  events.farReadRefused := awaited(io.events.farReadRefused, fetching)
  private val change = commit.change
  private val changes = OneHot.onlyIf(io.commit.valid && runs, commit.mshr)
  private def changesIf(condition: Bool): UInt = OneHot.onlyIf(condition, changes)
  private val allocates = OneHot.onlyIf(io.allocated.valid && runs, UIntToOH(io.allocated.bits.mshr, mshrs))
  private def allocatesIf(condition: Bool): UInt = OneHot.onlyIf(condition, allocates)
  private val exchanges = changesIf(change.exchanges)
  private val undoes = changesIf(change.undoes)
  private val swaps = exchanges & ~undoes
  private val pops = changesIf(change.pops)
  private val (nearIssued, farIssued) = (changesIf(commit.nearWrite), changesIf(commit.farWrite))
  private val exchangedTag = Mux(change.setsFarTag, commit.op.tag, commit.state.farTag)
  private val before = commit.state.permutation

  permutations.write(
    exchanges -> before.exchanged(exchangedTag).asUInt,
    allocates -> io.allocated.bits.permutation.asUInt
  )
  farTags.write(changesIf(change.setsFarTag || change.exchanges) -> Mux(change.exchanges, before.near, commit.op.tag))
  nearRows := (nearRows ^ exchanges) & ~allocates
  io.disablesSwap := (changesIf(change.disablesSwap) & ~swapDisabled).orR
  swapDisabled := ((swapDisabled | changesIf(change.disablesSwap)) & ~allocates) | allocatesIf(
    io.allocated.bits.swapDisabled
  )
  nearBuffered := ((nearBuffered | changesIf(change.writes && !change.onFarLine && commit.op.full)) & ~allocates) |
    allocatesIf(io.allocated.bits.hasLine)
  farBuffered := (
    (farBuffered & ~changesIf((change.setsFarTag && !change.setsFarBuffered) || change.dropsFar)) |
      changesIf(change.setsFarBuffered) | exchanges | (events.farRead & ~events.farReadRefused)
  ) & ~allocates
  nearDirty := (nearDirty & ~nearIssued) | changesIf(change.dirtiesNear)
  farDirty := (farDirty & ~farIssued) | changesIf(change.dirtiesFar)
  nearWriting := (nearWriting | nearIssued) & ~events.nearWritten
  farWriting := (farWriting | farIssued) & ~events.farWritten
  private val looks = !commit.nearWrite && !commit.farWrite
  private val (nearHandled, farHandled) =
    (changesIf(looks && commit.state.nearFailed), changesIf(looks && commit.state.farFailed))
  nearAfterFar := (nearAfterFar & ~(events.farWritten & ~events.farRefused) & ~nearHandled & ~farHandled) | swaps
  swapPending := (swapPending & ~(events.nearWritten & ~events.nearRefused) & ~undoes) | swaps
  nearFailed := (nearFailed & ~nearHandled) | events.nearRefused
  farFailed := (farFailed & ~farHandled) | events.farRefused
  fetching := (fetching | changesIf(change.fetches)) & ~events.farRead
  fetched := (fetched | changesIf(change.fetches)) & ~pops
  fetchFailed := (fetchFailed & ~pops) | events.farReadRefused
  answered := (answered | changesIf(change.answers)) & ~pops

  // Writes in flight at the reset are written again.
  when(reset.asBool) {
    nearDirty := nearDirty | nearWriting
    farDirty := farDirty | farWriting
    nearWriting := 0.U
    farWriting := 0.U
  }
}
