// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.{Axi4, Axi4Address, Axi4Port, MemoryFault, RegisterSlice}
import chisel3._
import chisel3.util._

/** A line to read from near or far. `id` is the MSHR number, which the response repeats. */
class LineRead(p: FlatParams) extends Bundle {
  val id = UInt(p.lockBits.W)
  val line = UInt((p.lineBits + 3).W)
}

/** A line with the bytes of it that are present: data and a strobe per byte. */
class StoredLine(p: FlatParams) extends Bundle {
  val data = UInt(p.memory.dataBits.W)
  val strobe = UInt(p.memory.strbBits.W)
  val poison = Bool()
}

object StoredLine {

  /** Contents of a protected memory. An uncorrectable word is poisoned whole. */
  def from(data: UInt, fault: MemoryFault, p: FlatParams): StoredLine = {
    val line = WireInit(data.asTypeOf(new StoredLine(p)))
    when(fault.uncorrected) {
      line.strobe := Fill(p.memory.strbBits, 1.U)
      line.poison := true.B
    }
    line
  }
}

/** A line to write, with `besideBits` sideband bits. */
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

/** Line reads and writes as AXI4 transfers of one beat. A register slice on each channel: one cycle each way.
  *
  * Outstanding requests are tracked by id, also across a warm reset. A response that matches none is dropped and
  * reported. After a warm reset, the responses that were still in flight are dropped: no request is sent until they
  * have all come, or until `drain` cycles pass without a response, as with a memory that was reset too.
  *
  * @param besideBits sideband bits that memory stores with each line; they travel with its data
  */
class LinePort(p: FlatParams, besideBits: Int) extends Module {
  val io = IO(new Bundle {
    val powerOn = Input(Bool())
    val read = Flipped(Decoupled(new LineRead(p)))
    val readAnswer = Decoupled(new LineReadAnswer(p, besideBits))
    val write = Flipped(Decoupled(new LineWrite(p, besideBits)))
    val writeAnswer = Valid(new LineWriteAnswer(p))
    val axi = new Axi4Port(p.memory)
    val wbeside = Output(UInt(besideBits.W))
    val rbeside = Input(UInt(besideBits.W))

    /** Dropped responses in this cycle. */
    val strays = Output(UInt(2.W))

    /** Something is in flight. */
    val any = Output(Bool())
  })

  private def kept[T <: Data](init: T): T = withReset(io.powerOn) { RegInit(init) }
  private val reads, writes = Module(new OutstandingRequests(p, 2 * p.requests))
  private val draining = kept(false.B)
  private val waited = kept(0.U(log2Ceil(p.drain + 1).W))
  private val open = !draining
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
  private val readable = open && reads.io.room
  ar.valid := io.read.valid && readable
  io.read.ready := ar.ready && readable
  ar.bits := address(io.read.bits.id, io.read.bits.line)
  io.axi.ar <> RegisterSlice(ar)

  // AW and W are issued together, when both are ready.
  private val aw = Wire(Decoupled(new Axi4Address(p.memory)))
  private val w = Wire(Decoupled(new LineWrite(p, besideBits)))
  private val writable = open && writes.io.room
  io.write.ready := aw.ready && w.ready && writable
  aw.valid := io.write.valid && w.ready && writable
  w.valid := io.write.valid && aw.ready && writable
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
  private val readComes = reads.io.owed && io.axi.r.bits.last
  r.valid := io.axi.r.valid && readComes && open
  io.axi.r.ready := r.ready
  r.bits.id := io.axi.r.bits.id
  r.bits.data := io.axi.r.bits.data
  r.bits.poison := io.axi.r.bits.user
  r.bits.error := io.axi.r.bits.resp.orR
  r.bits.beside := io.rbeside
  io.readAnswer <> RegisterSlice(r)

  private val writeComes = writes.io.owed
  io.axi.b.ready := true.B
  io.writeAnswer.valid := RegNext(io.axi.b.valid && writeComes && open, false.B)
  io.writeAnswer.bits.id := RegNext(io.axi.b.bits.id(p.lockBits - 1, 0))
  io.writeAnswer.bits.error := RegNext(io.axi.b.bits.resp.orR)

  reads.io.asked.valid := io.axi.ar.fire
  reads.io.asked.bits := io.axi.ar.bits.id
  reads.io.id := io.axi.r.bits.id
  reads.io.answered := io.axi.r.fire && readComes
  writes.io.asked.valid := io.axi.aw.fire
  writes.io.asked.bits := io.axi.aw.bits.id
  writes.io.id := io.axi.b.bits.id
  writes.io.answered := io.axi.b.fire && writeComes
  private val any = reads.io.any || writes.io.any
  private val answered = io.axi.r.fire || io.axi.b.fire
  waited := Mux(draining && !answered, waited + 1.U, 0.U)
  private val drained = draining && (waited === p.drain.U || !any)
  when(drained) { draining := false.B }
  for (underWay <- Seq(reads, writes)) {
    underWay.io.powerOn := io.powerOn
    underWay.io.forget := drained
  }
  when(reset.asBool) { draining := true.B }
  private def stray(fires: Bool, comes: Bool): Bool = RegNext(fires && !(comes && open), false.B)
  io.strays := stray(io.axi.r.fire, readComes) +& stray(io.axi.b.fire, writeComes)
  io.any := draining || any || io.axi.ar.valid || io.axi.aw.valid || io.axi.w.valid ||
    io.readAnswer.valid || io.writeAnswer.valid
}
