// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import anemone.bus.MappedAlone
import chisel3._

/** The result of an update from what the datapath has made of A and B: one look-up of six inputs a bit. Combinational. */
class ResultChoice(p: NemoParams) extends RawModule with MappedAlone {
  val sum = IO(Input(UInt(p.wordBits.W)))

  /** A, rotated where the op moves it. */
  val a = IO(Input(UInt(p.wordBits.W)))
  val b = IO(Input(UInt(p.wordBits.W)))

  /** By byte, a bit of a [[ResultChoice]] code each. */
  val codes = IO(Input(Vec(ResultChoice.bits, UInt(p.wordBytes.W))))
  val result = IO(Output(UInt(p.wordBits.W)))

  private def code(bit: Int): UInt = CounterWidth.spread(codes(bit), p)
  private val (c0, c1, c2) = (code(0), code(1), code(2))
  private def not(word: UInt): UInt = (~word).asUInt
  private val joined = (a & b & (c0 | c2)) | ((a ^ b) & not(c0))
  private val single = (a & c0) | not(b | c0)
  result := (joined & not(c1 ^ c2)) | (single & c1 & not(c2)) | ((sum | c0) & c2 & not(c1))
}

object ResultChoice {
  val bits: Int = 3

  /** Where all is zero, the result is as well. */
  val Xor = 0
  val And = 1

  /** B inverted, as a subtraction has it: so it is B again. */
  val NotB = 2
  val A = 3
  val Sum = 4
  val Ones = 5
  val Or = 6
}
