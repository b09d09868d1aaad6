// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.{BitSlicedCam, OneHot}
import chisel3._
import chisel3.util._

/** Operations of each MSHR in request order: one linked list per MSHR.
  *
  * `first` and `op` are combinational. A put and a take in the same cycle may be of the same MSHR.
  */
class MshrOpLists(p: FlatParams) extends Module {
  val io = IO(new Bundle {
    val put = Flipped(Valid(new MshrOp(p)))

    /** The first operation of this MSHR (one-hot) is done; `request` is the request that it belongs to. */
    val take = Flipped(Valid(new Bundle {
      val lock = UInt(p.locks.W)
      val request = UInt(p.requests.W)
    }))

    /** MSHRs with operations. */
    val waiting = Output(UInt(p.locks.W))

    /** Request of the first operation of the MSHR `of`. */
    val of = Input(UInt(p.locks.W))
    val first = Output(UInt(p.requestBits.W))

    /** Operation of the request `request`. */
    val request = Input(UInt(p.requests.W))
    val op = Output(new SwapOp(p))
  })
  private val waiting = RegInit(0.U(p.locks.W))
  private val (firsts, lasts) = (new BitSlicedCam(p.locks, p.requestBits), new BitSlicedCam(p.locks, p.requestBits))
  private val nexts = new BitSlicedCam(p.requests, p.requestBits)
  private val ops = new BitSlicedCam(p.requests, (new SwapOp(p)).getWidth)

  private val puts = OneHot.onlyIf(io.put.valid, UIntToOH(io.put.bits.lock, p.locks))
  private val newRequest = UIntToOH(io.put.bits.request, p.requests)
  private val takenNumber = OHToUInt(io.take.bits.request)
  private val wasLast = lasts(io.take.bits.lock) === takenNumber
  private val takes = OneHot.onlyIf(io.take.valid, io.take.bits.lock)
  private val empties = OneHot.onlyIf(wasLast, takes)
  private val remains = waiting & ~empties
  waiting := remains | puts

  ops.write(OneHot.onlyIf(io.put.valid, newRequest) -> io.put.bits.op.asUInt)
  nexts.write(OneHot.onlyIf((puts & remains).orR, UIntToOH(lasts(puts), p.requests)) -> io.put.bits.request)
  lasts.write(puts -> io.put.bits.request)
  firsts.write((takes & ~empties) -> nexts(io.take.bits.request), (puts & ~remains) -> io.put.bits.request)

  io.waiting := waiting
  io.first := firsts(io.of)
  io.op := ops(io.request).asTypeOf(new SwapOp(p))
}
