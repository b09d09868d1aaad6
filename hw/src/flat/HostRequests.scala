// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.{Axi4Address, Axi4Params, Axi4WriteData, BurstAddress, RegisterSlice}
import chisel3._
import chisel3.util._

/** One beat of the host's: an access of one line. */
class HostBeat(p: Axi4Params) extends Bundle {
  val id = UInt(p.idBits.W)
  val line = UInt((p.addressBits - 6).W)

  /** Where in the line it begins. */
  val offset = UInt(6.W)
  val write = Bool()

  /** Of its burst. */
  val last = Bool()
}

/** Gives the host's beats their one order, a beat a cycle: requests in the order in which they are accepted, a read ahead
  * of a write that is accepted in the same cycle. A write is accepted when its address and its first data both are.
  *
  * The beats of a burst follow each other, but for those of a write whose data are not there: what comes behind goes
  * ahead meanwhile, for a host may have the data only when a read was answered. So nothing waits for W but its own write.
  *
  * Latency: one cycle. No output of the port depends on an input of the same cycle.
  */
class HostRequests(p: Axi4Params) extends Module {
  val io = IO(new Bundle {
    val ar = Flipped(Decoupled(new Axi4Address(p)))
    val aw = Flipped(Decoupled(new Axi4Address(p)))
    val w = Flipped(Decoupled(new Axi4WriteData(p)))

    /** `data` goes with a beat that writes. */
    val beat = Decoupled(new HostBeat(p))
    val data = Output(new Axi4WriteData(p))

    /** No new request is accepted from the next cycle on; those that were go on, with what belongs to them. */
    val quiesce = Input(Bool())

    /** Something was accepted that has not left. */
    val any = Output(Bool())
  })
  private val quiesced = RegNext(io.quiesce, false.B)

  // Bursts whose address was accepted, less those whose first data were: a register slice holds two of either.
  private val lead = RegInit(0.S(3.W))
  private val amid = RegInit(false.B) // a burst of data
  private def slice[T <: Data](port: DecoupledIO[T], open: Bool): DecoupledIO[T] = {
    val gated = Wire(chiselTypeOf(port))
    gated.valid := port.valid && open
    gated.bits := port.bits
    port.ready := gated.ready && open
    RegisterSlice(gated)
  }
  private val ar = slice(io.ar, !quiesced)
  private val aw = slice(io.aw, !quiesced || lead < 0.S)
  private val w = slice(io.w, !quiesced || lead > 0.S || amid)
  private val begins = io.w.fire && !amid
  when(io.w.fire) { amid := !io.w.bits.last }
  lead := lead + io.aw.fire.asUInt.zext - begins.asUInt.zext
  private val paired = Mux(lead < 0.S, io.aw.fire, begins && (lead > 0.S || io.aw.fire))

  // The order of what was accepted, a bit each: it writes.
  private val order = RegInit(0.U(4.W))
  private val accepted = RegInit(0.U(3.W))
  private val starts = Wire(Bool())
  private val kept = accepted - starts
  private val afterRead = kept + io.ar.fire
  order := (order >> starts) & ~(15.U << kept) | (Mux(paired, 1.U << afterRead, 0.U))(3, 0)
  accepted := afterRead + paired

  private class Burst {
    val open = RegInit(false.B)

    /** Beats of it that are. */
    val left = Reg(UInt((p.lenBits + 1).W))
    val transfer = Reg(new Axi4Address(p))
  }
  private val (reading, writing) = (new Burst, new Burst)
  private val continues = writing.open && w.valid
  private val busy = reading.open || continues
  private val write = !reading.open && (continues || order(0))
  private val current = Mux(
    reading.open,
    reading.transfer,
    Mux(continues, writing.transfer, Mux(order(0), aw.bits, ar.bits))
  )
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
  assert(!starts || Mux(order(0), aw.valid && w.valid && !writing.open, ar.valid), "a request began that is not there")
  assert(!w.ready || w.bits.last === io.beat.bits.last, "W and AW disagree about a burst's length")

  for ((burst, mine) <- Seq(reading -> !write, writing -> write)) when(io.beat.fire && mine) {
    burst.open := !last
    burst.transfer := current
    burst.left := left - 1.U
    burst.transfer.addr := BurstAddress.next(current, current.addr, p)
  }
  io.any := ar.valid || aw.valid || w.valid || reading.open || writing.open
}
