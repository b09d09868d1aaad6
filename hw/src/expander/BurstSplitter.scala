// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{Axi4Address, BurstAddress}
import chisel3._
import chisel3.util._

/** One beat of a request. */
class RequestBeat(p: ExpanderParams) extends Bundle {

  /** The request, with the address of this beat. */
  val transfer = new Axi4Address(p.memory)
  val first = Bool()
  val last = Bool()

  /** Region match of the whole request, with the windows at its acceptance. */
  val region = new RegionMatch

  /** This beat is past the end of the window of the first beat. */
  val pastWindow = Bool()
}

/** Splits the requests of one port into beats. The region match is decoded before the register.
  *
  * A write into the region is one beat here, whatever its length; [[RegionWriteSink]] consumes its data.
  *
  * `in.ready` and `out` depend only on registers and `closed`.
  *
  * Latency: one cycle. Throughput: one beat per cycle, within a request and across requests. Holds two requests.
  */
class BurstSplitter(p: ExpanderParams, write: Boolean) extends Module {
  val io = IO(new Bundle {
    val in = Flipped(Decoupled(new Axi4Address(p.memory)))
    val windows = Input(new Windows(p))
    val out = Decoupled(new RequestBeat(p))

    /** Accept no request. */
    val closed = Input(Bool())
  })
  private val decoder = Module(new RegionDecoder(p))
  decoder.io.address := io.in.bits.addr
  decoder.io.windows := io.windows
  private val arriving = Wire(new RequestBeat(p))
  arriving.transfer := io.in.bits
  arriving.first := true.B
  arriving.last := io.in.bits.len === 0.U || (write.B && decoder.io.region.hit)
  arriving.region := decoder.io.region
  arriving.pastWindow := false.B

  private val valid = RegInit(false.B)
  private val beat = Reg(new RequestBeat(p))
  private val beatsLeft = Reg(UInt(p.memory.lenBits.W)) // beats after this one
  // Skid buffer: the request that came in the cycle in which the output stalled.
  private val skidValid = RegInit(false.B)
  private val skid = Reg(new RequestBeat(p))

  private val inBurst = valid && !beat.last
  private val advances = io.out.ready || !valid
  private val next = BurstAddress.next(beat.transfer, beat.transfer.addr, p.memory)
  io.in.ready := !skidValid && !io.closed
  io.out.valid := valid
  io.out.bits := beat
  when(advances) {
    valid := inBurst || skidValid || io.in.fire
    beat := Mux(skidValid, skid, arriving)
    beatsLeft := Mux(skidValid, skid.transfer.len, io.in.bits.len)
    when(inBurst) {
      beat := beat
      beat.transfer.addr := next
      beat.first := false.B
      beat.last := beatsLeft === 1.U
      beat.pastWindow := beat.pastWindow || BurstSplitter.leavesWindow(beat.transfer.addr, next, p)
      beatsLeft := beatsLeft - 1.U
    }.otherwise { skidValid := false.B }
  }
  when(io.in.fire && !(advances && !inBurst)) {
    skidValid := true.B
    skid := arriving
  }
}

object BurstSplitter {

  /** Whether `to`, which is less than a window away from `from`, is in another window. */
  private def leavesWindow(from: UInt, to: UInt, p: ExpanderParams): Bool = {
    val windowBits = log2Ceil(p.windowBytes)
    if (windowBits >= p.memory.addressBits) false.B else from(windowBits) =/= to(windowBits)
  }
}
