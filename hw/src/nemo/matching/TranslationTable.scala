// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util._
import anemone.bus.{Ram1R1W, RamWrite}

/** The entries of one translation table, each a valid bit over a base index.
  *
  * In banks as deep as a block RAM is at half of an entry's width: fewer blocks hold them than a single deep memory, whose
  * blocks are narrow and do not come out even.
  *
  * An entry has two bits of parity, of its even and of its odd bits, for which a block RAM of that depth has room, and a code
  * that corrects would not fit. Software has all entries, and writes a bad one again.
  *
  * Latency: two cycles from `read` to `data`, which is zero when nothing was read. An entry is not to be read in the cycle
  * that writes it.
  */
class TranslationTable(p: NemoParams) extends Module {
  private val width = p.indexBits + 1
  val io = IO(new Bundle {
    val read = Flipped(Valid(UInt(p.keyBits.W)))
    val data = Output(UInt(width.W))

    /** The entry has bad parity. */
    val parityError = Output(Bool())
    val write = Flipped(Valid(new RamWrite(p.table, width)))

    /** Of the lowest bits of what is written. */
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
