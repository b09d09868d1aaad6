// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.util._

/** Selects one of many words by word address, in two steps: within each block of sixteen, then among the blocks.
  *
  * An address without a word returns zero with SLVERR.
  *
  * Latency: [[ReadMux.latency]] cycles from `read` to `answer`; the value is sampled in the cycle in between.
  * Throughput: one read per cycle.
  *
  * @param addressBits bits of a word address
  * @param addresses   word addresses of the words, in any order
  */
class ReadMux(addressBits: Int, dataBits: Int, addresses: Seq[BigInt]) extends Module {
  require(addresses.nonEmpty && addresses.distinct == addresses, "words have addresses of their own")
  private val indexBits = log2Ceil(ReadMux.block)

  val io = IO(new Bundle {
    val read = Flipped(Valid(UInt(addressBits.W)))
    val words = Input(Vec(addresses.length, UInt(dataBits.W)))
    val answer = Valid(new AxiLiteReadData(dataBits))
  })

  private val valid = RegNext(io.read.valid, false.B)
  private val address = RegEnable(io.read.bits, io.read.valid)
  private val blocks =
    addresses.zip(io.words).groupBy { case (address, _) => address >> indexBits }.toSeq.sortBy(_._1).map {
      case (number, members) =>
        val within = members.map { case (address, word) => (address % ReadMux.block).toInt -> word }.toMap
        val here = (address >> indexBits) === number.U
        val known = VecInit(Seq.tabulate(ReadMux.block)(i => within.contains(i).B))
        val words = VecInit(Seq.tabulate(ReadMux.block)(i => within.getOrElse(i, 0.U(dataBits.W))))
        val chosen = address(indexBits - 1, 0)
        (RegNext(here && known(chosen)), RegNext(Mux(here, words(chosen), 0.U)))
    }
  private val known = VecInit(blocks.map(_._1)).asUInt.orR
  io.answer.valid := RegNext(valid, false.B)
  io.answer.bits.data := blocks.map(_._2).reduce(_ | _)
  io.answer.bits.resp := Mux(known, Axi4.Resp.Okay.U, Axi4.Resp.SlvErr.U)
}

object ReadMux {
  val latency: Int = 2

  /** Words per block. */
  val block: Int = 16
}
