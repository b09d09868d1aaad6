// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import anemone.bus.Ram1R1W

/** A state word as it is stored: even parity over both fields. */
class StateWord(p: NemoParams) extends Bundle {
  val parity = Bool()
  val data = UInt(p.wordBits.W)
}

/** Some words of one line. */
class LineSelect(p: NemoParams) extends Bundle {
  val line = UInt(p.lineBits.W)
  val words = UInt(p.lineWords.W)
}

/** The states of one rule on one channel: a bank for each word of a line, so that a line is one access.
  *
  * All selected words are written with the same value. Latency: two cycles from `read` to `words`; words that were
  * not read, or are `dropped`, are zero.
  */
class StateArray(p: NemoParams) extends Module {
  val io = IO(new Bundle {
    val read = Input(new LineSelect(p))

    /** A cycle behind `read`: words that count as not read, among them those that were written in its cycle. */
    val dropped = Input(UInt(p.lineWords.W))
    val words = Output(Vec(p.lineWords, new StateWord(p)))
    val write = Input(new LineSelect(p))
    val value = Input(new StateWord(p))
  })

  private val answers = RegNext(io.read.words, 0.U) & ~io.dropped
  private val written = RegNext(Mux(io.read.line === io.write.line, io.write.words, 0.U), 0.U)
  assert(!(answers & written).orR, "answer of a word that was being written")
  for (k <- 0 until p.lineWords) {
    val bank = Module(new Ram1R1W(p.lines, 1 + p.wordBits, grouped = true)).suggestName(s"bank_$k")
    bank.io.answers.foreach(_ := answers(k))
    bank.io.read.valid := io.read.words(k)
    bank.io.read.bits := io.read.line
    bank.io.write.valid := io.write.words(k)
    bank.io.write.bits.address := io.write.line
    bank.io.write.bits.data := io.value.asUInt
    io.words(k) := bank.io.data.asTypeOf(new StateWord(p))
  }
}
