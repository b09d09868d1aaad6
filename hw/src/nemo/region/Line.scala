// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._

/** A telemetry read of one whole line, with the rule's read effect or as a plain snapshot. */
class LineRead(p: NemoParams) extends Bundle {
  val pipeline = UInt(p.pipelineBits.W)
  val line = UInt(p.lineBits.W)
  val effect = Bool()
}

/** A line that software has read, written back: it is taken away from the counters ([[TelemetryEngine]]).
  *
  * @param target `pipeline` and `line`; `effect` says nothing here
  */
class LineAcknowledge(p: NemoParams) extends Bundle {
  val target = new LineRead(p)
  val words = Vec(p.lineWords, UInt(p.wordBits.W))
}

/** The answer to a [[LineRead]]. `poison`: a word of the line had bad parity. */
class Line(p: NemoParams) extends Bundle {
  val words = Vec(p.lineWords, UInt(p.wordBits.W))
  val poison = Bool()
}
