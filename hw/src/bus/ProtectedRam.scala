// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.util._

/** A [[Ram1R1W]] whose words are stored with a code ([[Secded]]): a flipped bit is corrected on the read.
  *
  * Latency: three cycles from `read.valid` to `data` and `fault`, which are zero in cycles without an answer. As with
  * [[Ram1R1W]], a word must not be read in the cycle that writes it.
  *
  * @param depth words
  * @param width bits per word, without check bits
  * @param early `data` comes one cycle before `fault`, directly from the decoder, for a user that registers it
  * @param gates the registers of the answer have a [[ClockGate]]
  */
class ProtectedRam(depth: Int, width: Int, early: Boolean = false, gates: Boolean = false) extends Module {
  val io = IO(new Bundle {
    val read = Flipped(Valid(UInt(log2Ceil(depth).W)))
    val data = Output(UInt(width.W))
    val fault = Output(new MemoryFault)
    val write = Flipped(Valid(new RamWrite(depth, width)))

    /** Flip one bit, or two, of the next word that is written. */
    val inject = Flipped(Valid(Bool()))
  })
  private val code = new Secded(width)
  private val ram = Module(new Ram1R1W(depth, code.bits, gates = gates))
  private val flip = Module(new BitFlipInjector)
  flip.io.arm := io.inject
  flip.io.stores := io.write.valid
  ram.io.write.valid := io.write.valid
  ram.io.write.bits.address := io.write.bits.address
  ram.io.write.bits.data := code.encode(io.write.bits.data) ^ flip.io.flips
  ram.io.read := io.read
  private val (data, check) = code.decode(ram.io.data)
  // An answer passes two cycles after its read; the cycle after that clears the registers, whatever a reset cuts.
  private val answer = ClockGate.during(gates, (2 to 3).map(ShiftRegister(io.read.valid, _)).reduce(_ || _))
  withClock(answer) {
    io.data := (if (early) data else RegNext(data))
    io.fault := RegNext(check, 0.U.asTypeOf(check)).fault
  }
}

object ProtectedRam {
  val latency: Int = 3
}
