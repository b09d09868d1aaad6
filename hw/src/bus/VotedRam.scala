// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.util._

/** A small memory of look-up tables for words that are used in the cycle of the read, where a code is too slow: three
  * copies with a majority vote per bit. It corrects a flipped bit, and two flipped bits unless they are the same bit of
  * two copies.
  *
  * Latency: `data` is combinational, a memory and one look-up; `corrected` comes two cycles after `counts`.
  *
  * @param depth words
  * @param width bits per word of one copy
  */
class VotedRam(depth: Int, width: Int) extends Module {
  val io = IO(new Bundle {
    val read = Input(UInt(log2Ceil(depth).W))
    val data = Output(UInt(width.W))
    val write = Flipped(Valid(new RamWrite(depth, width)))

    /** The word read in this cycle is used, so `corrected` reports whether its copies differ. */
    val counts = Input(Bool())
    val corrected = Output(Bool())

    /** Flip one bit, or two, of one copy of the next word that is written. */
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

  // Two steps, because there are many bits.
  private val differ = (a ^ b) | (a ^ c)
  private val parts =
    (0 until width by VotedRam.part).map(from => differ((from + VotedRam.part).min(width) - 1, from).orR)
  io.corrected := RegNext(RegNext(VecInit(parts)).asUInt.orR && RegNext(io.counts, false.B), false.B)
}

/** One copy, a module of its own so that no tool merges the three. */
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

  /** Bits compared per part in one cycle. */
  private val part = 2
}
