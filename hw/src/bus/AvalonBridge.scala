// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.util._

/** A pipelined Avalon-MM interface of single transfers, seen from the host. Names are those of the Avalon
  * specification.
  *
  * `response` is valid with `readdatavalid` or `writeresponsevalid`, which are never high together; it is encoded as in
  * AXI.
  */
class AvalonPort(val addressBits: Int, val dataBits: Int) extends Bundle {
  val address = Output(UInt(addressBits.W))
  val read = Output(Bool())
  val write = Output(Bool())
  val writedata = Output(UInt(dataBits.W))
  val byteenable = Output(UInt((dataBits / 8).W))
  val waitrequest = Input(Bool())
  val readdata = Input(UInt(dataBits.W))
  val readdatavalid = Input(Bool())
  val writeresponsevalid = Input(Bool())
  val response = Input(UInt(2.W))
}

/** Bridge from the board's Avalon-MM control port to AXI4-Lite.
  *
  * Avalon orders reads and writes together, AXI4-Lite does not. So a read waits for the responses of earlier writes,
  * and a write for those of earlier reads; reads alone, or writes alone, issue one per cycle. `byteenable` selects the
  * bytes of a write, so the address bits below a word are ignored. A read ignores `byteenable` and returns all bytes.
  *
  * Latency without back-pressure: one cycle from `read` to AR, from `write` to AW and W, from R to `readdatavalid`, and
  * from B to `writeresponsevalid`.
  *
  * @param maxOutstanding most outstanding transfers; one per cycle needs the slave's latency plus four
  */
class AvalonBridge(addressBits: Int, dataBits: Int, maxOutstanding: Int = 8) extends Module {
  require(maxOutstanding >= 1, s"maxOutstanding: 1 or more, not $maxOutstanding")

  val io = IO(new Bundle {
    val avalon = Flipped(new AvalonPort(addressBits, dataBits))
    val axi = new AxiLitePort(addressBits, dataBits)
  })

  private val alignment = log2Ceil(dataBits / 8)
  private val address = Cat(io.avalon.address(addressBits - 1, alignment), 0.U(alignment.W))

  // Two entries each, so acceptance does not depend combinationally on the other side's ready.
  private val aw = Module(new Queue(UInt(addressBits.W), 2))
  private val w = Module(new Queue(new AxiLiteWriteData(dataBits), 2))
  private val ar = Module(new Queue(UInt(addressBits.W), 2))
  io.axi.aw <> aw.io.deq
  io.axi.w <> w.io.deq
  io.axi.ar <> ar.io.deq

  private def count(up: Bool, down: Bool): UInt = {
    val number = RegInit(0.U(log2Ceil(maxOutstanding + 1).W))
    number := number + up - down
    number
  }
  private val takesWrite, takesRead = Wire(Bool())
  private val writes = count(io.avalon.write && takesWrite, io.axi.b.fire)
  private val reads = count(io.avalon.read && takesRead, io.axi.r.fire)
  takesWrite := aw.io.enq.ready && w.io.enq.ready && reads === 0.U && writes =/= maxOutstanding.U
  takesRead := ar.io.enq.ready && writes === 0.U && reads =/= maxOutstanding.U
  io.avalon.waitrequest := Mux(io.avalon.read, !takesRead, !takesWrite)

  aw.io.enq.valid := io.avalon.write && takesWrite
  aw.io.enq.bits := address
  w.io.enq.valid := io.avalon.write && takesWrite
  w.io.enq.bits.data := io.avalon.writedata
  w.io.enq.bits.strb := io.avalon.byteenable
  ar.io.enq.valid := io.avalon.read && takesRead
  ar.io.enq.bits := address

  // Avalon has no back-pressure on responses.
  io.axi.b.ready := true.B
  io.axi.r.ready := true.B
  io.avalon.writeresponsevalid := RegNext(io.axi.b.valid, false.B)
  io.avalon.readdatavalid := RegNext(io.axi.r.valid, false.B)
  io.avalon.readdata := RegNext(io.axi.r.bits.data)
  io.avalon.response := RegNext(Mux(io.axi.r.valid, io.axi.r.bits.resp, io.axi.b.bits))
  assert(!(io.avalon.read && io.avalon.write), "a read and a write in one cycle")
}
