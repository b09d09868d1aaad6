// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.{Axi4, Axi4Address, Axi4Port, RegisterSlice}
import chisel3._
import chisel3.util._

/** A line to read from near or far. `id`: the lock, which its answer has as well. */
class LineRead(p: FlatParams) extends Bundle {
  val id = UInt(p.lockBits.W)
  val line = UInt((p.lineBits + 3).W)
}

/** A line with what is stored of it: data and, by byte, which of them are there. */
class StoredLine(p: FlatParams) extends Bundle {
  val data = UInt(p.memory.dataBits.W)
  val strobe = UInt(p.memory.strbBits.W)
  val poison = Bool()
}

/** A line to write, and so many bits beside it. */
class LineWrite(p: FlatParams, besideBits: Int) extends Bundle {
  val id = UInt(p.lockBits.W)
  val line = UInt((p.lineBits + 3).W)
  val stored = new StoredLine(p)
  val beside = UInt(besideBits.W)
}

class LineReadAnswer(p: FlatParams, besideBits: Int) extends Bundle {
  val id = UInt(p.lockBits.W)
  val data = UInt(p.memory.dataBits.W)
  val poison = Bool()
  val error = Bool()
  val beside = UInt(besideBits.W)
}

class LineWriteAnswer(p: FlatParams) extends Bundle {
  val id = UInt(p.lockBits.W)
  val error = Bool()
}

/** Lines as AXI4 transfers of one beat. A register slice on each channel: a cycle each way.
  *
  * @param besideBits bits that memory stores beside each line; they travel with its data
  */
class LinePort(p: FlatParams, besideBits: Int) extends Module {
  val io = IO(new Bundle {
    val read = Flipped(Decoupled(new LineRead(p)))
    val readAnswer = Decoupled(new LineReadAnswer(p, besideBits))
    val write = Flipped(Decoupled(new LineWrite(p, besideBits)))
    val writeAnswer = Valid(new LineWriteAnswer(p))
    val axi = new Axi4Port(p.memory)
    val wbeside = Output(UInt(besideBits.W))
    val rbeside = Input(UInt(besideBits.W))
  })
  private def address(id: UInt, line: UInt): Axi4Address = {
    val whole = Wire(new Axi4Address(p.memory))
    whole.id := id
    whole.addr := Cat(line, 0.U(6.W))
    whole.len := 0.U
    whole.size := 6.U
    whole.burst := Axi4.Burst.Incr.U
    whole
  }
  private val ar = Wire(Decoupled(new Axi4Address(p.memory)))
  ar.valid := io.read.valid
  io.read.ready := ar.ready
  ar.bits := address(io.read.bits.id, io.read.bits.line)
  io.axi.ar <> RegisterSlice(ar)

  // AW and W go together, and wait for the slower.
  private val aw = Wire(Decoupled(new Axi4Address(p.memory)))
  private val w = Wire(Decoupled(new LineWrite(p, besideBits)))
  io.write.ready := aw.ready && w.ready
  aw.valid := io.write.valid && w.ready
  w.valid := io.write.valid && aw.ready
  aw.bits := address(io.write.bits.id, io.write.bits.line)
  w.bits := io.write.bits
  io.axi.aw <> RegisterSlice(aw)
  private val data = RegisterSlice(w)
  io.axi.w.valid := data.valid
  data.ready := io.axi.w.ready
  io.axi.w.bits.data := data.bits.stored.data
  io.axi.w.bits.strb := data.bits.stored.strobe
  io.axi.w.bits.user := data.bits.stored.poison
  io.axi.w.bits.last := true.B
  io.wbeside := data.bits.beside

  private val r = Wire(Decoupled(new LineReadAnswer(p, besideBits)))
  r.valid := io.axi.r.valid
  io.axi.r.ready := r.ready
  r.bits.id := io.axi.r.bits.id
  r.bits.data := io.axi.r.bits.data
  r.bits.poison := io.axi.r.bits.user
  r.bits.error := io.axi.r.bits.resp.orR
  r.bits.beside := io.rbeside
  io.readAnswer <> RegisterSlice(r)
  assert(!r.valid || (io.axi.r.bits.last && mine(io.axi.r.bits.id)), "a read's answer that nobody asked for")

  io.axi.b.ready := true.B
  io.writeAnswer.valid := RegNext(io.axi.b.valid, false.B)
  io.writeAnswer.bits.id := RegNext(io.axi.b.bits.id(p.lockBits - 1, 0))
  io.writeAnswer.bits.error := RegNext(io.axi.b.bits.resp.orR)
  assert(!io.axi.b.valid || mine(io.axi.b.bits.id), "a write's answer that nobody asked for")
  private def mine(id: UInt): Bool = (id >> p.lockBits) === 0.U
}
