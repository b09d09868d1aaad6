// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import anemone.formal.JudgedRun
import chisel3._
import chisel3.util._

/** The properties of the slots of [[SlotArbiter]], for any events, reads, rules, holds and acknowledges.
  *
  * An acknowledge begins in any cycle after an available one and has any number of slots up to the bound. `waiting`
  * counts the events without a slot. The checker may mark one event; the events ahead of it tell in which slot it must
  * come, and it must have the same address.
  */
class SlotOrder(p: NemoParams) extends Module {
  private val maxAcknowledgeSlots = p.lineWords
  private val arbiter = Module(new SlotArbiter(p, maxAcknowledgeSlots, protect = false))
  val io = IO(new Bundle {
    val event = Flipped(Valid(new MemoryEvent(p)))
    val read = Flipped(Valid(new LineRead(p)))
    val serialRmw = Input(Vec(p.pipelines, Bool()))
    val hold = Input(Bool())
    val acknowledge = Input(new AcknowledgeSlot(p))
    val acknowledgeTarget = Input(new LineAddress(p))
    val mark = Input(Bool())

    /** A property is violated. */
    val wrong = Output(Bool())
  })
  io.wrong := false.B
  private val judged = JudgedRun()

  /** A property under the conditions around it. The comment beside it names the violation. */
  private def must(holds: Bool): Unit = when(judged && !holds) { io.wrong := true.B }

  arbiter.io.event := io.event
  arbiter.io.read.valid := io.read.valid
  arbiter.io.read.bits := io.read.bits
  private val reads = arbiter.io.read.fire
  arbiter.io.serialRmw := io.serialRmw
  arbiter.io.hold := io.hold
  arbiter.io.inject := 0.U.asTypeOf(arbiter.io.inject)
  private val slot = arbiter.io.slot

  private val slotsUsed = RegInit(0.U(8.W))
  private val mayStart = RegNext(arbiter.io.available, false.B)
  private val acknowledge = io.acknowledge.busy && Mux(slotsUsed === 0.U, mayStart, slotsUsed < maxAcknowledgeSlots.U)
  slotsUsed := Mux(acknowledge, slotsUsed + 1.U, 0.U)
  arbiter.io.acknowledge := io.acknowledge
  arbiter.io.acknowledge.busy := acknowledge
  arbiter.io.acknowledgeTarget := io.acknowledgeTarget
  private val acknowledging = RegNext(acknowledge, false.B)
  private val request = RegNext(io.acknowledge)
  must(slot.acknowledge === acknowledging) // a slot is marked wrongly
  must(arbiter.io.reserved || !acknowledge) // a rule may change amid an acknowledge

  private val waiting = RegInit(0.U(8.W))
  waiting := waiting + io.event.valid - slot.event
  must(!slot.event || waiting =/= 0.U) // an event came twice, or from nowhere
  must(slot.event || slot.read || acknowledging || waiting === 0.U) // an event waited without a reason
  must(waiting <= (maxAcknowledgeSlots + 1).U) // an event waited longer than an acknowledge takes

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

  // A read is accepted when all before it have their slots. It has the next slot; a serial RMW also those after it.
  private val accepted = RegNext(reads, false.B)
  private val target = RegEnable(io.read.bits, reads)
  private val word = RegInit(0.U(p.wordIndexBits.W))
  private val inSerialRmw = RegInit(false.B)
  when(reads) {
    must(!io.event.valid && waiting === slot.event) // a read overtook an event
    must(!io.hold && (!inSerialRmw || word === (p.lineWords - 1).U)) // a read started during a hold or a serial RMW
    inSerialRmw := io.read.bits.effect && NemoParams.pick(io.serialRmw, io.read.bits.pipeline)
    word := 0.U
  }.elsewhen(inSerialRmw) {
    word := word + 1.U
    inSerialRmw := word =/= (p.lineWords - 1).U
  }
  must(!(slot.event && slot.read)) // two in one slot
  when(acknowledging) {
    must(!slot.event && !accepted && !inSerialRmw) // an acknowledge shares its slots
    must(slot.read === request.read && slot.serialRmw === request.serialRmw) // an acknowledge has another kind of slot
    must(slot.word === request.word && slot.op === request.op) // another word or op
    must(slot.target.effect === request.effect) // another effect
    must(slot.target.line === RegNext(io.acknowledgeTarget.line)) // another line
  }.otherwise { must(slot.read === (accepted || inSerialRmw)) }
  when(slot.read && !acknowledging) {
    must(slot.target.asUInt === target.asUInt && slot.serialRmw === inSerialRmw) // another read has its slot
    must(!slot.serialRmw || slot.word === word) // a serial RMW missed a word
  }
}
