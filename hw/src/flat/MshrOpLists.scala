// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.{BitSlicedCam, OneHot}
import chisel3._
import chisel3.util._

/** Operations of each MSHR in request order: one linked list per MSHR.
  *
  * `head` and `op` are combinational. A push and a pop in the same cycle may be of the same MSHR.
  */
class MshrOpLists(p: FlatParams) extends Module {
  val io = IO(new Bundle {
    val push = Flipped(Valid(new MshrOp(p)))

    /** The first operation of this MSHR (one-hot) is done; `request` is the request that it belongs to. */
    val pop = Flipped(Valid(new Bundle {
      val mshr = UInt(p.mshrs.W)
      val request = UInt(p.requests.W)
    }))

    /** MSHRs with operations. */
    val waiting = Output(UInt(p.mshrs.W))

    /** Request of the first operation of the MSHR `select`. */
    val select = Input(UInt(p.mshrs.W))
    val head = Output(UInt(p.requestBits.W))

    /** Operation of the request `request`. */
    val request = Input(UInt(p.requests.W))
    val op = Output(new SwapOp(p))
  })
  private val waiting = RegInit(0.U(p.mshrs.W))
  private val (heads, tails) = (new BitSlicedCam(p.mshrs, p.requestBits), new BitSlicedCam(p.mshrs, p.requestBits))
  private val nexts = new BitSlicedCam(p.requests, p.requestBits)
  private val ops = new BitSlicedCam(p.requests, (new SwapOp(p)).getWidth)

  private val pushes = OneHot.onlyIf(io.push.valid, UIntToOH(io.push.bits.mshr, p.mshrs))
  private val newRequest = UIntToOH(io.push.bits.request, p.requests)
  private val poppedRequest = OHToUInt(io.pop.bits.request)
  private val wasLast = tails(io.pop.bits.mshr) === poppedRequest
  private val pops = OneHot.onlyIf(io.pop.valid, io.pop.bits.mshr)
  private val empties = OneHot.onlyIf(wasLast, pops)
  private val remains = waiting & ~empties
  waiting := remains | pushes

  ops.write(OneHot.onlyIf(io.push.valid, newRequest) -> io.push.bits.op.asUInt)
  nexts.write(OneHot.onlyIf((pushes & remains).orR, UIntToOH(tails(pushes), p.requests)) -> io.push.bits.request)
  tails.write(pushes -> io.push.bits.request)
  heads.write((pops & ~empties) -> nexts(io.pop.bits.request), (pushes & ~remains) -> io.push.bits.request)

  io.waiting := waiting
  io.head := heads(io.select)
  io.op := ops(io.request).asTypeOf(new SwapOp(p))
}
