// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import anemone.bus.Ram1R1W
import chisel3._
import chisel3.util._

/** A state word as it is stored, with even parity for each half, because parity is on the write path and that of a half
  * is one look-up less deep.
  */
class StateWord(p: NemoParams) extends Bundle {
  val parity = UInt(2.W)
  val data = UInt(p.wordBits.W)

  /** A half of the word has bad parity. */
  def parityError: Bool = (0 until 2).map(h => StateWord.half(data, h, p).xorR ^ parity(h)).reduce(_ || _)
}

object StateWord {
  private def half(data: UInt, h: Int, p: NemoParams): UInt = data((h + 1) * p.wordBits / 2 - 1, h * p.wordBits / 2)

  /** The parity to store with a value: wrong in the lower half if the value has a parity error, so the error stays. */
  def parity(value: InFlight, p: NemoParams): UInt =
    Cat(half(value.data, 1, p).xorR, half(value.data, 0, p).xorR ^ value.parityError)
}

/** Some words of one line. */
class LineSelect(p: NemoParams) extends Bundle {
  val line = UInt(p.lineBits.W)
  val words = UInt(p.lineWords.W)
}

/** The states of one rule on one channel: a bank for each word of a line, so a line is one access.
  *
  * All selected words are written with the same value. Latency: two cycles from `read` to `words`; words that were not
  * read, or were killed, are zero.
  */
class StateArray(p: NemoParams) extends Module {
  val io = IO(new Bundle {
    val read = Input(new LineSelect(p))

    /** One cycle behind `read`: words whose answer becomes zero. It must have those that were written in that cycle. */
    val kill = Input(UInt(p.lineWords.W))
    val words = Output(Vec(p.lineWords, new StateWord(p)))
    val write = Input(new LineSelect(p))
    val value = Input(new StateWord(p))
  })

  private val readValid = RegNext(io.read.words, 0.U) & ~io.kill
  private val written = RegNext(Mux(io.read.line === io.write.line, io.write.words, 0.U), 0.U)
  assert(!(readValid & written).orR, "answer of a word that was being written")
  for (k <- 0 until p.lineWords) {
    val bank = Module(new Ram1R1W(p.lines, io.value.getWidth, grouped = true)).suggestName(s"bank_$k")
    bank.io.answers.foreach(_ := readValid(k))
    bank.io.read.valid := io.read.words(k)
    bank.io.read.bits := io.read.line
    bank.io.write.valid := io.write.words(k)
    bank.io.write.bits.address := io.write.line
    bank.io.write.bits.data := io.value.asUInt
    io.words(k) := bank.io.data.asTypeOf(new StateWord(p))
  }
}
