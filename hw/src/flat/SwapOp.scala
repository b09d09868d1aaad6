// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import chisel3._

/** The operation of a decided request on its set. */
class SwapOp(p: FlatParams) extends Bundle {
  val tag = UInt(p.tagBits.W)
  val write = Bool()

  /** It writes every byte of the line. */
  val full = Bool()

  /** The line is swapped with the near line. */
  val swap = Bool()

  /** The set's miss count has to be stored. */
  val storesCount = Bool()
}

/** A decided request for its MSHR to carry out. */
class MshrOp(p: FlatParams) extends Bundle {
  val mshr = UInt(p.mshrBits.W)
  val request = UInt(p.requestBits.W)
  val op = new SwapOp(p)
}

/** The first request of an MSHR was looked up. */
class AllocatedMshr(p: FlatParams) extends Bundle {
  val mshr = UInt(p.mshrBits.W)
  val permutation = new Permutation(p)
  val swapDisabled = Bool()

  /** The near line is buffered. */
  val hasLine = Bool()
}

/** A line to buffer for an MSHR. */
class BufferedLine(p: FlatParams) extends Bundle {
  val row = UInt((p.mshrBits + 1).W)
  val stored = new StoredLine(p)
}

/** Near and far accesses of a request, as in the table of docs/flat.md. */
class Traffic extends Bundle {
  val nearRead = Bool()
  val nearWrite = Bool()
  val farRead = Bool()
  val farWrite = Bool()
}

/** Outcome of a request. */
class Outcome extends Bundle {
  val kind = UInt(2.W)
  val traffic = new Traffic

  /** The near read was saved, because an earlier request had looked the set up. */
  val forwarded = Bool()

  /** Near did not have the line, whether or not the request swaps it in. */
  def isMiss: Bool = kind === Outcome.miss.U || kind === Outcome.swap.U
}

/** An access as an event reports it: a device byte address, read or write. */
class Access(p: FlatParams) extends Bundle {
  val address = UInt(p.addressBits.W)
  val write = Bool()
}

/** An access with its outcome. A dedicated line is a hit; if near did not return its tags it is neither hit nor miss.
  */
class FlatEvent(p: FlatParams) extends Bundle {
  val access = new Access(p)
  val hit = Bool()
  val miss = Bool()
}

object Outcome {
  val hit = 0

  /** A miss without a swap. */
  val miss = 1
  val swap = 2

  /** An access to a dedicated line: neither hit nor miss. */
  val dedicated = 3
}
