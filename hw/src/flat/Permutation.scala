// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import chisel3._

/** Which line of a set is in which slot: slot 0 is near, slot s is far slot s - 1.
  *
  * Stores the tags of all slots but the last, whose tag follows from the others. Each tag is stored XOR its slot
  * number, so zero is the reset layout. With R = 1 this is one bit: the tag in near.
  */
class Permutation(p: FlatParams) extends Bundle {
  val differences = Vec(p.ratio, UInt(p.tagBits.W))

  private def slotNumber(s: Int): UInt = s.U(p.tagBits.W)
  private def allNumbers: UInt = slotNumber((0 to p.ratio).reduce(_ ^ _))

  /** Tag in a slot. */
  def tag(slot: Int): UInt =
    if (slot < p.ratio) differences(slot) ^ slotNumber(slot)
    else (0 until p.ratio).map(tag).reduce(_ ^ _) ^ allNumbers

  /** Tag in near. */
  def near: UInt = tag(0)

  /** Each tag is in exactly one slot. The controller writes only legal permutations. */
  def legal: Bool = {
    val stored = (0 until p.ratio).map(tag)
    val inRange = stored.map(_ <= p.ratio.U)
    val different = stored.combinations(2).map(pair => pair(0) =/= pair(1))
    (inRange ++ different).reduce(_ && _)
  }

  /** Far slot, 0 to R - 1, of a tag that is not near. */
  def farSlot(of: UInt): UInt =
    (1 until p.ratio).foldLeft((p.ratio - 1).U(p.tagBits.W)) { (slot, s) => Mux(tag(s) === of, (s - 1).U, slot) }

  /** The permutation after the far line `far` and the near line are exchanged. */
  def exchanged(far: UInt): Permutation = {
    val next = Wire(new Permutation(p))
    next.differences(0) := far ^ slotNumber(0)
    for (s <- 1 until p.ratio) next.differences(s) := Mux(tag(s) === far, near, tag(s)) ^ slotNumber(s)
    next
  }
}

/** Sideband of a near line, without its check bits. Zero is the set's state after power-up. */
class Sideband(p: FlatParams) extends Bundle {

  /** Consecutive misses to the line `countedTag`, for the policy that swaps on the n-th. */
  val countedTag = UInt(p.tagBits.W)
  val count = UInt(p.countBits.W)

  /** A slot of the set failed once, so swapping is disabled for good. */
  val swapDisabled = Bool()
  val permutation = new Permutation(p)
}
