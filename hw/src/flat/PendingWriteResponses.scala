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

    /** The request's data were merged into a buffered line: the near line or the far line. */
    val merged = Flipped(Valid(new Bundle {
      val request = UInt(p.requests.W)
      val mshr = UInt(p.mshrBits.W)
      val onFarLine = Bool()
    }))

    /** The buffered line, as it is now, is being written to memory. */
    val nearWrites = Flipped(Valid(UInt(p.mshrBits.W)))
    val farWrites = Flipped(Valid(UInt(p.mshrBits.W)))

    /** The swap of an MSHR is undone: pending writes to either of its lines fail. */
    val undone = Flipped(Valid(UInt(p.mshrBits.W)))
    val nearAnswer = Flipped(Valid(new LineWriteAnswer(p)))
    val farAnswer = Flipped(Valid(new LineWriteAnswer(p)))
    val writes = Output(new WritesDone(p))

    /** Whether a write of the MSHR `select` is pending. */
    val select = Input(UInt(p.mshrBits.W))
    val ackPending = Output(Bool())
  })
  private val mshrOf = new BitSlicedCam(p.requests, p.mshrBits)
  private val merged = OneHot.onlyIf(io.merged.valid, io.merged.bits.request)
  mshrOf.write(merged -> io.merged.bits.mshr)

  /** One memory port. Returns the requests that are answered now, those of them that fail, and all that are pending. */
  private def port(
      added: Bool,
      writes: ValidIO[UInt],
      answer: ValidIO[LineWriteAnswer]
  ): (UInt, UInt, UInt) = {
    val (buffered, writing) = (RegInit(0.U(p.requests.W)), RegInit(0.U(p.requests.W)))
    val issued = OneHot.onlyIf(writes.valid, buffered & mshrOf.equal(writes.bits))
    val refused = OneHot.onlyIf(io.undone.valid, buffered & mshrOf.equal(io.undone.bits))
    val answered = OneHot.onlyIf(answer.valid, writing & mshrOf.equal(answer.bits.id))
    buffered := (buffered & ~issued & ~refused) | OneHot.onlyIf(added, merged)
    writing := (writing & ~answered) | issued
    (answered | refused, OneHot.onlyIf(answer.bits.error, answered) | refused, buffered | writing)
  }
  private val (nearDone, nearFailed, nearPending) =
    port(!io.merged.bits.onFarLine, io.nearWrites, io.nearAnswer)
  private val (farDone, farFailed, farPending) =
    port(io.merged.bits.onFarLine, io.farWrites, io.farAnswer)
  io.writes.done := nearDone | farDone
  io.writes.failed := nearFailed | farFailed
  io.writes.outside := 0.U
  io.ackPending := ((nearPending | farPending) & mshrOf.equal(io.select)).orR
}
