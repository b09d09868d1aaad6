// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.util._

/** Content-addressed memory (CAM): `slots` registers of small numbers, all compared in every cycle.
  *
  * Stored bit-sliced: bit b of all numbers is one word, so an operation on all numbers is an operation on words. The
  * gates are the same as those of a vector of registers, and simulation takes a sixtieth of the work.
  *
  * Slots are selected by one-hot masks. Reads are combinational; a write is visible in the next cycle.
  */
class BitSlicedCam(slots: Int, bits: Int) {
  private val planes = Seq.fill(bits)(Reg(UInt(slots.W)))
  private def all(bit: Bool): UInt = Fill(slots, bit)

  /** Mask of the slots that hold `value`. */
  def equal(value: UInt): UInt =
    planes.zipWithIndex.map { case (plane, b) => ~(plane ^ all(value(b))) }.reduce(_ & _)

  /** Mask of the slots that hold `value` or less. */
  def atMost(value: Int): UInt = {
    require(value < (1 << bits), s"value: $bits bits, not $value")
    planes.zipWithIndex.foldLeft(all(true.B)) { case (most, (plane, b)) =>
      if ((value >> b & 1) == 1) ~plane | most else ~plane & most
    }
  }

  /** Value in the slot of a one-hot mask; zero for an empty mask. */
  def apply(slot: UInt): UInt = VecInit(planes.map(plane => (plane & slot).orR)).asUInt

  /** Value in the slot of a number. */
  def at(slot: UInt): UInt = VecInit(planes.map(_(slot))).asUInt

  /** Writes values to masks of slots; a later pair wins. */
  def write(writes: (UInt, UInt)*): Unit =
    for ((plane, b) <- planes.zipWithIndex)
      plane := writes.foldLeft(plane) { case (word, (slots, value)) => Mux(value(b), word | slots, word & ~slots) }

  /** Decrements the slots of one mask and writes `value` to those of the other. */
  def next(decrement: UInt, write: UInt, value: UInt): Unit =
    planes.zipWithIndex.foldLeft(decrement) { case (borrow, (plane, b)) =>
      plane := Mux(value(b), (plane ^ borrow) | write, (plane ^ borrow) & ~write)
      borrow & ~plane
    }: Unit
}
