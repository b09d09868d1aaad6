// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import chisel3._
import chisel3.util._

/** Settings of software: the line layout, fixed before the controller starts, and the policy, which may change at any
  * time. Units: lines of 64 B of this channel.
  */
class FlatConfig(p: FlatParams) extends Bundle {

  /** Number of near lines in the flat space, L >= 1. */
  val nearLines = UInt((p.lineBits + 1).W)

  /** Mixed mode: physical lines `dedicatedStart` until `dedicatedEnd` (exclusive) use near lines from L on. */
  val dedicatedStart = UInt((p.lineBits + 1).W)
  val dedicatedEnd = UInt((p.lineBits + 1).W)

  /** Policy code of [[SwapPolicy]] and its parameter n. */
  val policy = UInt(2.W)
  val n = UInt(32.W)
}

/** Set and tag of a physical line. */
class MappedLine(p: FlatParams) extends Bundle {

  /** Near line number, which is also the set index. */
  val nearIndex = UInt(p.nearIndexBits.W)
  val tag = UInt(p.tagBits.W)
  val dedicated = Bool()

  /** This channel has no such line. */
  val outside = Bool()
}

/** Maps a physical line to set and tag, direct-mapped by modulo (Memstrata §3.1). Combinational from `line`; a change of
  * `config` takes a cycle.
  *
  * The quotient is at most R, so the differences to the multiples of L find it, and L need not be a power of two.
  */
class AddressMap(p: FlatParams) extends Module {
  val io = IO(new Bundle {
    val line = Input(UInt((p.memory.addressBits - 6).W))
    val channel = Input(UInt(p.channelBits.W))
    val config = Input(new FlatConfig(p))
    val mapped = Output(new MappedLine(p))
  })
  private val line = io.line(p.addressBits - 7, p.channelBits)
  private val otherChannel = if (p.channels == 1) false.B else io.line(p.channelBits - 1, 0) =/= io.channel
  private val pastDevice = (io.line >> (p.addressBits - 6)).orR

  // The line's distances from L, 2 L, …, (R + 1) L: those that are not negative are reached.
  private val multiples = AddressMap.multiples(io.config.nearLines, p).tail.map(RegNext(_))
  private val distances = multiples.map(line.zext - _.zext)
  private val reaches = distances.map(!_.head(1))
  private val last = (true.B +: reaches.init).zip(reaches).map { case (reached, next) => reached && !next }
  private val nearIndex = Mux1H(last, line +: distances.init.map(_.asUInt))

  // L - start, so that a dedicated line's place behind the sets is one addition away.
  private val dedicatedOffset = RegNext(io.config.nearLines - io.config.dedicatedStart)
  private val dedicated = !pastDevice && line >= io.config.dedicatedStart && line < io.config.dedicatedEnd

  io.mapped.dedicated := dedicated
  io.mapped.outside := otherChannel || pastDevice || (reaches.last && !dedicated)
  io.mapped.tag := Mux(dedicated, 0.U, PopCount(reaches.init))
  io.mapped.nearIndex := Mux(dedicated, line +& dedicatedOffset, nearIndex)
}

object AddressMap {

  /** 0, L, 2 L, …, (R + 1) L. */
  def multiples(nearLines: UInt, p: FlatParams): Seq[UInt] =
    (0 to p.ratio + 1).map(k => (nearLines * k.U).pad(p.lineBits + 3)(p.lineBits + 2, 0))
}
