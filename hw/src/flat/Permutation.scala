// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import chisel3._

/** Which line of a set is in which of its slots: slot 0 is near, slot s the set's far slot s - 1.
  *
  * The tags of all slots but the last, which has the tag that is left. Each is stored as it differs from its slot's
  * number, so that zero says where everything is after reset. With a ratio of 1 that is one bit: the tag in near.
  */
class Permutation(p: FlatParams) extends Bundle {
  val differences = Vec(p.ratio, UInt(p.tagBits.W))

  private def slotNumber(s: Int): UInt = s.U(p.tagBits.W)
  private def allNumbers: UInt = slotNumber((0 to p.ratio).reduce(_ ^ _))

  /** The tag in a slot. */
  def tag(slot: Int): UInt =
    if (slot < p.ratio) differences(slot) ^ slotNumber(slot)
    else (0 until p.ratio).map(tag).reduce(_ ^ _) ^ allNumbers

  /** The tag in near. */
  def near: UInt = tag(0)

  /** Each tag is in one slot. Others can't be written. */
  def legal: Bool = {
    val stored = (0 until p.ratio).map(tag)
    val there = stored.map(_ <= p.ratio.U)
    val different = stored.combinations(2).map(pair => pair(0) =/= pair(1))
    (there ++ different).reduce(_ && _)
  }

  /** The far slot, 0 to R - 1, of a tag that is not near. */
  def farSlot(of: UInt): UInt =
    (1 until p.ratio).foldLeft((p.ratio - 1).U(p.tagBits.W)) { (slot, s) => Mux(tag(s) === of, (s - 1).U, slot) }

  /** A far line and the near one have changed places. */
  def exchanged(far: UInt): Permutation = {
    val next = Wire(new Permutation(p))
    next.differences(0) := far ^ slotNumber(0)
    for (s <- 1 until p.ratio) next.differences(s) := Mux(tag(s) === far, near, tag(s)) ^ slotNumber(s)
    next
  }
}

/** What is stored beside a near line, but for its code. Zero is a set as it is after power-up. */
class Sideband(p: FlatParams) extends Bundle {

  /** Misses in a row to the line `counted`, for the policy that swaps on the n-th. */
  val counted = UInt(p.tagBits.W)
  val count = UInt(p.countBits.W)

  /** A slot of the set failed once: it is not swapped any more. */
  val marked = Bool()
  val permutation = new Permutation(p)
}
