// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.{Axi4Address, Axi4Params, Axi4WriteData, Beats}
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

/** Gives the host's beats their one order: one a cycle, AR and AW by turns, the beats of a burst in a row.
  *
  * A beat of a write is taken with its data, so that nothing behind has to wait for data: AW without data waits, and
  * reads pass it. `ar.ready`, `aw.ready` and `w.ready` depend on what is offered. Latency: none.
  */
class HostRequests(p: Axi4Params) extends Module {
  val io = IO(new Bundle {
    val ar = Flipped(Decoupled(new Axi4Address(p)))
    val aw = Flipped(Decoupled(new Axi4Address(p)))
    val w = Flipped(Decoupled(new Axi4WriteData(p)))

    /** `data` goes with a beat that writes. */
    val beat = Decoupled(new HostBeat(p))
    val data = Output(new Axi4WriteData(p))

    /** No new request is taken; the burst that was goes on. */
    val quiesce = Input(Bool())

    /** A burst has beats left. */
    val any = Output(Bool())
  })
  private val left = RegInit(0.U(p.lenBits.W))
  private val transfer = Reg(new Axi4Address(p))
  private val writing = Reg(Bool())
  private val busy = left =/= 0.U

  io.any := busy

  private val readCan = io.ar.valid && !io.quiesce
  private val writeCan = io.aw.valid && io.w.valid && !io.quiesce
  private val readsTurn = RegInit(true.B)
  private val picksWrite = writeCan && !(readCan && readsTurn)
  private val write = Mux(busy, writing, picksWrite)
  private val current = Mux(busy, transfer, Mux(picksWrite, io.aw.bits, io.ar.bits))

  io.beat.valid := Mux(busy, !writing || io.w.valid, writeCan || readCan)
  io.beat.bits.id := current.id
  io.beat.bits.line := current.addr >> 6
  io.beat.bits.offset := current.addr
  io.beat.bits.write := write
  io.beat.bits.last := Mux(busy, left === 1.U, current.len === 0.U)
  io.data := io.w.bits
  io.ar.ready := io.beat.ready && !busy && !picksWrite && !io.quiesce
  io.aw.ready := io.beat.ready && !busy && picksWrite
  io.w.ready := io.beat.fire && write
  assert(!io.w.ready || io.w.bits.last === io.beat.bits.last, "W and AW disagree about a burst's length")

  when(io.beat.fire) {
    left := Mux(busy, left - 1.U, current.len)
    transfer := current
    transfer.addr := Beats.next(current, current.addr, p)
    when(!busy) {
      writing := picksWrite
      readsTurn := picksWrite
    }
  }
}
