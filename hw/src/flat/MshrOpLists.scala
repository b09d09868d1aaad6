// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.{BitSlicedCam, OneHot}
import chisel3._
import chisel3.util._

/** Operations of each MSHR in request order: one linked list per MSHR.
  *
  * A push is carried out one cycle later: the MSHR is then already `waiting`, and its operation can be read from the
  * next cycle on. So can the next operation after a pop. `head` and `op` are combinational. A push and a pop in the
  * same cycle may be of the same MSHR.
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
  private val lasts = RegInit(0.U(p.requests.W)) // requests of the last operations; of empty lists too
  private val (heads, tails) = (new BitSlicedCam(p.mshrs, p.requestBits), new BitSlicedCam(p.mshrs, p.requestBits))
  private val nexts = new BitSlicedCam(p.requests, p.requestBits)
  private val ops = new BitSlicedCam(p.requests, (new SwapOp(p)).getWidth)

  private val push = RegNext(io.push.bits)
  private val pushes = RegNext(OneHot.onlyIf(io.push.valid, UIntToOH(io.push.bits.mshr, p.mshrs)), 0.U)
  private val newRequest = OneHot.onlyIf(RegNext(io.push.valid, false.B), UIntToOH(push.request, p.requests))
  private val pops = OneHot.onlyIf(io.pop.valid, io.pop.bits.mshr)
  private val wasLast = (lasts & io.pop.bits.request).orR
  private val empties = OneHot.onlyIf(wasLast, pops)
  private val remains = waiting & ~empties
  waiting := remains | pushes

  // The list has operations before this one: (pushes & remains).orR, its terms computed at the same time.
  private val joins = (pushes & waiting).orR && !(wasLast && (pushes & pops).orR)
  private val follows = OneHot.onlyIf(joins, UIntToOH(tails(pushes), p.requests))
  lasts := (lasts & ~follows) | newRequest
  ops.write(newRequest -> push.op.asUInt)
  nexts.write(follows -> push.request)
  tails.write(pushes -> push.request)
  heads.write((pops & ~empties) -> nexts(io.pop.bits.request), (pushes & ~remains) -> push.request)

  io.waiting := waiting | pushes
  io.head := heads(io.select)
  io.op := ops(io.request).asTypeOf(new SwapOp(p))
}
