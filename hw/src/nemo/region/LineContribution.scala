// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._

/** The words of the read line that an earlier slot has in flight. */
class LineHit(p: NemoParams) extends Bundle {
  val valid = Bool()
  val word = UInt(p.wordIndexBits.W)
  val wholeLine = Bool()
}

/** An update stage's contribution to a telemetry line of its channel: the stored words, and what replaces them.
  *
  * All fields are zero in lanes that are not read, so OR joins the lanes. `stored` has the old values of words that are
  * in flight, or zero for those of `forward4`.
  *
  * Cycles from the slot: `hits` and `forward4` [[UpdateStage.contributionLatency]]; `stored` and `forward3` one more,
  * `forward2` two more, `forward1` three more.
  */
class LineContribution(p: NemoParams) extends Bundle {

  /** Of the slots 1, 2, 3 and 4 before. */
  val hits = Vec(UpdateStage.hazardDepth, new LineHit(p))
  val forward4 = new StateWord(p)
  val stored = Vec(p.lineWords, new StateWord(p))
  val forward3 = new InFlight(p)
  val forward2 = new InFlight(p)
  val forward1 = new InFlight(p)
}
