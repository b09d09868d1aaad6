// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{Axi4Address, BurstAddress}
import chisel3._
import chisel3.util._

/** One beat of a request. */
class RequestBeat(p: ExpanderParams) extends Bundle {

  /** The request, at the address of this beat. */
  val transfer = new Axi4Address(p.memory)
  val first = Bool()
  val last = Bool()

  /** Of the whole request, as the windows were when it was accepted. */
  val place = new RegionMatch

  /** This beat is past the end of the window in which the first one is. */
  val past = Bool()
}

/** One port's requests, beat by beat. What a request is to the region is decoded on its way into the register.
  *
  * A write into the region is one beat here, however many data it has: they end elsewhere.
  *
  * `in.ready` and `out` depend on registers alone, and on `closed`.
  *
  * Latency: one cycle; a beat a cycle, whether they are of one request or of many. Holds two requests.
  */
class BurstSplitter(p: ExpanderParams, write: Boolean) extends Module {
  val io = IO(new Bundle {
    val in = Flipped(Decoupled(new Axi4Address(p.memory)))
    val windows = Input(new Windows(p))
    val out = Decoupled(new RequestBeat(p))

    /** No request is accepted. */
    val closed = Input(Bool())
  })
  private val decoder = Module(new RegionDecoder(p))
  decoder.io.address := io.in.bits.addr
  decoder.io.windows := io.windows
  private val arriving = Wire(new RequestBeat(p))
  arriving.transfer := io.in.bits
  arriving.first := true.B
  arriving.last := io.in.bits.len === 0.U || (write.B && decoder.io.place.hit)
  arriving.place := decoder.io.place
  arriving.past := false.B

  private val valid = RegInit(false.B)
  private val beat = Reg(new RequestBeat(p))
  private val left = Reg(UInt(p.memory.lenBits.W)) // beats behind this one
  // What came in the cycle in which the one before had to stay.
  private val skidValid = RegInit(false.B)
  private val skid = Reg(new RequestBeat(p))

  private val amid = valid && !beat.last
  private val moves = io.out.ready || !valid
  private val next = BurstAddress.next(beat.transfer, beat.transfer.addr, p.memory)
  io.in.ready := !skidValid && !io.closed
  io.out.valid := valid
  io.out.bits := beat
  when(moves) {
    valid := amid || skidValid || io.in.fire
    beat := Mux(skidValid, skid, arriving)
    left := Mux(skidValid, skid.transfer.len, io.in.bits.len)
    when(amid) {
      beat := beat
      beat.transfer.addr := next
      beat.first := false.B
      beat.last := left === 1.U
      beat.past := beat.past || BurstSplitter.leaves(beat.transfer.addr, next, p)
      left := left - 1.U
    }.otherwise { skidValid := false.B }
  }
  when(io.in.fire && !(moves && !amid)) {
    skidValid := true.B
    skid := arriving
  }
}

object BurstSplitter {

  /** The second of two addresses, not a window apart, is in another window. */
  private def leaves(from: UInt, to: UInt, p: ExpanderParams): Bool = {
    val windowBits = log2Ceil(p.windowBytes)
    if (windowBits >= p.memory.addressBits) false.B else from(windowBits) =/= to(windowBits)
  }
}
