// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._

/** What a slot before changes of the line that is read. */
class LineHit(p: NemoParams) extends Bundle {
  val valid = Bool()
  val word = UInt(p.wordIndexBits.W)
  val wholeLine = Bool()
}

/** What a rule's update stage contributes to a telemetry line of its channel.
  *
  * In the slot of a read only the rule that is read has anything but zero, so that the rules' are joined by OR. `hits` says
  * which slots before have updates in flight: of words that `stored` has as they were, or as zero where the slot four
  * before has them. `forward4` is what that slot writes, and so on. All come as they are there, so many cycles behind the
  * slot: `hits` and `forward4` [[UpdateStage.contributionLatency]], `stored` and `forward3` one more, `forward2` two more, `forward1` three
  * more.
  */
class LineContribution(p: NemoParams) extends Bundle {

  /** Of the slot right before, and so on. */
  val hits = Vec(UpdateStage.hazardDepth, new LineHit(p))
  val forward4 = new StateWord(p)
  val stored = Vec(p.lineWords, new StateWord(p))
  val forward3 = new InFlight(p)
  val forward2 = new InFlight(p)
  val forward1 = new InFlight(p)
}
