// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import chisel3._

/** What is under way for a locked set: two lines are kept of it, the near one and one of far, its victim. */
class MshrState(p: FlatParams) extends Bundle {
  val permutation = new Permutation(p)
  val marked = Bool()

  /** The near line is kept whole; it differs from what near has; it is being written. */
  val nearKept = Bool()
  val nearDirty = Bool()
  val nearWriting = Bool()

  /** A far line, and which. It is kept whole; it, or some bytes of it, are to be written; they are being written. */
  val victim = UInt(p.tagBits.W)
  val victimKept = Bool()
  val victimDirty = Bool()
  val victimWriting = Bool()

  /** The victim is being read, for the first operation; the read failed. */
  val fetching = Bool()
  val fetched = Bool()
  val fetchFailed = Bool()

  /** The first operation's read was answered, and its swap is still to do. */
  val answered = Bool()

  /** A swap is not yet written to near, nor taken back. */
  val swapOpen = Bool()

  /** Near, or far, refused a write. */
  val nearFailed = Bool()
  val victimFailed = Bool()

  /** A host's write waits to be written. */
  val owes = Bool()
}

/** What one look at a locked set does. */
class MshrUpdate extends Bundle {

  /** The first operation is done, or can't be yet. */
  val pops = Bool()
  val blocks = Bool()

  /** Its read is answered, or its read or write refused. */
  val answers = Bool()
  val refuses = Bool()

  /** It is about the victim's line, not the near one. */
  val onVictim = Bool()

  /** Its data are written to the line; to what was kept of it. */
  val writes = Bool()
  val merges = Bool()

  /** The lines change places. */
  val exchanges = Bool()

  /** The victim is to be read. */
  val fetches = Bool()

  /** The kept victim is the operation's line from now on, and whole. */
  val namesVictim = Bool()
  val keepsVictim = Bool()
  val dirtiesNear = Bool()
  val dirtiesVictim = Bool()
  val marks = Bool()

  /** A refused write is dealt with: the swap is taken back, or the kept victim given up. */
  val undoes = Bool()
  val dropsVictim = Bool()

  /** Accesses of near and far that it would have cost, and did not. */
  val forwarded = UInt(2.W)
}

/** The rules of a swap: what is to be done for a set, by its state and its first operation. Combinational.
  *
  * A swap reads the far line into the victim's place and then exchanges the two in name. Both are then dirty, and far
  * is written before near: until near has the new permutation, near and far hold both lines as the old one says. So a
  * write that is refused is answered by exchanging them back.
  *
  * An exchange waits until near and far have answered what is being written, and until no host's write waits for it.
  */
class SwapStep(p: FlatParams) extends Module {
  val io = IO(new Bundle {
    val state = Input(new MshrState(p))
    val hasOp = Input(Bool())
    val op = Input(new SwapOp(p))
    val change = Output(new MshrUpdate)
  })
  private val (s, op, c) = (io.state, io.op, io.change)
  c := 0.U.asTypeOf(c)
  private val settled = s.nearKept && !s.nearWriting && !s.victimWriting && !s.owes
  private val victimFree = !s.victimDirty && !s.victimWriting && !s.fetching && !s.swapOpen
  private val swaps = op.swap && !s.marked

  private def exchange(): Unit = {
    c.exchanges := true.B
    c.dirtiesNear := true.B
    c.dirtiesVictim := true.B
    c.pops := true.B
  }

  when(s.nearFailed || s.victimFailed) {
    c.marks := true.B
    c.undoes := s.swapOpen && s.victimKept && s.nearKept
    c.exchanges := c.undoes
    c.dirtiesNear := c.undoes || (!s.nearFailed && s.nearKept)
    c.dirtiesVictim := c.undoes
    c.dropsVictim := s.victimFailed && !c.undoes
  }.elsewhen(io.hasOp && s.permutation.near === op.tag) {
    c.pops := true.B
    c.answers := !op.write && !s.answered
    c.writes := op.write
    c.merges := !op.full && s.nearKept
    c.dirtiesNear := op.write
    c.forwarded := op.write && s.nearDirty
  }.elsewhen(io.hasOp && s.fetchFailed) {
    c.pops := true.B
    c.refuses := !s.answered
    c.marks := true.B
    c.dirtiesNear := true.B
  }.elsewhen(io.hasOp && s.victimKept && s.victim === op.tag) {
    c.onVictim := true.B
    c.writes := op.write
    c.merges := !op.full
    c.answers := !op.write && !s.answered
    c.dirtiesNear := op.counts
    when(!swaps) {
      c.pops := true.B
      c.dirtiesVictim := op.write
    }.elsewhen(settled) {
      exchange()
    }.otherwise {
      c.writes := false.B
      c.blocks := true.B
    }
    when(c.pops) {
      val sparesRead = !s.fetched && (!op.write || (swaps && !op.full))
      c.forwarded := sparesRead +& (c.dirtiesNear && s.nearDirty) +& (c.dirtiesVictim && s.victimDirty)
    }
  }.elsewhen(io.hasOp) {
    c.onVictim := true.B
    when(!victimFree) {
      c.blocks := true.B
    }.elsewhen(!op.write || (swaps && !op.full)) {
      c.fetches := true.B
      c.namesVictim := true.B
      c.blocks := true.B
    }.elsewhen(!swaps) {
      c.namesVictim := true.B
      c.keepsVictim := op.full
      c.writes := true.B
      c.dirtiesVictim := true.B
      c.pops := true.B
      c.dirtiesNear := op.counts
      c.forwarded := op.counts && s.nearDirty
    }.elsewhen(settled) {
      c.namesVictim := true.B
      c.keepsVictim := true.B
      c.writes := true.B
      exchange()
      c.forwarded := s.nearDirty
    }.otherwise {
      c.blocks := true.B
    }
  }
}
