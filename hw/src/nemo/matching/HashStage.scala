// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util._

/** Hash of an offset (NEMO §6.3), so that a sketch counts more regions than there are counters:
  *
  * hash = (offset * multiplier mod 2^27) * size >> 27
  *
  * Both products fit a multiplier block of an FPGA. A rule without a hash has the multiplier and the size that leave
  * the offset as it is ([[HashStage.identity]]), so no multiplexer follows.
  *
  * Latency: [[HashStage.latency]] cycles from `offset` and `multiplier` to `hash`; one offset a cycle. `size` is taken
  * [[HashStage.scaleStage]] cycles after the offset.
  */
class HashStage(p: NemoParams) extends Module {
  val io = IO(new Bundle {
    val offset = Input(UInt(HashStage.bits.W))
    val multiplier = Input(UInt(HashStage.bits.W))

    /** Counters to choose from, at most 2^indexBits. */
    val size = Input(UInt((p.indexBits + 1).W))

    /** Less than `size`. */
    val hash = Output(UInt(p.indexBits.W))
  })

  // A second register behind each product lets the tools place one inside the multiplier block.
  private val product = ShiftRegister((io.offset * io.multiplier)(HashStage.bits - 1, 0), HashStage.scaleStage)
  private val scaled = ShiftRegister((product * io.size) >> HashStage.bits, HashStage.latency - HashStage.scaleStage)
  io.hash := scaled
}

object HashStage {

  /** Bits of what is hashed and of the multiplier. */
  val bits: Int = 27
  val scaleStage: Int = 2
  val latency: Int = 4

  /** Multiplier and size with which the hash of an offset of `indexBits` bits is the offset. */
  def identity(p: NemoParams): (BigInt, BigInt) = (BigInt(1) << (bits - p.indexBits), BigInt(1) << p.indexBits)
}
