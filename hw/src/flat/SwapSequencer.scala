// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.{Axi4, MemoryFault, OneHot, ProtectedQueue}
import chisel3._
import chisel3.util._

/** Carries out the pending work of the MSHRs. A six-cycle pipeline picks one MSHR per cycle, and [[SwapStep]] decides
  * what is done for it. An MSHR is in the pipeline at most once, so only responses of memory change its state between
  * its steps.
  *
  * Three kinds of steps are picked round-robin: the first operation of an MSHR, the write of a near line, and the write
  * of a far line (victim). A blocked operation is retried when memory responds for its MSHR.
  *
  * Cycles: 0 pick; 1 read the MSHR's state; 2 decide by its operation, and read the buffers; 3 compute the far line and
  * the sideband code; 4 the buffers correct what they return; 5 commit.
  */
class SwapSequencer(p: FlatParams) extends Module {
  import SwapSequencer._
  private val slots = p.locks
  val io = IO(new Bundle {
    val config = Input(new FlatConfig(p))

    /** MSHRs with operations; request of the first operation of the MSHR `of`; operation of the request `request`. */
    val waiting = Input(UInt(slots.W))
    val of = Output(UInt(slots.W))
    val first = Input(UInt(p.requestBits.W))
    val request = Output(UInt(p.requests.W))
    val op = Input(new SwapOp(p))
    val opDone = Valid(new Bundle {
      val lock = UInt(slots.W)
      val request = UInt(p.requests.W)
    })

    /** Of the MSHR `of`. */
    val state = Input(new MshrState(p))
    val nearRow = Input(Bool())
    val sideband = Input(new Sideband(p))
    val place = Input(UInt(p.placeBits.W))

    val nearWritable = Input(UInt(slots.W))
    val farWritable = Input(UInt(slots.W))
    val refused = Input(UInt(slots.W))

    /** Memory responded for these MSHRs. */
    val stirred = Input(UInt(slots.W))

    /** MSHRs in the pipeline. */
    val busy = Output(UInt(slots.W))
    val commit = Valid(new MshrCommit(p))

    // Buffered lines and write data, both with a latency of three cycles.
    val row = Valid(UInt((p.lockBits + 1).W))
    val rowStored = Input(new StoredLine(p))
    val write = Valid(UInt(p.requestBits.W))
    val writeStored = Input(new StoredLine(p))
    val keep = Valid(new BufferedLine(p))

    val answer = Valid(new ReadAnswer(p))

    /** Requests that were answered before their operations are done. */
    val held = Output(UInt(p.requests.W))
    val writes = Output(new WritesDone(p))

    /** The request's data are pending in a buffered line. */
    val owed = Valid(new Bundle {
      val request = UInt(p.requests.W)
      val lock = UInt(p.lockBits.W)
      val onVictim = Bool()
    })
    val farRead = Valid(new LineRead(p))
    val nearWrite = Decoupled(new LineWrite(p, p.sidebandBits))
    val farWrite = Decoupled(new LineWrite(p, 0))

    /** Accesses of near and far that were saved. */
    val forwarded = Output(UInt(2.W))

    /** Set of the step in the cycle of `rowStored` and `writeStored`. */
    val placeDone = Output(UInt(p.placeBits.W))

    /** Faults in lines queued to near or far. An uncorrectable line is poisoned. */
    val fault = Output(new MemoryFault)
    val inject = Flipped(Valid(Bool()))
  })

  // Cycle 0: pick a kind round-robin, then an MSHR of that kind round-robin.
  private val busy, blocked, stirred, rotation = RegInit(0.U(slots.W))
  private val (nearOut, nearCredits, nearFault) = outgoing(io.nearWrite)
  private val (farOut, farCredits, farFault) = outgoing(io.farWrite)
  io.fault.uncorrected := nearFault.uncorrected || farFault.uncorrected
  io.fault.corrected := !io.fault.uncorrected && (nearFault.corrected || farFault.corrected)
  private val kinds = Seq(
    (io.waiting & ~blocked) | io.refused,
    OneHot.onlyIf(nearCredits.io.available, io.nearWritable),
    OneHot.onlyIf(farCredits.io.available, io.farWritable)
  ).map(_ & ~busy)
  private val turn = RegInit(1.U(kinds.length.W))
  private val kind = OneHot.firstFrom(VecInit(kinds.map(_.orR)).asUInt, ~(turn - 1.U), kinds.length)
  private val picks = kind.orR
  private val picked = OneHot.firstFrom(Mux1H(kind, kinds), rotation, slots)
  when(picks) {
    turn := Cat(kind(1, 0), kind(2))
    rotation := OneHot.above(picked, slots)
  }
  nearCredits.io.take := kind(nearLine)
  farCredits.io.take := kind(victim)

  // Cycle 1: read the MSHR.
  private val valid1 = RegNext(picks, false.B)
  private val kind1 = RegEnable(kind, picks)
  private val lock1 = RegEnable(picked, 0.U(slots.W), picks)
  io.of := lock1

  // Cycle 2: decide by the operation.
  private val valid2 = RegNext(valid1, false.B)
  private def second[T <: Data](x: T): T = RegEnable(x, valid1)
  private val (kind2, lock2, first2, nearRow2, sideband2, place2, state2) =
    (
      second(kind1),
      second(lock1),
      second(io.first),
      second(io.nearRow),
      second(io.sideband),
      second(io.place),
      second(io.state)
    )
  private val hasOp2 = second((io.waiting & lock1).orR)
  private val number2 = OHToUInt(lock2)
  io.request := UIntToOH(first2, p.requests)
  private val step = Module(new SwapStep(p))
  step.io.state := state2
  step.io.hasOp := hasOp2
  step.io.op := io.op
  private val change2 = Mux(kind2(operation), step.io.change, 0.U.asTypeOf(new MshrUpdate))
  private val onVictim2 = Mux(kind2(operation), change2.onVictim, kind2(victim))
  private val row2 = Cat(number2, nearRow2 ^ onVictim2)
  io.row.valid := valid2 && (!kind2(operation) || change2.answers || (change2.writes && change2.merges))
  io.row.bits := row2
  io.write.valid := valid2 && change2.writes
  io.write.bits := first2
  private val farTag2 = Mux(kind2(victim), state2.victim, io.op.tag)
  private val farSlot2 = state2.permutation.farSlot(farTag2)

  // Cycle 3: the buffers are read, and the set's line in far is computed.
  private val valid3 = RegNext(valid2, false.B)
  private def third[T <: Data](x: T): T = RegEnable(x, valid2)
  private val multiples = AddressMap.multiples(io.config.nearLines, p).take(p.ratio).map(m => RegNext(m))
  private val place3 = third(place2)
  private val farSlot3 = third(farSlot2)
  private val farLine3 = Mux1H(multiples.zipWithIndex.map { case (m, slot) => (farSlot3 === slot.U) -> m }) + place3

  // Cycle 4: the buffers correct. Cycle 5: commit.
  private val valid4 = RegNext(valid3, false.B)
  private val valid5 = RegNext(valid4, false.B)
  private def fourth[T <: Data](x: T): T = RegEnable(x, valid3)
  private def fifth[T <: Data](x: T): T = RegEnable(fourth(third(x)), valid4)
  private val (nearGoes, farGoes) = (fifth(kind2(nearLine)), fifth(kind2(victim)))
  private val (lock5, number5, row5) = (fifth(lock2), fifth(number2), fifth(row2))
  private val (change, state5, op5, request5) =
    (fifth(change2), fifth(state2), fifth(io.op), fifth(io.request))
  private val first5 = fifth(first2)
  private val code = new SidebandCode(p)
  private val beside5 = RegEnable(fourth(code.word(third(sideband2), code.seal(place3(p.lineBits - 1, 0)))), valid4)
  private val place5 = RegEnable(fourth(place3), valid4)
  private val farLine5 = RegEnable(fourth(farLine3), valid4)
  io.placeDone := place5
  private def does(flag: Bool): Bool = valid5 && flag
  io.commit.valid := valid5
  io.commit.bits.lock := lock5
  io.commit.bits.nearWrite := nearGoes
  io.commit.bits.farWrite := farGoes
  io.commit.bits.change := change
  io.commit.bits.state := state5
  io.commit.bits.op := op5
  io.forwarded := Mux(valid5, change.forwarded, 0.U)
  io.opDone.valid := does(change.pops)
  io.opDone.bits.lock := lock5
  io.opDone.bits.request := request5

  private val (kept, written) = (io.rowStored, io.writeStored)
  private val fresh = FillInterleaved(8, written.strobe)
  io.keep.valid := does(change.writes)
  io.keep.bits.row := row5
  io.keep.bits.stored.data := (written.data & fresh) | (kept.data & ~fresh)
  io.keep.bits.stored.strobe := written.strobe | kept.strobe
  io.keep.bits.stored.poison := written.poison || (change.merges && kept.poison)
  io.owed.valid := io.keep.valid
  io.owed.bits.request := request5
  io.owed.bits.lock := number5
  io.owed.bits.onVictim := change.onVictim && !change.exchanges

  io.answer.valid := does(change.answers || (change.refuses && !op5.write))
  io.answer.bits.request := first5
  io.answer.bits.data := kept.data
  io.answer.bits.poison := kept.poison
  io.answer.bits.resp := Mux(change.refuses, Axi4.Resp.SlvErr.U, Axi4.Resp.Okay.U)
  private val held = RegInit(0.U(p.requests.W))
  held := (held & ~OneHot.onlyIf(io.opDone.valid, request5)) |
    OneHot.onlyIf(does(change.answers && change.blocks), request5)
  io.held := held
  io.writes.done := OneHot.onlyIf(does(change.refuses && op5.write), request5)
  io.writes.failed := io.writes.done
  io.writes.outside := 0.U

  io.farRead.valid := does(change.fetches)
  io.farRead.bits.id := number5
  io.farRead.bits.line := farLine5
  for ((out, goes, line) <- Seq((nearOut, nearGoes, place5), (farOut, farGoes, farLine5))) {
    out.valid := does(goes)
    out.bits.id := number5
    out.bits.line := line
    out.bits.stored := kept
    out.bits.beside := beside5
  }

  private val enters = OneHot.onlyIf(picks, picked)
  private val leaves = OneHot.onlyIf(valid5, lock5)
  busy := (busy | enters) & ~leaves
  io.busy := busy
  stirred := (stirred & ~enters) | io.stirred
  blocked := (blocked & ~io.stirred & ~leaves) | OneHot.onlyIf(does(change.blocks), lock5 & ~stirred & ~io.stirred)

  /** A write queue to memory. A step takes a credit when it is picked, so its entry is free when the step commits. */
  private def outgoing(port: DecoupledIO[LineWrite]): (ValidIO[LineWrite], CreditCounter, MemoryFault) = {
    val queue = Module(new ProtectedQueue(chiselTypeOf(port.bits), outgoingLines, flow = true))
    queue.io.inject := io.inject
    val credits = Module(new CreditCounter(outgoingLines))
    val in = Wire(Valid(chiselTypeOf(port.bits)))
    queue.io.enq.valid := in.valid
    queue.io.enq.bits := in.bits
    assert(!in.valid || queue.io.enq.ready, "a line without room on its way to memory")
    port <> queue.io.deq
    when(queue.io.bad) {
      port.bits.stored.strobe := Fill(p.memory.strbBits, 1.U)
      port.bits.stored.poison := true.B
    }
    credits.io.release := queue.io.deq.fire
    (in, credits, queue.io.fault)
  }
}

object SwapSequencer {

  /** Kinds of steps. */
  private val operation = 0
  private val nearLine = 1
  private val victim = 2

  /** Most lines to near, or to far, in the pipeline and its output queue. */
  val outgoingLines: Int = 8
}
