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

/** Maps a physical line to set and tag, direct-mapped by modulo (Memstrata §3.1). Combinational.
  *
  * The quotient is at most R, so comparisons with the multiples of L find it, and L need not be a power of two.
  */
class AddressMap(p: FlatParams) extends Module {
  val io = IO(new Bundle {
    val line = Input(UInt((p.memory.addressBits - 6).W))
    val channel = Input(UInt(p.channelBits.W))
    val config = Input(new FlatConfig(p))
    val mapped = Output(new MappedLine(p))
  })
  private val multiples = AddressMap.multiples(io.config.nearLines, p)
  private val line = io.line >> p.channelBits
  private val otherChannel = if (p.channels == 1) false.B else io.line(p.channelBits - 1, 0) =/= io.channel
  private val reaches = multiples.tail.map(line >= _)
  private val tag = PopCount(reaches.init)
  private val first = multiples.init.tail.zip(reaches.init).foldLeft(0.U) { case (start, (multiple, reached)) =>
    Mux(reached, multiple, start)
  }

  io.mapped.dedicated := line >= io.config.dedicatedStart && line < io.config.dedicatedEnd
  private val pastDevice = (io.line >> (p.addressBits - 6)).orR
  io.mapped.outside := otherChannel || pastDevice || (reaches.last && !io.mapped.dedicated)
  io.mapped.tag := Mux(io.mapped.dedicated, 0.U, tag)
  io.mapped.nearIndex := Mux(
    io.mapped.dedicated,
    io.config.nearLines + (line - io.config.dedicatedStart),
    line - first
  )
}

object AddressMap {

  /** 0, L, 2 L, …, (R + 1) L. */
  def multiples(nearLines: UInt, p: FlatParams): Seq[UInt] =
    (0 to p.ratio + 1).map(k => (nearLines * k.U).pad(p.lineBits + 3)(p.lineBits + 2, 0))
}
