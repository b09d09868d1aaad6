// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util._
import anemone.bus.{Ram1R1W, RamWrite}

/** One translation table. An entry is a valid bit above a base index.
  *
  * The banks are as deep as a block RAM of half an entry's width, because that takes fewer block RAMs than one deep
  * memory.
  *
  * An entry has parity of its even bits and of its odd bits, for which a block RAM of that depth has room. A correcting
  * code would not fit, and software can write a bad entry again.
  *
  * Latency: two cycles from `read` to `data`, which is zero without a read. An entry must not be read in the cycle that
  * writes it.
  */
class TranslationTable(p: NemoParams) extends Module {
  private val width = p.indexBits + 1
  val io = IO(new Bundle {
    val read = Flipped(Valid(UInt(p.keyBits.W)))
    val data = Output(UInt(width.W))

    /** The entry that was read has bad parity. */
    val parityError = Output(Bool())
    val write = Flipped(Valid(new RamWrite(p.table, width)))

    /** Injected bit flips of the lowest bits written. */
    val flips = Input(UInt(2.W))
  })
  private def parity(data: UInt): UInt =
    Cat((0 until 2).reverse.map(odd =>
      VecInit(data.asBools.zipWithIndex.filter(_._2 % 2 == odd).map(_._1)).asUInt.xorR
    ))
  private val entry = Cat(parity(io.write.bits.data), io.write.bits.data ^ io.flips)
  private val depth = p.table.min(TranslationTable.bankDepth)
  private val banks = Seq.tabulate(p.table / depth) { k =>
    val bank = Module(new Ram1R1W(depth, entry.getWidth)).suggestName(s"bank_$k")
    def inBank(key: UInt): Bool = (key >> log2Ceil(depth)) === k.U
    bank.io.read.valid := io.read.valid && inBank(io.read.bits)
    bank.io.read.bits := io.read.bits
    bank.io.write.valid := io.write.valid && inBank(io.write.bits.address)
    bank.io.write.bits.address := io.write.bits.address
    bank.io.write.bits.data := entry
    bank.io.data
  }
  private val read = banks.reduce(_ | _)
  io.data := read
  io.parityError := parity(io.data) =/= read >> width
}

object TranslationTable {
  val bankDepth: Int = 2048
}
