// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.util._

/** Reads one of many words by its address, in two steps: the word within each block of sixteen, then the block.
  *
  * An address means the word that it is in; where there is none, the answer is zero with SLVERR.
  *
  * Latency: [[ReadMux.latency]] cycles from `read` to `answer`; the value is the one of the cycle in between. One read
  * a cycle.
  *
  * @param offsets byte offsets of the words, in any order
  */
class ReadMux(addressBits: Int, dataBits: Int, offsets: Seq[BigInt]) extends Module {
  require(offsets.nonEmpty && offsets.distinct == offsets, "words have offsets of their own")
  private val alignment = log2Ceil(dataBits / 8)
  require(offsets.forall(_ % (1 << alignment) == 0), "offsets are multiples of a word")
  private val room = alignment + log2Ceil(ReadMux.block)

  val io = IO(new Bundle {
    val read = Flipped(Valid(UInt(addressBits.W)))
    val words = Input(Vec(offsets.length, UInt(dataBits.W)))
    val answer = Valid(new AxiLiteReadData(dataBits))
  })

  private val valid = RegNext(io.read.valid, false.B)
  private val address = RegEnable(io.read.bits, io.read.valid)
  private val place = address(room - 1, alignment)

  private val blocks = offsets.zip(io.words).groupBy { case (offset, _) => offset >> room }.toSeq.sortBy(_._1).map {
    case (number, members) =>
      val byPlace = members.map { case (offset, word) => ((offset >> alignment).toInt % ReadMux.block) -> word }.toMap
      val here = (address >> room) === number.U
      val known = VecInit(Seq.tabulate(ReadMux.block)(i => byPlace.contains(i).B))
      val words = VecInit(Seq.tabulate(ReadMux.block)(i => byPlace.getOrElse(i, 0.U(dataBits.W))))
      (RegNext(here && known(place)), RegNext(Mux(here, words(place), 0.U)))
  }
  private val known = VecInit(blocks.map(_._1)).asUInt.orR
  io.answer.valid := RegNext(valid, false.B)
  io.answer.bits.data := blocks.map(_._2).reduce(_ | _)
  io.answer.bits.resp := Mux(known, Axi4.Resp.Okay.U, Axi4.Resp.SlvErr.U)
}

object ReadMux {
  val latency: Int = 2

  /** Words of a block. */
  val block: Int = 16
}
