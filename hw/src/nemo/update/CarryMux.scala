// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util._

/** The carry out of each byte's counter, for counters that end within the word; or a carry for every byte. The word's
  * carry out is left out, because it is the last that the adder knows. Combinational.
  */
class CarryMux(p: NemoParams) extends RawModule {

  /** The carries out of all bytes but the last. */
  val carries = IO(Input(UInt((p.wordBytes - 1).W)))

  /** One of `CarryMux.codes`. */
  val select = IO(Input(UInt(CarryMux.codeBits(p).W)))

  val invert = Option.when(p.features.borrows)(IO(Input(Bool())))

  /** By byte; zero, if not inverted, where the counter ends with the word. */
  val byteCarry = IO(Output(UInt(p.wordBytes.W)))

  private def at(level: Int): UInt = VecInit.tabulate(p.wordBytes) { k =>
    val lastByte = CarryMux.lastByte(k, level)
    if (lastByte < p.wordBytes - 1) carries(lastByte) else false.B
  }.asUInt
  byteCarry := inverted(MuxLookup(select, Fill(p.wordBytes, 1.U))(CarryMux.codes(p).map { case (level, code) =>
    code.U -> at(level)
  }))
  private def inverted(carries: UInt): UInt = invert.fold(carries)(carries ^ Fill(p.wordBytes, _))
}

object CarryMux {

  /** The levels with more than one counter a word, and their codes. */
  def codes(p: NemoParams): Seq[(Int, Int)] = p.levels.filter(1 << _ < p.wordBytes).zipWithIndex

  /** The code for a carry in every byte. */
  def all(p: NemoParams): Int = codes(p).size
  def codeBits(p: NemoParams): Int = log2Ceil(all(p) + 1)

  /** The last byte of byte `k`'s counter. */
  private def lastByte(k: Int, level: Int): Int = k | ((1 << level) - 1)

  /** The narrowest level at which byte `k`'s counter ends with the word, by its index. */
  def wordCarryLevel(k: Int, p: NemoParams): Option[Int] =
    Option(p.levels.indexWhere(lastByte(k, _) == p.wordBytes - 1)).filter(_ >= 0)
}
