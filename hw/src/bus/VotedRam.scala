// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.util._

/** A small memory of look-up tables that is read in the cycle that uses its word, where there is no time for a code: three
  * copies of which each bit is the majority's. A flipped bit is outvoted, and so are two unless they are the same bit of two
  * copies.
  *
  * Latency: `data` is combinational, three memories and a row of look-ups; `corrected` comes two cycles behind `counts`.
  *
  * @param depth words
  * @param width bits a word, of a copy
  */
class VotedRam(depth: Int, width: Int) extends Module {
  val io = IO(new Bundle {
    val read = Input(UInt(log2Ceil(depth).W))
    val data = Output(UInt(width.W))
    val write = Flipped(Valid(new RamWrite(depth, width)))

    /** What is read in this cycle is used: `corrected` is to say of it whether its copies differ. */
    val counts = Input(Bool())
    val corrected = Output(Bool())

    /** Flip a bit, or two, of a copy of the word that is written next. */
    val inject = Flipped(Valid(Bool()))
  })
  private val flip = Module(new BitFlipInjector)
  flip.io.arm := io.inject
  flip.io.stores := io.write.valid
  private def copy(n: Int, flips: UInt): UInt = {
    val copy = Module(new VotedRamCopy(depth, width)).suggestName(s"copy_$n")
    copy.write := io.write
    copy.write.bits.data := io.write.bits.data ^ flips
    copy.read := io.read
    copy.data
  }
  private val (a, b, c) = (copy(0, flip.io.flips), copy(1, 0.U), copy(2, 0.U))
  io.data := (a & b) | (a & c) | (b & c)

  // Two steps, as there are many bits.
  private val differ = (a ^ b) | (a ^ c)
  private val parts =
    (0 until width by VotedRam.part).map(from => differ((from + VotedRam.part).min(width) - 1, from).orR)
  io.corrected := RegNext(RegNext(VecInit(parts)).asUInt.orR && RegNext(io.counts, false.B), false.B)
}

/** One of them. By itself, so that no tool takes three for one. */
class VotedRamCopy(depth: Int, width: Int) extends Module with KeepHierarchy {
  val write = IO(Flipped(Valid(new RamWrite(depth, width))))
  val read = IO(Input(UInt(log2Ceil(depth).W)))
  val data = IO(Output(UInt(width.W)))
  private val words = Mem(depth, UInt(width.W))
  when(write.valid) { words.write(write.bits.address, write.bits.data) }
  data := words.read(read)
}

object VotedRam {

  /** Cycles from `counts` to `corrected`. */
  val latency: Int = 2

  /** Bits of which it is known in a cycle whether they differ anywhere. */
  private val part = 16
}
