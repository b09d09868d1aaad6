// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{Axi4, Axi4WriteData, Axi4WriteResponse}
import chisel3._
import chisel3.util._

/** Write data and write responses of one channel: memory's pass, those for the telemetry region end here.
  *
  * A write into the region is answered and dropped. It should not happen, so it may be slow: it starts when every write
  * before it has been answered, and the next starts when it has been, which keeps all answers in order.
  *
  * Data of a write pass in the cycle of its grant or later. Combinational, but for the count of what is under way;
  * `memoryData` and `response` want a [[RegisterSlice]] behind them.
  */
class WriteGate(p: ExpanderParams) extends Module {
  import WriteGate.State._
  val io = IO(new Bundle {

    /** A write to memory was granted. */
    val granted = Input(Bool())

    /** No write to memory may be granted. */
    val closed = Output(Bool())
    val dropped = Flipped(Decoupled(UInt(p.memory.idBits.W)))
    val data = Flipped(Decoupled(new Axi4WriteData(p.memory)))
    val memoryData = Decoupled(new Axi4WriteData(p.memory))
    val memoryResponse = Flipped(Decoupled(new Axi4WriteResponse(p.memory)))
    val response = Decoupled(new Axi4WriteResponse(p.memory))

    /** A beat of data was dropped. */
    val drops = Output(Bool())
  })
  private val countBits = 16
  private val underWay = RegInit(0.U(countBits.W)) // granted, and not answered
  private val owed = RegInit(0.U(countBits.W)) // granted, and not all data passed
  private val state = RegInit(Idle)
  private val id = Reg(UInt(p.memory.idBits.W))

  private val full = underWay === ((1 << countBits) - 1).U
  io.closed := state =/= Idle || full
  io.dropped.ready := state === Idle && underWay === 0.U && owed === 0.U

  private val passes = owed =/= 0.U || io.granted
  io.memoryData.valid := io.data.valid && passes
  io.memoryData.bits := io.data.bits
  io.data.ready := Mux(state === Dropping, true.B, passes && io.memoryData.ready)
  io.drops := state === Dropping && io.data.valid
  owed := owed + io.granted - (io.memoryData.fire && io.data.bits.last)

  io.response.valid := io.memoryResponse.valid || state === Answering
  io.response.bits := io.memoryResponse.bits
  io.memoryResponse.ready := io.response.ready && state =/= Answering
  when(state === Answering) {
    io.response.bits.id := id
    io.response.bits.resp := Axi4.Resp.Okay.U
  }
  underWay := underWay + io.granted - io.memoryResponse.fire

  when(io.dropped.fire) {
    state := Dropping
    id := io.dropped.bits
  }
  when(io.drops && io.data.bits.last) { state := Answering }
  when(state === Answering && io.response.ready) { state := Idle }
}

object WriteGate {
  private object State extends ChiselEnum {
    val Idle, Dropping, Answering = Value
  }
}
