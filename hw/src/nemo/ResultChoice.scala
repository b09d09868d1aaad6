// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import anemone.bus.MappedAlone
import chisel3._
import chisel3.util._

/** The result of an update from its sum, its carries and the rotated state, a look-up of six inputs a bit; codes are
  * those of [[UpdateOp.Result]]. Combinational.
  */
class ResultChoice(p: NemoParams) extends RawModule with MappedAlone {
  val sum = IO(Input(UInt(p.wordBits.W)))

  /** A, rotated where the op moves it. */
  val a = IO(Input(UInt(p.wordBits.W)))

  /** The carry, by byte or by wide counter: at most one of them is set. */
  val narrow = IO(Input(UInt(p.wordBytes.W)))
  val wide = IO(Input(UInt(CarryChoice.wides(p).W)))

  /** By bit, the lower and the higher bit of a code. Where these and the carries are zero, the result is as well. */
  val codes = IO(Input(Vec(2, UInt(p.wordBits.W))))
  val result = IO(Output(UInt(p.wordBits.W)))

  private val byByte = narrow | (if (CarryChoice.wides(p) == 0) 0.U else FillInterleaved(CarryChoice.reach(p), wide))
  private val carry = CounterWidth.spread(byByte, p)
  private val (low, high) = (codes(0), codes(1))
  private val carried = (a ^ low) | (high & low)
  private val plain = (high & ((~low).asUInt | sum)) | (low & a & ~high)
  result := (carry & carried) | (~carry & plain)
}
