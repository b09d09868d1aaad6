// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.util._

/** A row of six-input look-ups: bit i of `out` is `f` of bit i of each input word. */
class Lut6Row(name: String, inputs: Int, width: Int, f: Seq[UInt] => UInt) extends RawModule with KeepHierarchy {
  require(inputs >= 1 && inputs <= 6, s"inputs: 1 to 6, not $inputs")
  override def desiredName: String = s"${name}Row_$width"
  val in = IO(Input(Vec(inputs, UInt(width.W))))
  val out = IO(Output(UInt(width.W)))
  out := f(in)
}

/** Trees of six-input look-ups, for [[anemone.expander.TelemetryReorderBuffer]] only: plain operators make it eight
  * look-ups deep instead of six (docs/cost.md). Combinational.
  *
  * The hierarchy is kept because a mapper that flattens such a tree rebuilds it with only four or five inputs per
  * look-up.
  */
object Lut6Tree {
  private def row(name: String, width: Int, words: Seq[UInt], f: Seq[UInt] => UInt): UInt = {
    val row = Module(new Lut6Row(name, words.size, width, f))
    row.in := words
    row.out
  }

  /** Splits a word of `bits` bits into `count` parts, padded with zeros. */
  private def parts(word: UInt, bits: Int, count: Int): Seq[UInt] = {
    val part = (bits + count - 1) / count
    val padded = word.pad(count * part)
    Seq.tabulate(count)(i => padded((i + 1) * part - 1, i * part))
  }

  /** Selects word number `digit` of words of `width` bits (the first one if out of range). */
  def choice(words: Seq[UInt], digit: UInt, width: Int): UInt = {
    val count = words.size
    val digits = (0 until log2Ceil(count)).map(i => Fill(width, digit(i)))
    def chosen(in: Seq[UInt]): UInt = {
      val (from, by) = in.splitAt(count)
      val at = Seq.tabulate(count)(n =>
        by.zipWithIndex.map { case (b, i) => if (((n >> i) & 1) == 1) b else ~b }.reduce(_ & _)
      )
      val others = from.zip(at).tail.map { case (word, here) => word & here }.reduce(_ | _)
      (from.head & (~at.tail.reduce(_ | _)).asUInt) | others
    }
    val all = (words ++ digits).map(_.pad(width)(width - 1, 0))
    if (all.size <= 6) row("Choice", width, all, chosen) else chosen(all)
  }

  /** Whether `f` of any pair of bits is set, three pairs per look-up. */
  private def anyPair(name: String, a: UInt, b: UInt, bits: Int, f: (UInt, UInt) => UInt): Bool =
    if (bits <= 3) f(a, b).orR
    else {
      val pairs = parts(a, bits, 3).zip(parts(b, bits, 3)).flatMap { case (a, b) => Seq(a, b) }
      row(name, (bits + 2) / 3, pairs, _.grouped(2).map(pair => f(pair(0), pair(1))).reduce(_ | _)).orR
    }

  /** Whether any of `bits` bits is set in both. */
  def meet(a: UInt, b: UInt, bits: Int): Bool = anyPair("Meet", a, b, bits, _ & _)

  /** Whether two words of `bits` bits are equal. */
  def equal(a: UInt, b: UInt, bits: Int): Bool = !anyPair("Differ", a, b, bits, _ ^ _)
}
