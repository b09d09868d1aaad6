// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._

/** A line of a pipeline's state on one channel. */
class LineAddress(p: NemoParams) extends Bundle {
  val pipeline = UInt(p.pipelineBits.W)
  val line = UInt(p.lineBits.W)
}

/** A telemetry read of one line; without `effect` it changes nothing. */
class LineRead(p: NemoParams) extends LineAddress(p) {
  val effect = Bool()
}

/** The answer to a [[LineRead]]. `poison`: a word of it had bad parity. */
class Line(p: NemoParams) extends Bundle {
  val words = Vec(p.lineWords, UInt(p.wordBits.W))
  val poison = Bool()
}

/** Reads the words of a line that software wrote back, to be subtracted from the counters ([[AcknowledgeUnit]]), one a
  * cycle.
  *
  * Latency: [[LineWordRead.latency]] cycles from `index` to `word` and `lost`.
  */
class LineWordRead(p: NemoParams) extends Bundle {
  val index = Output(UInt(p.wordIndexBits.W))

  /** Set once for each word of a line, so that its fault is reported once. */
  val first = Output(Bool())
  val word = Input(UInt(p.wordBits.W))

  /** The word has an uncorrectable error. It counts in the answer to `first`. */
  val lost = Input(Bool())
}

object LineWordRead {
  val latency: Int = 2
}
