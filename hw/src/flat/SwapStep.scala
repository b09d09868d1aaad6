// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import chisel3._

/** State of an MSHR. It buffers two lines of its set: the near line and one far line (the victim). */
class MshrState(p: FlatParams) extends Bundle {
  val permutation = new Permutation(p)
  val marked = Bool()

  /** The near line is buffered whole; differs from near's copy; is being written. */
  val nearKept = Bool()
  val nearDirty = Bool()
  val nearWriting = Bool()

  /** Tag of the buffered far line. It is buffered whole; it or some of its bytes are dirty; it is being written. */
  val victim = UInt(p.tagBits.W)
  val victimKept = Bool()
  val victimDirty = Bool()
  val victimWriting = Bool()

  /** The far line is being read; a read was issued for the first operation; that read failed. */
  val fetching = Bool()
  val fetched = Bool()
  val fetchFailed = Bool()

  /** The read of the first operation is answered, but its swap is still pending. */
  val answered = Bool()

  /** A swap is neither written to near nor undone yet. */
  val swapOpen = Bool()

  /** Near, or far, refused a write. */
  val nearFailed = Bool()
  val victimFailed = Bool()

  /** A host write to this set is waiting to be acknowledged. */
  val owes = Bool()
}

/** The changes that one step makes to an MSHR. */
class MshrUpdate extends Bundle {

  /** The first operation is done; or is blocked. */
  val pops = Bool()
  val blocks = Bool()

  /** The read is answered; or the read or write fails. */
  val answers = Bool()
  val refuses = Bool()

  /** The operation uses the far line, not the near line. */
  val onVictim = Bool()

  /** The operation's data are written to the line; merged with its buffered bytes. */
  val writes = Bool()
  val merges = Bool()

  /** The near line and the far line are exchanged. */
  val exchanges = Bool()

  /** The far line is read from far. */
  val fetches = Bool()

  /** The buffered far line becomes that of the operation; and is whole. */
  val namesVictim = Bool()
  val keepsVictim = Bool()
  val dirtiesNear = Bool()
  val dirtiesVictim = Bool()
  val marks = Bool()

  /** A failed write is handled: the swap is undone; or the buffered far line is dropped. */
  val undoes = Bool()
  val dropsVictim = Bool()

  /** Near and far accesses that the operation saved. */
  val forwarded = UInt(2.W)
}

/** The rules of a swap: what is done for a set, from its MSHR state and its first operation. Combinational.
  *
  * A swap reads the far line into the MSHR and then exchanges the two lines by renaming. Both are then dirty, and far
  * is written before near: until near has the new permutation, near and far still hold both lines in the old layout. So
  * a failed write is handled by exchanging them back.
  *
  * An exchange waits until no write to near or far is in flight and no host write is waiting for the set.
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
