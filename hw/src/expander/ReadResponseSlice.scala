// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.Axi4ReadData
import chisel3._
import chisel3.util._

/** A response to a read, and the data of both sources that it may have come from. */
class ReadResponse(p: ExpanderParams) extends Bundle {

  /** Its id, whether it is its burst's last, and its response code. */
  val beat = new TelemetryBeat(p)

  /** It is a telemetry line's; otherwise memory's. */
  val isLine = Bool()

  /** Data, and poison above them. */
  val memoryData, lineData = UInt((p.memory.dataBits + 1).W)

  /** The response with its own data. */
  def selected: Axi4ReadData = {
    val response = Wire(new Axi4ReadData(p.memory))
    val data = Mux(isLine, lineData, memoryData)
    response.id := beat.id
    response.last := beat.last
    response.resp := beat.resp
    response.user := data(p.memory.dataBits)
    response.data := data
    response
  }
}

/** A skid buffer that selects the data of a response. Which source a response comes from is known late in the cycle, so
  * the data of both are registered, and selected a cycle later. No output depends combinationally on an input; `in.ready`
  * is a register.
  *
  * Latency: one cycle. Throughput: one response per cycle. Holds two.
  */
class ReadResponseSlice(p: ExpanderParams) extends Module {
  val io = IO(new Bundle {
    val in = Flipped(Decoupled(new ReadResponse(p)))
    val out = Decoupled(new Axi4ReadData(p.memory))
  })
  private val valid, skidValid, full = RegInit(false.B)
  private val response = Reg(new ReadResponse(p))
  // Holds the response that was accepted before `response`, if that one could not leave.
  private val skid = Reg(new Axi4ReadData(p.memory))

  io.in.ready := !full
  io.out.valid := valid || skidValid
  io.out.bits := Mux(skidValid, skid, response.selected)
  full := !io.out.ready && (full || (io.in.valid && io.out.valid))
  when(!full) {
    valid := io.in.valid
    response := io.in.bits
  }
  skidValid := !io.out.ready && io.out.valid
  when(valid && !skidValid) { skid := response.selected }
}
