// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.{BitSlicedCam, OneHot}
import chisel3._
import chisel3.util._

/** Requests whose data are kept for a lock and not yet in near or far: they are answered when memory has answered.
  *
  * A write that comes while an earlier one's data are being written waits for the next time.
  */
class PendingWriteResponses(p: FlatParams) extends Module {
  val io = IO(new Bundle {

    /** A request's data were put to a kept line: near's, or the victim. */
    val starts = Flipped(Valid(new Bundle {
      val request = UInt(p.requests.W)
      val lock = UInt(p.lockBits.W)
      val onVictim = Bool()
    }))

    /** A kept line is written from here on as it is. */
    val nearWrites = Flipped(Valid(UInt(p.lockBits.W)))
    val farWrites = Flipped(Valid(UInt(p.lockBits.W)))

    /** A lock's swap is taken back: what waits to be written to either line is refused. */
    val undone = Flipped(Valid(UInt(p.lockBits.W)))
    val nearAnswer = Flipped(Valid(new LineWriteAnswer(p)))
    val farAnswer = Flipped(Valid(new LineWriteAnswer(p)))
    val writes = Output(new WritesDone(p))

    /** Whether anyone waits for a lock. */
    val of = Input(UInt(p.lockBits.W))
    val owes = Output(Bool())
  })
  private val owners = new BitSlicedCam(p.requests, p.lockBits)
  private val starts = OneHot.onlyIf(io.starts.valid, io.starts.bits.request)
  owners.write(starts -> io.starts.bits.lock)

  /** Those of one port: the requests that are answered, and failed, now; and all that wait. */
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
