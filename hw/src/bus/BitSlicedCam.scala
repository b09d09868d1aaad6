// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.util._

/** Registers of `slots` small numbers that are compared, all at once, every cycle: a content-addressed memory.
  *
  * Bit b of all numbers is one word, so that an operation on all of them is one on words. The gates are those of a vector
  * of registers; simulators do a sixtieth of the work.
  *
  * Slots are named by masks, a bit a slot. Combinational; what is written shows in the next cycle.
  */
class BitSlicedCam(slots: Int, bits: Int) {
  private val planes = Seq.fill(bits)(Reg(UInt(slots.W)))
  private def all(bit: Bool): UInt = Fill(slots, bit)

  /** The slots that hold a value. */
  def equal(value: UInt): UInt =
    planes.zipWithIndex.map { case (plane, b) => ~(plane ^ all(value(b))) }.reduce(_ & _)

  /** The slots that hold a value or less. */
  def atMost(value: Int): UInt = {
    require(value < (1 << bits), s"value: $bits bits, not $value")
    planes.zipWithIndex.foldLeft(all(true.B)) { case (most, (plane, b)) =>
      if ((value >> b & 1) == 1) ~plane | most else ~plane & most
    }
  }

  /** The value in a slot; zero in none. */
  def apply(slot: UInt): UInt = VecInit(planes.map(plane => (plane & slot).orR)).asUInt

  /** New values in some slots; a later one wins. */
  def write(writes: (UInt, UInt)*): Unit =
    for ((plane, b) <- planes.zipWithIndex)
      plane := writes.foldLeft(plane) { case (word, (slots, value)) => Mux(value(b), word | slots, word & ~slots) }

  /** Less one in some slots, a new value in others. */
  def next(decrement: UInt, write: UInt, value: UInt): Unit =
    planes.zipWithIndex.foldLeft(decrement) { case (borrow, (plane, b)) =>
      plane := Mux(value(b), (plane ^ borrow) | write, (plane ^ borrow) & ~write)
      borrow & ~plane
    }: Unit
}
