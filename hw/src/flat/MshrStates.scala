// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.{BitSlicedCam, OneHot}
import chisel3._
import chisel3.util._

/** The effect of one [[SwapSequencer]] step on one MSHR. */
class MshrCommit(p: FlatParams) extends Bundle {
  val lock = UInt(p.locks.W)

  /** Near's line, or the far line (victim), is sent to memory; if neither, `change` is applied, which was derived from
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
  val nearWritten = UInt(p.locks.W)
  val nearRefused = UInt(p.locks.W)
  val farWritten = UInt(p.locks.W)
  val farRefused = UInt(p.locks.W)
  val farRead = UInt(p.locks.W)
  val farReadRefused = UInt(p.locks.W)
}

/** State of every MSHR, and the journal. A warm reset forgets pending requests but keeps the buffered lines that are
  * not written yet. Each register has one bit per MSHR; each CAM one number per MSHR.
  */
class MshrStates(p: FlatParams) extends Module {
  private val slots = p.locks
  val io = IO(new Bundle {
    val powerOn = Input(Bool())
    val opened = Flipped(Valid(new AllocatedMshr(p)))
    val commit = Flipped(Valid(new MshrCommit(p)))
    val events = Input(new MemoryEvents(p))

    /** State of the MSHR `of`, and which of its two buffer rows holds the near line. */
    val of = Input(UInt(slots.W))
    val state = Output(new MshrState(p))
    val nearRow = Output(Bool())
    val nearRows = Output(UInt(slots.W))

    val marked = Output(UInt(slots.W))

    /** A step disables swapping in a set in which it was enabled. */
    val marks = Output(Bool())

    /** MSHRs with a line to write to near, or to far, that may be written now. */
    val nearWritable = Output(UInt(slots.W))
    val farWritable = Output(UInt(slots.W))

    /** MSHRs with a failed write to handle. */
    val refused = Output(UInt(slots.W))

    /** MSHRs that hold lines which memory lacks; MSHRs with any work under way. */
    val unwritten = Output(UInt(slots.W))
    val active = Output(UInt(slots.W))

    /** MSHRs with an outstanding far read. */
    val fetching = Output(UInt(slots.W))
  })
  private def journal: UInt = withReset(io.powerOn) { RegInit(0.U(slots.W)) }
  private def mask: UInt = RegInit(0.U(slots.W))
  private val (nearRows, marked, nearKept, victimKept) = (journal, journal, journal, journal)
  private val (nearDirty, nearWriting, victimDirty, victimWriting) = (journal, journal, journal, journal)
  private val (nearAfter, swapOpen, nearFailed, victimFailed) = (journal, journal, journal, journal)
  private val (fetching, fetched, fetchFailed, answered) = (mask, mask, mask, mask)
  private val permutations = new BitSlicedCam(slots, (new Permutation(p)).getWidth)
  private val victims = new BitSlicedCam(slots, p.tagBits)

  // State of the MSHR `of`.
  private def bit(word: UInt): Bool = (word & io.of).orR
  private val s = io.state
  s.permutation := permutations(io.of).asTypeOf(new Permutation(p))
  s.marked := bit(marked)
  s.nearKept := bit(nearKept)
  s.nearDirty := bit(nearDirty)
  s.nearWriting := bit(nearWriting)
  s.victim := victims(io.of)
  s.victimKept := bit(victimKept)
  s.victimDirty := bit(victimDirty)
  s.victimWriting := bit(victimWriting)
  s.fetching := bit(fetching)
  s.fetched := bit(fetched)
  s.fetchFailed := bit(fetchFailed)
  s.answered := bit(answered)
  s.swapOpen := bit(swapOpen)
  s.nearFailed := bit(nearFailed)
  s.victimFailed := bit(victimFailed)
  s.owes := DontCare
  io.nearRow := bit(nearRows)
  io.nearRows := nearRows
  io.marked := marked

  private val failed = nearFailed | victimFailed
  io.nearWritable := nearDirty & ~nearWriting & ~nearAfter & ~failed
  io.farWritable := victimDirty & ~victimWriting & ~failed
  io.refused := failed
  io.unwritten := nearDirty | nearWriting | victimDirty | victimWriting | failed
  io.active := io.unwritten | fetching
  io.fetching := fetching

  // The change of a step, and the responses of memory in the same cycle.
  private val runs = !reset.asBool
  private val commit = io.commit.bits
  private val events = Wire(chiselTypeOf(io.events))
  private def awaited(answers: UInt, by: UInt): UInt = OneHot.onlyIf(runs, answers & by)
  events.nearWritten := awaited(io.events.nearWritten, nearWriting)
  events.nearRefused := awaited(io.events.nearRefused, nearWriting)
  events.farWritten := awaited(io.events.farWritten, victimWriting)
  events.farRefused := awaited(io.events.farRefused, victimWriting)
  events.farRead := awaited(io.events.farRead, fetching)
  events.farReadRefused := awaited(io.events.farReadRefused, fetching)
  private val change = commit.change
  private val changes = OneHot.onlyIf(io.commit.valid && runs, commit.lock)
  private def changesIf(condition: Bool): UInt = OneHot.onlyIf(condition, changes)
  private val opens = OneHot.onlyIf(io.opened.valid && runs, UIntToOH(io.opened.bits.lock, slots))
  private def opensIf(condition: Bool): UInt = OneHot.onlyIf(condition, opens)
  private val exchanges = changesIf(change.exchanges)
  private val undoes = changesIf(change.undoes)
  private val swaps = exchanges & ~undoes
  private val pops = changesIf(change.pops)
  private val (nearGoes, farGoes) = (changesIf(commit.nearWrite), changesIf(commit.farWrite))
  private val partner = Mux(change.namesVictim, commit.op.tag, commit.state.victim)
  private val before = commit.state.permutation

  permutations.write(exchanges -> before.exchanged(partner).asUInt, opens -> io.opened.bits.permutation.asUInt)
  victims.write(changesIf(change.namesVictim || change.exchanges) -> Mux(change.exchanges, before.near, commit.op.tag))
  nearRows := (nearRows ^ exchanges) & ~opens
  io.marks := (changesIf(change.marks) & ~marked).orR
  marked := ((marked | changesIf(change.marks)) & ~opens) | opensIf(io.opened.bits.marked)
  nearKept := ((nearKept | changesIf(change.writes && !change.onVictim && commit.op.full)) & ~opens) |
    opensIf(io.opened.bits.hasLine)
  victimKept := (
    (victimKept & ~changesIf((change.namesVictim && !change.keepsVictim) || change.dropsVictim)) |
      changesIf(change.keepsVictim) | exchanges | (events.farRead & ~events.farReadRefused)
  ) & ~opens
  nearDirty := (nearDirty & ~nearGoes) | changesIf(change.dirtiesNear)
  victimDirty := (victimDirty & ~farGoes) | changesIf(change.dirtiesVictim)
  nearWriting := (nearWriting | nearGoes) & ~events.nearWritten
  victimWriting := (victimWriting | farGoes) & ~events.farWritten
  private val looks = !commit.nearWrite && !commit.farWrite
  private val (nearDealt, victimDealt) =
    (changesIf(looks && commit.state.nearFailed), changesIf(looks && commit.state.victimFailed))
  nearAfter := (nearAfter & ~(events.farWritten & ~events.farRefused) & ~nearDealt & ~victimDealt) | swaps
  swapOpen := (swapOpen & ~(events.nearWritten & ~events.nearRefused) & ~undoes) | swaps
  nearFailed := (nearFailed & ~nearDealt) | events.nearRefused
  victimFailed := (victimFailed & ~victimDealt) | events.farRefused
  fetching := (fetching | changesIf(change.fetches)) & ~events.farRead
  fetched := (fetched | changesIf(change.fetches)) & ~pops
  fetchFailed := (fetchFailed & ~pops) | events.farReadRefused
  answered := (answered | changesIf(change.answers)) & ~pops

  // Writes in flight at the reset are written again.
  when(reset.asBool) {
    nearDirty := nearDirty | nearWriting
    victimDirty := victimDirty | victimWriting
    nearWriting := 0.U
    victimWriting := 0.U
  }
}
