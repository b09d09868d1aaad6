// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import anemone.formal.JudgedRun
import chisel3._
import chisel3.util._

/** What the slots of [[SlotArbiter]] must be, for any events, reads, rules, holds and acknowledgements.
  *
  * An acknowledgement begins in any cycle behind a free one and has as many slots as it likes, up to its bound.
  * A counter follows how many events have been offered and have no slot yet. The checker may mark one event; the number
  * of events before it says in which slot it must come, with the address it had.
  */
class SlotOrder(p: NemoParams) extends Module {
  private val most = p.lineWords
  private val arbiter = Module(new SlotArbiter(p, most, code = false))
  val io = IO(new Bundle {
    val event = Flipped(Valid(new MemoryEvent(p)))
    val read = Flipped(Valid(new LineRead(p)))
    val walks = Input(Vec(p.pipelines, Bool()))
    val hold = Input(Bool())
    val take = Input(new TakeSlot(p))
    val takeTarget = Input(new LineRead(p))
    val mark = Input(Bool())

    /** One of what must be is not. */
    val wrong = Output(Bool())
  })
  io.wrong := false.B
  private val judged = JudgedRun()

  /** What must be, where the `when`s around it hold; beside it stands what is wrong otherwise. */
  private def must(holds: Bool): Unit = when(judged && !holds) { io.wrong := true.B }

  arbiter.io.event := io.event
  arbiter.io.read.valid := io.read.valid
  arbiter.io.read.bits := io.read.bits
  private val reads = arbiter.io.read.fire
  arbiter.io.walks := io.walks
  arbiter.io.hold := io.hold
  arbiter.io.inject := 0.U.asTypeOf(arbiter.io.inject)
  private val slot = arbiter.io.slot

  private val had = RegInit(0.U(8.W))
  private val may = RegNext(arbiter.io.free, false.B)
  private val take = io.take.busy && Mux(had === 0.U, may, had < most.U)
  had := Mux(take, had + 1.U, 0.U)
  arbiter.io.take := io.take
  arbiter.io.take.busy := take
  arbiter.io.takeTarget := io.takeTarget
  private val taken = RegNext(take, false.B)
  private val asked = RegNext(io.take)
  must(slot.take === taken) // a slot is not whose it is
  must(arbiter.io.walking || !take) // a rule may change amid an acknowledgement

  private val waiting = RegInit(0.U(8.W))
  waiting := waiting + io.event.valid - slot.event
  must(!slot.event || waiting =/= 0.U) // an event came twice, or from nowhere
  must(slot.event || slot.read || taken || waiting === 0.U) // an event waited for no one
  must(waiting <= (most + 1).U) // an event waited longer than for an acknowledgement

  private val marked = RegInit(false.B)
  private val address = Reg(UInt(p.addressBits.W))
  private val write = Reg(Bool())
  private val ahead = Reg(UInt(8.W))
  private val itsSlot = marked && slot.event && ahead === 0.U
  when(io.mark && io.event.valid && !marked) {
    marked := true.B
    address := io.event.bits.address
    write := io.event.bits.write
    ahead := waiting - slot.event
  }.elsewhen(itsSlot) { marked := false.B }
    .elsewhen(marked && slot.event) { ahead := ahead - 1.U }
  when(itsSlot) {
    must(slot.request.address === address && slot.request.write === write) // another event has its slot
  }

  // A read is accepted when everything before it has its slot, and has the next one; a walk has those after it too.
  private val accepted = RegNext(reads, false.B)
  private val target = RegEnable(io.read.bits, reads)
  private val word = RegInit(0.U(p.wordIndexBits.W))
  private val walking = RegInit(false.B)
  when(reads) {
    must(!io.event.valid && waiting === slot.event) // a read overtook an event
    must(!io.hold && (!walking || word === (p.lineWords - 1).U)) // a read started where none may
    walking := io.read.bits.effect && NemoParams.pick(io.walks, io.read.bits.pipeline)
    word := 0.U
  }.elsewhen(walking) {
    word := word + 1.U
    walking := word =/= (p.lineWords - 1).U
  }
  must(!(slot.event && slot.read)) // two in one slot
  when(taken) {
    must(!slot.event && !accepted && !walking) // an acknowledgement has not its slots alone
    must(slot.read === asked.read && slot.walk === asked.walk) // an acknowledgement has another slot
    must(slot.word === asked.word && slot.op === asked.op) // another word or op
    must(slot.target.effect === asked.effect) // another effect
    must(slot.target.line === RegNext(io.takeTarget.line)) // another line
  }.otherwise { must(slot.read === (accepted || walking)) }
  when(slot.read && !taken) {
    must(slot.target.asUInt === target.asUInt && slot.walk === walking) // another read has its slot
    must(!slot.walk || slot.word === word) // a walk missed a word
  }
}
