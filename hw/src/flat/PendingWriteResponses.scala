// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.{BitSlicedCam, OneHot}
import chisel3._
import chisel3.util._

/** Writes whose data are buffered in an MSHR and not yet in near or far. They are answered when memory has responded.
  *
  * A write that comes while the line is already being written waits for the next write of the line.
  */
class PendingWriteResponses(p: FlatParams) extends Module {
  val io = IO(new Bundle {

    /** The request's data were merged into a buffered line: the near line or the far line (victim). */
    val starts = Flipped(Valid(new Bundle {
      val request = UInt(p.requests.W)
      val lock = UInt(p.lockBits.W)
      val onVictim = Bool()
    }))

    /** The buffered line, as it is now, is being written to memory. */
    val nearWrites = Flipped(Valid(UInt(p.lockBits.W)))
    val farWrites = Flipped(Valid(UInt(p.lockBits.W)))

    /** The swap of an MSHR is undone: pending writes to either of its lines fail. */
    val undone = Flipped(Valid(UInt(p.lockBits.W)))
    val nearAnswer = Flipped(Valid(new LineWriteAnswer(p)))
    val farAnswer = Flipped(Valid(new LineWriteAnswer(p)))
    val writes = Output(new WritesDone(p))

    /** Whether a write of the MSHR `of` is pending. */
    val of = Input(UInt(p.lockBits.W))
    val owes = Output(Bool())
  })
  private val owners = new BitSlicedCam(p.requests, p.lockBits)
  private val starts = OneHot.onlyIf(io.starts.valid, io.starts.bits.request)
  owners.write(starts -> io.starts.bits.lock)

  /** One memory port. Returns the requests that are answered now, those of them that fail, and all that are pending. */
  private def port(
      starting: Bool,
      writes: ValidIO[UInt],
      answer: ValidIO[LineWriteAnswer]
  ): (UInt, UInt, UInt) = {
    val (kept, written) = (RegInit(0.U(p.requests.W)), RegInit(0.U(p.requests.W)))
    val goes = OneHot.onlyIf(writes.valid, kept & owners.equal(writes.bits))
    val refused = OneHot.onlyIf(io.undone.valid, kept & owners.equal(io.undone.bits))
    val answered = OneHot.onlyIf(answer.valid, written & owners.equal(answer.bits.id))
    kept := (kept & ~goes & ~refused) | OneHot.onlyIf(starting, starts)
    written := (written & ~answered) | goes
    (answered | refused, OneHot.onlyIf(answer.bits.error, answered) | refused, kept | written)
  }
  private val (nearDone, nearFailed, nearWaits) =
    port(!io.starts.bits.onVictim, io.nearWrites, io.nearAnswer)
  private val (farDone, farFailed, farWaits) =
    port(io.starts.bits.onVictim, io.farWrites, io.farAnswer)
  io.writes.done := nearDone | farDone
  io.writes.failed := nearFailed | farFailed
  io.writes.outside := 0.U
  io.owes := ((nearWaits | farWaits) & owners.equal(io.of)).orR
}
