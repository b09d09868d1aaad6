// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import anemone.bus.MappedAlone
import chisel3._

/** What each counter's carry is, from the carries out of bytes, in look-ups of four inputs: what is not larger lies right
  * beside the register that it feeds. So the narrower half of the widths is apart from the wider one, and who takes them
  * clears the half that the width is not of. Combinational.
  */
class CarryChoice(p: NemoParams) extends RawModule with MappedAlone {
  val carries = IO(Input(UInt(p.wordBytes.W)))

  /** The width is the wider one of its half. */
  val wider = IO(Input(Bool()))

  /** All carry. */
  val all = IO(Input(Bool()))

  /** By byte. */
  val narrow = IO(Output(UInt(p.wordBytes.W)))

  /** By counter of the narrowest of the wide. */
  val wide = IO(Output(UInt(CarryChoice.wides(p).W)))

  private def choice(levels: Seq[Int], byte: Int): Bool = {
    val ends = levels.map(w => carries(byte | ((1 << w) - 1)))
    if (ends.size == 1) ends.head else Mux(wider, ends(1), ends(0))
  }
  narrow := VecInit.tabulate(p.wordBytes)(k => choice(CarryChoice.narrowLevels(p), k) || all).asUInt
  if (CarryChoice.wides(p) > 0)
    wide := VecInit.tabulate(CarryChoice.wides(p))(n =>
      choice(CarryChoice.wideLevels(p), n * CarryChoice.reach(p))
    ).asUInt
  else wide := 0.U
}

object CarryChoice {
  private[nemo] def narrowLevels(p: NemoParams): Seq[Int] = p.levels.take(2)
  private[nemo] def wideLevels(p: NemoParams): Seq[Int] = p.levels.drop(2)

  /** Bytes of the narrowest wide counter, and how many of them a word has. */
  def reach(p: NemoParams): Int = 1 << wideLevels(p).headOption.getOrElse(0)
  def wides(p: NemoParams): Int = if (wideLevels(p).isEmpty) 0 else p.wordBytes / reach(p)

  def isWide(width: UInt, p: NemoParams): Bool =
    CounterWidth.select(width, p)(w => wideLevels(p).contains(w).B)
  def isWider(width: UInt, p: NemoParams): Bool =
    CounterWidth.select(width, p)(w => (p.levels.indexOf(w) % 2 == 1).B)
}
