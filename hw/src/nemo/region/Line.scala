// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._

/** A telemetry read of one line; without `effect` it changes nothing. */
class LineRead(p: NemoParams) extends Bundle {
  val pipeline = UInt(p.pipelineBits.W)
  val line = UInt(p.lineBits.W)
  val effect = Bool()
}

/** A line that software read and wrote back, to be subtracted from the counters ([[AcknowledgeUnit]]).
  *
  * @param target `effect` is not used
  */
class LineAcknowledge(p: NemoParams) extends Bundle {
  val target = new LineRead(p)
  val words = Vec(p.lineWords, UInt(p.wordBits.W))
}

/** The answer to a [[LineRead]]. `poison`: a word of it had bad parity. */
class Line(p: NemoParams) extends Bundle {
  val words = Vec(p.lineWords, UInt(p.wordBits.W))
  val poison = Bool()
}
