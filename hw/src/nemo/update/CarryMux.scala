// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util._

/** What the carry of each byte's counter is, from the carries out of bytes, where counters end within the word; or all
  * carry. The carry out of the word, the last that an adder knows, has no part of it. Combinational.
  */
class CarryMux(p: NemoParams) extends RawModule {

  /** Out of all bytes but the last. */
  val carries = IO(Input(UInt((p.wordBytes - 1).W)))

  /** One of `CarryMux.codes`. */
  val select = IO(Input(UInt(CarryMux.codeBits(p).W)))

  /** By byte; none where the counter ends with the word. */
  val byteCarry = IO(Output(UInt(p.wordBytes.W)))

  byteCarry := VecInit.tabulate(p.wordBytes) { k =>
    MuxLookup(select, true.B)(CarryMux.codes(p).map { case (level, code) =>
      val lastByte = CarryMux.lastByte(k, level)
      code.U -> (if (lastByte < p.wordBytes - 1) carries(lastByte) else false.B)
    })
  }.asUInt
}

object CarryMux {

  /** The levels whose counters are more than one a word, with their codes. */
  def codes(p: NemoParams): Seq[(Int, Int)] = p.levels.filter(1 << _ < p.wordBytes).zipWithIndex

  /** Every byte carries. */
  def all(p: NemoParams): Int = codes(p).size
  def codeBits(p: NemoParams): Int = log2Ceil(all(p) + 1)

  /** The last byte of the counter that byte `k` is in. */
  private def lastByte(k: Int, level: Int): Int = k | ((1 << level) - 1)

  /** The index of the narrowest level at which the counter of byte `k` ends with the word, if there is one. */
  def wordCarryLevel(k: Int, p: NemoParams): Option[Int] =
    Option(p.levels.indexWhere(lastByte(k, _) == p.wordBytes - 1)).filter(_ >= 0)
}
