// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.util._
import scala.collection.mutable

/** Registers behind an AXI4-Lite port. A module creates one map, declares its registers, and ends with `connect`.
  *
  * A register is a word of the port's width and has fields, each given by its lowest bit and its value. Bits between
  * fields read as zero and ignore writes, and so do fields that software cannot read or write.
  *
  * Rules of the port:
  *
  *   - an address without a register: SLVERR, reads return zero, writes have no effect;
  *   - bytes without a strobe are not written; a write to a command or a memory must have the strobes of all bytes with
  *     fields, otherwise it is answered SLVERR and has no effect.
  *
  * Latency, when the port is idle and B and R are ready: [[RegisterMap.writeLatency]] cycles from AW and W to B, with
  * the new value in place when B is valid; [[RegisterMap.readLatency]] from AR to R. Throughput: one write and one read
  * per cycle. A command stalls its write, and all later ones, until it is accepted.
  */
class RegisterMap(port: AxiLitePort) {
  import RegisterMap._
  private val wordBytes = port.dataBits / 8
  private val alignment = log2Ceil(wordBytes)

  private val slave = Module(new AxiLiteSlave(port.addressBits, port.dataBits, ReadMux.latency))
  slave.io.bus <> port

  // A write is decoded before it is registered here, so each select is one flip-flop.
  private val valid = RegInit(false.B)
  private val taken = Wire(Bool())
  private val next = slave.io.write
  next.ready := !valid || taken
  valid := next.valid || (valid && !taken)
  private def hold[T <: Data](value: T): T = RegEnable(value, next.fire)
  private val data = hold(next.bits.data)
  private val strb = hold(next.bits.strb)
  private val mask = FillInterleaved(8, strb)

  private val readable = mutable.ArrayBuffer[(BigInt, UInt)]()
  private val selects = mutable.ArrayBuffer[Bool]()
  private val refusals = mutable.ArrayBuffer[Bool]()
  private val waits = mutable.ArrayBuffer[Bool]()

  /** Whether the registered write matches `decode`. */
  private def select(decode: UInt => Bool): Bool = {
    val selected = valid && hold(decode(next.bits.word))
    selects += selected
    selected
  }
  private def at(offset: BigInt): Bool = {
    require(offset % wordBytes == 0, s"a register's offset is a multiple of $wordBytes, not $offset")
    select(_ === (offset >> alignment).U)
  }

  private def bits(of: UInt, low: Int, field: Data): UInt = of(low + field.getWidth - 1, low)

  /** A read-only register. */
  def read(offset: BigInt, fields: (Int, Data)*): Unit = {
    at(offset)
    readable += offset -> word(port.dataBits, fields)
  }

  /** A read-write register; the fields are the registers that store it. */
  def storage(offset: BigInt, fields: (Int, Data)*): Unit = {
    readable += offset -> word(port.dataBits, fields)
    when(at(offset) && taken) {
      for ((low, field) <- fields) {
        val strobed = bits(mask, low, field)
        field := ((field.asUInt & ~strobed) | (bits(data, low, field) & strobed)).asTypeOf(field)
      }
    }
  }

  /** A register of sticky flags: hardware sets them and writing one clears them; a set wins over a clear in the same
    * cycle. A field is its lowest bit, the flags, and the set inputs.
    */
  def sticky(offset: BigInt, fields: (Int, Data, Data)*): Unit = {
    readable += offset -> word(port.dataBits, fields.map { case (low, flags, _) => low -> flags })
    val cleared = Mux(at(offset) && taken, data & mask, 0.U)
    for ((low, flags, sets) <- fields)
      flags := ((flags.asUInt & ~bits(cleared, low, flags)) | sets.asUInt).asTypeOf(flags)
  }

  /** A register of pulses: writing one to a bit drives its output high for one cycle. Reads as zero. */
  def pulse(offset: BigInt, fields: (Int, Data)*): Unit = {
    readable += offset -> 0.U(port.dataBits.W)
    val written = Mux(at(offset) && taken, data & mask, 0.U)
    for ((low, field) <- fields) field := bits(written, low, field).asTypeOf(field)
  }

  /** A register whose write is answered when `to` accepts it; `legal` checks its fields. Reads as zero. */
  def command[T <: Data](offset: BigInt, to: DecoupledIO[T], fields: (Int, Data)*)(legal: Bool): Unit = {
    readable += offset -> 0.U(port.dataBits.W)
    take(at(offset), to, fields, legal)
  }

  /** A write-only memory; `index` is the word's number. */
  def memory[T <: Data](offset: BigInt, entries: Int, to: DecoupledIO[T], index: UInt, fields: (Int, Data)*): Unit = {
    val indexBits = log2Ceil(entries)
    val first = offset >> alignment
    require(first % (1 << indexBits) == 0, s"a memory's offset is a multiple of its size, not $offset")
    val inside = select(word => (word >> indexBits) === (first >> indexBits).U && word(indexBits - 1, 0) < entries.U)
    index := hold(next.bits.word(indexBits - 1, 0))
    take(inside, to, fields, true.B)
  }

  private def take[T <: Data](selected: Bool, to: DecoupledIO[T], fields: Seq[(Int, Data)], legal: Bool): Unit = {
    for ((low, field) <- fields) field := bits(data, low, field).asTypeOf(field)
    val needed = fields.flatMap { case (low, field) => low / 8 to (low + field.getWidth - 1) / 8 }.distinct
    val complete = needed.map(strb(_)).reduce(_ && _) && legal
    refusals += selected && !complete
    to.valid := selected && complete && slave.io.written.ready
    waits += to.valid && !to.ready
  }

  /** Ends the declarations and connects the port. */
  def connect(): Unit = {
    val fine = VecInit(selects.toSeq).asUInt.orR && !VecInit(refusals.toSeq :+ false.B).asUInt.orR
    val waiting = VecInit(waits.toSeq :+ false.B).asUInt.orR
    slave.io.written.valid := valid && !waiting
    slave.io.written.bits := Mux(fine, Axi4.Resp.Okay.U, Axi4.Resp.SlvErr.U)
    taken := slave.io.written.fire

    val reads = Module(new ReadMux(port.addressBits - alignment, port.dataBits, readable.map(_._1 >> alignment).toSeq))
    reads.io.words := VecInit(readable.map(_._2).toSeq)
    reads.io.read := slave.io.read
    slave.io.answer := reads.io.answer
  }
}

object RegisterMap {

  /** Cycles from AW and W to B: the input queues, the decoded write, and the B queue. */
  val writeLatency: Int = 3

  /** Cycles from AR to R; the value is sampled one cycle after AR. */
  val readLatency: Int = ReadMux.latency + 1

  /** A word with the fields at their lowest bits and zeros elsewhere. */
  def word(width: Int, fields: Seq[(Int, Data)]): UInt = {
    val parts = mutable.ArrayBuffer[UInt]()
    var end = 0
    for ((low, field) <- fields.sortBy(_._1)) {
      require(low >= end, s"a field at bit $low, where one ends at $end")
      parts += 0.U((low - end).W) += field.asUInt
      end = low + field.getWidth
    }
    require(end <= width, s"fields end at bit $width, not $end")
    parts += 0.U((width - end).W)
    Cat(parts.toSeq.filter(_.getWidth > 0).reverse)
  }
}
