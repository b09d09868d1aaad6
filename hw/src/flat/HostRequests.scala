// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.{Axi4Address, Axi4Params, Axi4WriteData, BurstAddress, BurstMasks, RegisterSlice}
import chisel3._
import chisel3.util._

/** One beat of a host request: an access to one line. */
class HostBeat(p: Axi4Params) extends Bundle {
  val id = UInt(p.idBits.W)
  val line = UInt((p.addressBits - 6).W)

  /** Byte offset of the access in the line. */
  val offset = UInt(6.W)
  val write = Bool()

  /** Last beat of its burst. */
  val last = Bool()
}

/** A burst whose next beat is at `addr`. */
private class HostBurst(p: Axi4Params) extends Bundle {
  val id = UInt(p.idBits.W)
  val addr = UInt(p.addressBits.W)
  val len = UInt(p.lenBits.W)
  val masks = new BurstMasks(p)
}

/** Puts the host's beats into one order, one beat per cycle: acceptance order, reads before writes that are accepted in
  * the same cycle. A write counts as accepted when its address and its first data beat both are.
  *
  * The beats of a burst are consecutive, except for a write whose data have not come: later requests pass it, because a
  * host may need a read response before it can send the data. So only the write itself ever waits for W.
  *
  * Latency: one cycle. No output depends combinationally on an input.
  */
class HostRequests(p: Axi4Params, clockGates: Boolean = false) extends Module {
  val io = IO(new Bundle {
    val ar = Flipped(Decoupled(new Axi4Address(p)))
    val aw = Flipped(Decoupled(new Axi4Address(p)))
    val w = Flipped(Decoupled(new Axi4WriteData(p)))

    /** `data` belongs to `beat` if that is a write. */
    val beat = Decoupled(new HostBeat(p))
    val data = Output(new Axi4WriteData(p))

    /** From the next cycle on, new requests are not accepted; accepted ones complete, including their write data. */
    val quiesce = Input(Bool())

    /** An accepted request has not left yet. */
    val busy = Output(Bool())
  })
  private val quiesced = RegNext(io.quiesce, false.B)

  // Accepted write addresses minus accepted first data beats. Each register slice holds two, so the range is -2 to 2.
  private val addressLead = RegInit(0.S(3.W))
  private val inBurst = RegInit(false.B) // inside a data burst
  private def slice[T <: Data](port: DecoupledIO[T], open: Bool, clockGates: Boolean = false): DecoupledIO[T] = {
    val gated = Wire(chiselTypeOf(port))
    gated.valid := port.valid && open
    gated.bits := port.bits
    port.ready := gated.ready && open
    RegisterSlice(gated, clockGates)
  }
  // Computed before the register slice, so a beat's address takes less time after it.
  private def burst(transfer: Axi4Address): HostBurst = {
    val burst = Wire(new HostBurst(p))
    burst.id := transfer.id
    burst.addr := transfer.addr
    burst.len := transfer.len
    burst.masks := BurstAddress.masks(transfer, p)
    burst
  }
  private val ar = slice(io.ar.map(burst), !quiesced)
  private val aw = slice(io.aw.map(burst), !quiesced || addressLead < 0.S)
  private val w = slice(io.w, !quiesced || addressLead > 0.S || inBurst, clockGates)
  private val begins = io.w.fire && !inBurst
  when(io.w.fire) { inBurst := !io.w.bits.last }
  addressLead := addressLead + io.aw.fire.asUInt.zext - begins.asUInt.zext
  private val paired = Mux(addressLead < 0.S, io.aw.fire, begins && (addressLead > 0.S || io.aw.fire))

  // Order of the accepted requests, one bit each: 1 is a write.
  private val order = RegInit(0.U(4.W))
  private val accepted = RegInit(0.U(3.W))
  private val starts = Wire(Bool())
  private val remaining = accepted - starts
  private val afterRead = remaining + io.ar.fire
  order := (order >> starts) & ~(15.U << remaining) | (Mux(paired, 1.U << afterRead, 0.U))(3, 0)
  accepted := afterRead + paired

  private class Burst {
    val open = RegInit(false.B)

    /** Remaining beats of the burst. */
    val left = Reg(UInt((p.lenBits + 1).W))
    val rest = Reg(new HostBurst(p))
  }
  private val (reading, writing) = (new Burst, new Burst)
  private val continues = writing.open && w.valid
  private val busy = reading.open || continues
  private val write = !reading.open && (continues || order(0))
  private val current =
    Mux(busy, Mux(reading.open, reading.rest, writing.rest), Mux(order(0), aw.bits, ar.bits))
  private val left = Mux(reading.open, reading.left, Mux(continues, writing.left, current.len +& 1.U))
  private val last = left === 1.U
  starts := io.beat.fire && !busy

  io.beat.valid := busy || accepted =/= 0.U
  io.beat.bits.id := current.id
  io.beat.bits.line := current.addr >> 6
  io.beat.bits.offset := current.addr
  io.beat.bits.write := write
  io.beat.bits.last := last
  io.data := w.bits
  ar.ready := starts && !order(0)
  aw.ready := starts && order(0)
  w.ready := io.beat.fire && write
  assert(
    !starts || Mux(order(0), aw.valid && w.valid && !writing.open, ar.valid),
    "a request starts that has not arrived"
  )
  assert(!w.ready || w.bits.last === io.beat.bits.last, "W and AW disagree about a burst's length")

  for ((burst, selected) <- Seq(reading -> !write, writing -> write)) when(io.beat.fire && selected) {
    burst.open := !last
    burst.left := left - 1.U
    burst.rest := current
    burst.rest.addr := BurstAddress.next(current.masks, current.addr)
  }
  io.busy := ar.valid || aw.valid || w.valid || reading.open || writing.open
}
