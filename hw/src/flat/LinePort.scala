// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.{Axi4, Axi4Address, Axi4Port, MemoryFault, RegisterSlice}
import chisel3._
import chisel3.util._

/** A line to read from near or far. `id` is the MSHR number, which the response repeats. */
class LineRead(p: FlatParams) extends Bundle {
  val id = UInt(p.mshrBits.W)
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

/** A line to write, with `sidebandBits` sideband bits. */
class LineWrite(p: FlatParams, sidebandBits: Int) extends Bundle {
  val id = UInt(p.mshrBits.W)
  val line = UInt((p.lineBits + 3).W)
  val stored = new StoredLine(p)
  val sideband = UInt(sidebandBits.W)
}

class LineReadAnswer(p: FlatParams, sidebandBits: Int) extends Bundle {
  val id = UInt(p.mshrBits.W)
  val data = UInt(p.memory.dataBits.W)
  val poison = Bool()
  val error = Bool()
  val sideband = UInt(sidebandBits.W)
}

class LineWriteAnswer(p: FlatParams) extends Bundle {
  val id = UInt(p.mshrBits.W)
  val error = Bool()
}

/** Line reads and writes as AXI4 transfers of one beat. A register slice on each channel: one cycle each way.
  *
  * Outstanding requests are tracked by id, also across a warm reset. A response that matches none is dropped and
  * reported. After a warm reset, the responses that were still in flight are dropped: no request is sent until they
  * have all come, or until `drain` cycles pass without a response, as with a memory that was reset too.
  *
  * @param sidebandBits sideband bits that memory stores with each line; they travel with its data
  */
class LinePort(p: FlatParams, sidebandBits: Int) extends Module {
  val io = IO(new Bundle {
    val powerOn = Input(Bool())
    val read = Flipped(Decoupled(new LineRead(p)))
    val readAnswer = Decoupled(new LineReadAnswer(p, sidebandBits))
    val write = Flipped(Decoupled(new LineWrite(p, sidebandBits)))
    val writeAnswer = Valid(new LineWriteAnswer(p))
    val axi = new Axi4Port(p.memory)
    val wsideband = Output(UInt(sidebandBits.W))
    val rsideband = Input(UInt(sidebandBits.W))

    /** Dropped responses in this cycle. */
    val strays = Output(UInt(2.W))

    /** Something is in flight. */
    val busy = Output(Bool())
  })

  private def persistent[T <: Data](init: T): T = withReset(io.powerOn) { RegInit(init) }
  private val reads, writes = Module(new OutstandingRequests(p, 2 * p.requests))
  private val draining = persistent(false.B)
  private val idleCycles = persistent(0.U(log2Ceil(p.drain + 1).W))
  private val sending = !draining
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
  private val readable = sending && reads.io.available
  ar.valid := io.read.valid && readable
  io.read.ready := ar.ready && readable
  ar.bits := address(io.read.bits.id, io.read.bits.line)
  io.axi.ar <> RegisterSlice(ar)

  // AW and W are issued together, when both are ready.
  private val aw = Wire(Decoupled(new Axi4Address(p.memory)))
  private val w = Wire(Decoupled(new LineWrite(p, sidebandBits)))
  private val writable = sending && writes.io.available
  io.write.ready := aw.ready && w.ready && writable
  aw.valid := io.write.valid && w.ready && writable
  w.valid := io.write.valid && aw.ready && writable
  aw.bits := address(io.write.bits.id, io.write.bits.line)
  w.bits := io.write.bits
  io.axi.aw <> RegisterSlice(aw)
  private val data = RegisterSlice(w, p.clockGates)
  io.axi.w.valid := data.valid
  data.ready := io.axi.w.ready
  io.axi.w.bits.data := data.bits.stored.data
  io.axi.w.bits.strb := data.bits.stored.strobe
  io.axi.w.bits.user := data.bits.stored.poison
  io.axi.w.bits.last := true.B
  io.wsideband := data.bits.sideband

  private val r = Wire(Decoupled(new LineReadAnswer(p, sidebandBits)))
  private val readExpected = reads.io.expected && io.axi.r.bits.last
  r.valid := io.axi.r.valid && readExpected && sending
  io.axi.r.ready := r.ready
  r.bits.id := io.axi.r.bits.id
  r.bits.data := io.axi.r.bits.data
  r.bits.poison := io.axi.r.bits.user
  r.bits.error := io.axi.r.bits.resp.orR
  r.bits.sideband := io.rsideband
  io.readAnswer <> RegisterSlice(r, p.clockGates)

  private val writeExpected = writes.io.expected
  io.axi.b.ready := true.B
  io.writeAnswer.valid := RegNext(io.axi.b.valid && writeExpected && sending, false.B)
  io.writeAnswer.bits.id := RegNext(io.axi.b.bits.id(p.mshrBits - 1, 0))
  io.writeAnswer.bits.error := RegNext(io.axi.b.bits.resp.orR)

  reads.io.issued.valid := io.axi.ar.fire
  reads.io.issued.bits := io.axi.ar.bits.id
  reads.io.id := io.axi.r.bits.id
  reads.io.arrives := io.axi.r.fire && io.axi.r.bits.last
  writes.io.issued.valid := io.axi.aw.fire
  writes.io.issued.bits := io.axi.aw.bits.id
  writes.io.id := io.axi.b.bits.id
  writes.io.arrives := io.axi.b.fire
  private val outstanding = reads.io.busy || writes.io.busy
  private val answered = io.axi.r.fire || io.axi.b.fire
  idleCycles := Mux(draining && !answered, idleCycles + 1.U, 0.U)
  private val drained = draining && (idleCycles === p.drain.U || !outstanding)
  when(drained) { draining := false.B }
  for (tracker <- Seq(reads, writes)) {
    tracker.io.powerOn := io.powerOn
    tracker.io.forget := drained
  }
  when(reset.asBool) { draining := true.B }
  private def stray(fires: Bool, expected: Bool): Bool = RegNext(fires && !(expected && sending), false.B)
  io.strays := stray(io.axi.r.fire, readExpected) +& stray(io.axi.b.fire, writeExpected)
  io.busy := draining || outstanding || io.axi.ar.valid || io.axi.aw.valid || io.axi.w.valid ||
    io.readAnswer.valid || io.writeAnswer.valid
}
