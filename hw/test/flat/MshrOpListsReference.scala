// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.formal.JudgedRun
import chisel3._
import chisel3.util._

/** [[MshrOpLists]], and a record of one operation, any one, of one MSHR, any one. */
class MshrOpListsReference(p: FlatParams) extends Module {
  private val lists = Module(new MshrOpLists(p))
  val io = IO(new Bundle {
    val push = Flipped(Valid(new MshrOp(p)))
    val pop = Input(Bool())
    val from = Input(UInt(p.mshrBits.W))
    val watched = Input(UInt(p.mshrBits.W))

    /** Follow the operation pushed in this cycle, unless one is already followed. */
    val follow = Input(Bool())

    /** An operation is lost, or appears without a push. */
    val wrongWaiting = Output(Bool())

    /** The head is not the oldest operation, or differs from what was pushed. */
    val wrongHead = Output(Bool())
  })
  private val judged = JudgedRun()
  private val watched = RegEnable(io.watched, reset.asBool)

  // A request has one operation at a time; only the head of a list is popped, from a cycle after it is waiting on.
  private val used = RegInit(0.U(p.requests.W))
  private val pushes = io.push.valid && !used(io.push.bits.request)
  private val from = UIntToOH(io.from, p.mshrs)
  private val popped = WireInit(0.U(p.mshrs.W))
  private val readable = lists.io.waiting & RegNext(lists.io.waiting & ~popped, 0.U)
  private val pops = io.pop && readable(io.from)
  when(pops) { popped := from }
  lists.io.push := io.push
  lists.io.push.valid := pushes
  lists.io.select := from
  private val head = UIntToOH(lists.io.head, p.requests)
  lists.io.pop.valid := pops
  lists.io.pop.bits.mshr := from
  lists.io.pop.bits.request := head
  lists.io.request := head
  used := (used & ~Mux(pops, head, 0.U)) | Mux(pushes, UIntToOH(io.push.bits.request, p.requests), 0.U)

  // The number of operations of the watched MSHR, and the number ahead of the followed one.
  private val length = RegInit(0.U((p.requestBits + 1).W))
  private val ahead = Reg(UInt((p.requestBits + 1).W))
  private val present = RegInit(false.B)
  private val followed = Reg(new MshrOp(p))
  private val enters = pushes && io.push.bits.mshr === watched
  private val leaves = pops && io.from === watched
  length := length + enters - leaves
  when(enters && io.follow && !present) {
    present := true.B
    followed := io.push.bits
    ahead := length - leaves
  }.elsewhen(leaves && present) {
    ahead := ahead - 1.U
    when(ahead === 0.U) { present := false.B }
  }
  io.wrongWaiting := judged && lists.io.waiting(watched) =/= length.orR
  private val another = lists.io.head =/= followed.request || lists.io.op.asUInt =/= followed.op.asUInt
  io.wrongHead := judged && leaves && present && Mux(ahead === 0.U, another, lists.io.head === followed.request)
}
