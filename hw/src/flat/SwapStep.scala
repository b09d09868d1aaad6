// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import chisel3._

/** State of an MSHR. It buffers two lines of its set: the near line and one far line. */
class MshrState(p: FlatParams) extends Bundle {
  val permutation = new Permutation(p)
  val swapDisabled = Bool()

  /** The near line is buffered whole; differs from near's copy; is being written. */
  val nearBuffered = Bool()
  val nearDirty = Bool()
  val nearWriting = Bool()

  /** Tag of the buffered far line. It is buffered whole; it or some of its bytes are dirty; it is being written. */
  val farTag = UInt(p.tagBits.W)
  val farBuffered = Bool()
  val farDirty = Bool()
  val farWriting = Bool()

  /** The far line is being read; a read was issued for the first operation; that read failed. */
  val fetching = Bool()
  val fetched = Bool()
  val fetchFailed = Bool()

  /** The read of the first operation is answered, but its swap is still pending. */
  val answered = Bool()

  /** A swap is neither written to near nor undone yet. */
  val swapPending = Bool()

  /** Near, or far, refused a write. */
  val nearFailed = Bool()
  val farFailed = Bool()

  /** A host write to this set is waiting to be acknowledged. */
  val ackPending = Bool()
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
  val onFarLine = Bool()

  /** The operation's data are written to the line; merged with its buffered bytes. */
  val writes = Bool()
  val merges = Bool()

  /** The near line and the far line are exchanged. */
  val exchanges = Bool()

  /** The far line is read from far. */
  val fetches = Bool()

  /** The buffered far line becomes that of the operation; and is whole. */
  val setsFarTag = Bool()
  val setsFarBuffered = Bool()
  val dirtiesNear = Bool()
  val dirtiesFar = Bool()
  val disablesSwap = Bool()

  /** A failed write is handled: the swap is undone; or the buffered far line is dropped. */
  val undoes = Bool()
  val dropsFar = Bool()

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
  private val canExchange = s.nearBuffered && !s.nearWriting && !s.farWriting && !s.ackPending
  private val farFree = !s.farDirty && !s.farWriting && !s.fetching && !s.swapPending
  private val swaps = op.swap && !s.swapDisabled

  private def exchange(): Unit = {
    c.exchanges := true.B
    c.dirtiesNear := true.B
    c.dirtiesFar := true.B
    c.pops := true.B
  }

  when(s.nearFailed || s.farFailed) {
    c.disablesSwap := true.B
    c.undoes := s.swapPending && s.farBuffered && s.nearBuffered
    c.exchanges := c.undoes
    c.dirtiesNear := c.undoes || (!s.nearFailed && s.nearBuffered)
    c.dirtiesFar := c.undoes
    c.dropsFar := s.farFailed && !c.undoes
  }.elsewhen(io.hasOp && s.permutation.near === op.tag) {
    c.pops := true.B
    c.answers := !op.write && !s.answered
    c.writes := op.write
    c.merges := !op.full && s.nearBuffered
    c.dirtiesNear := op.write
    c.forwarded := op.write && s.nearDirty
  }.elsewhen(io.hasOp && s.fetchFailed) {
    c.pops := true.B
    c.refuses := !s.answered
    c.disablesSwap := true.B
    c.dirtiesNear := true.B
  }.elsewhen(io.hasOp && s.farBuffered && s.farTag === op.tag) {
    c.onFarLine := true.B
    c.writes := op.write
    c.merges := !op.full
    c.answers := !op.write && !s.answered
    c.dirtiesNear := op.storesCount
    when(!swaps) {
      c.pops := true.B
      c.dirtiesFar := op.write
    }.elsewhen(canExchange) {
      exchange()
    }.otherwise {
      c.writes := false.B
      c.blocks := true.B
    }
    when(c.pops) {
      val savesRead = !s.fetched && (!op.write || (swaps && !op.full))
      c.forwarded := savesRead +& (c.dirtiesNear && s.nearDirty) +& (c.dirtiesFar && s.farDirty)
    }
  }.elsewhen(io.hasOp) {
    c.onFarLine := true.B
    when(!farFree) {
      c.blocks := true.B
    }.elsewhen(!op.write || (swaps && !op.full)) {
      c.fetches := true.B
      c.setsFarTag := true.B
      c.blocks := true.B
    }.elsewhen(!swaps) {
      c.setsFarTag := true.B
      c.setsFarBuffered := op.full
      c.writes := true.B
      c.dirtiesFar := true.B
      c.pops := true.B
      c.dirtiesNear := op.storesCount
      c.forwarded := op.storesCount && s.nearDirty
    }.elsewhen(canExchange) {
      c.setsFarTag := true.B
      c.setsFarBuffered := true.B
      c.writes := true.B
      exchange()
      c.forwarded := s.nearDirty
    }.otherwise {
      c.blocks := true.B
    }
  }
}
