// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.formal.JudgedRun
import chisel3._
import chisel3.util._

/** [[MshrOpLists]] and what becomes of one operation, any one, of one lock, any lock. */
class MshrOpListsReference(p: FlatParams) extends Module {
  private val lists = Module(new MshrOpLists(p))
  val io = IO(new Bundle {
    val put = Flipped(Valid(new MshrOp(p)))
    val take = Input(Bool())
    val from = Input(UInt(p.lockBits.W))
    val watched = Input(UInt(p.lockBits.W))

    /** The operation put now is the one to be followed, if none is. */
    val mark = Input(Bool())

    /** An operation is forgotten, or comes from nowhere. */
    val wrongWaiting = Output(Bool())

    /** Not the oldest operation, or another than was put. */
    val wrongFirst = Output(Bool())
  })
  private val judged = JudgedRun()
  private val watched = RegEnable(io.watched, reset.asBool)

  // A request has one operation at a time; only a first operation is taken.
  private val used = RegInit(0.U(p.requests.W))
  private val puts = io.put.valid && !used(io.put.bits.request)
  private val from = UIntToOH(io.from, p.locks)
  private val takes = io.take && lists.io.waiting(io.from)
  lists.io.put := io.put
  lists.io.put.valid := puts
  lists.io.of := from
  private val first = UIntToOH(lists.io.first, p.requests)
  lists.io.take.valid := takes
  lists.io.take.bits.lock := from
  lists.io.take.bits.request := first
  lists.io.request := first
  used := (used & ~Mux(takes, first, 0.U)) | Mux(puts, UIntToOH(io.put.bits.request, p.requests), 0.U)

  // Of the watched lock how many there are, and of one operation, any one, how many are to go before it.
  private val length = RegInit(0.U((p.requestBits + 1).W))
  private val ahead = Reg(UInt((p.requestBits + 1).W))
  private val present = RegInit(false.B)
  private val mine = Reg(new MshrOp(p))
  private val enters = puts && io.put.bits.lock === watched
  private val leaves = takes && io.from === watched
  length := length + enters - leaves
  when(enters && io.mark && !present) {
    present := true.B
    mine := io.put.bits
    ahead := length - leaves
  }.elsewhen(leaves && present) {
    ahead := ahead - 1.U
    when(ahead === 0.U) { present := false.B }
  }
  io.wrongWaiting := judged && lists.io.waiting(watched) =/= length.orR
  private val another = lists.io.first =/= mine.request || lists.io.op.asUInt =/= mine.op.asUInt
  io.wrongFirst := judged && leaves && present && Mux(ahead === 0.U, another, lists.io.first === mine.request)
}
