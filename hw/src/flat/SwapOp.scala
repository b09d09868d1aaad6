// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import chisel3._

/** What a decided request wants of its set. */
class SwapOp(p: FlatParams) extends Bundle {
  val tag = UInt(p.tagBits.W)
  val write = Bool()

  /** Every byte of the line. */
  val full = Bool()

  /** It changes places with the near line. */
  val swap = Bool()

  /** The set's count is to be stored. */
  val counts = Bool()
}

/** A decided request that its lock has to carry out. */
class MshrOp(p: FlatParams) extends Bundle {
  val lock = UInt(p.lockBits.W)
  val request = UInt(p.requestBits.W)
  val op = new SwapOp(p)
}

/** A lock's first request was looked up. */
class AllocatedMshr(p: FlatParams) extends Bundle {
  val lock = UInt(p.lockBits.W)
  val permutation = new Permutation(p)
  val marked = Bool()

  /** The near line is at hand. */
  val hasLine = Bool()
}

/** A line to keep for a lock. */
class BufferedLine(p: FlatParams) extends Bundle {
  val row = UInt((p.lockBits + 1).W)
  val stored = new StoredLine(p)
}

/** What an access asks of near and far: the table of docs/flat.md. */
class Traffic extends Bundle {
  val nearRead = Bool()
  val nearWrite = Bool()
  val farRead = Bool()
  val farWrite = Bool()
}

/** What became of a request. */
class Outcome extends Bundle {
  val kind = UInt(2.W)
  val traffic = new Traffic

  /** The set was looked up for an earlier request. */
  val forwarded = Bool()

  /** Near memory does not have the line, whether or not that changes now. */
  def isMiss: Bool = kind === Outcome.miss.U || kind === Outcome.swap.U
}

/** An access, for those who watch: a device byte address, read or write. */
class Access(p: FlatParams) extends Bundle {
  val address = UInt(p.addressBits.W)
  val write = Bool()
}

/** An access and its outcome. A dedicated line is a hit; when near did not tell its tags it is neither. */
class FlatEvent(p: FlatParams) extends Bundle {
  val access = new Access(p)
  val hit = Bool()
  val miss = Bool()
}

object Outcome {
  val hit = 0

  /** That does not swap. */
  val miss = 1
  val swap = 2

  /** An access of a dedicated line, which is neither. */
  val dedicated = 3
}
