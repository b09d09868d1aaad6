// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.{Axi4, MemoryFault, OneHot, ProtectedQueue}
import chisel3._
import chisel3.util._

/** Carries out the pending work of the MSHRs. A six-cycle pipeline picks one MSHR per cycle, and [[SwapStep]] decides
  * what is done for it. An MSHR is in the pipeline at most once, so only responses of memory change its state between
  * its steps. A batch, which is all MSHRs with work, is picked before the next one.
  *
  * Three kinds of steps: the first operation of an MSHR, the write of its near line, and the write of its far line. An
  * MSHR with an operation and a line to write takes turns. A blocked operation is retried when memory responds for its
  * MSHR.
  *
  * Cycles: 0 pick; 1 choose the kind, and read the MSHR's state; 2 decide by its operation, and read the buffers; 3
  * compute the far line and the sideband code; 4 the buffers correct what they return; 5 commit.
  */
class SwapSequencer(p: FlatParams) extends Module {
  import SwapSequencer._
  private val mshrs = p.mshrs
  val io = IO(new Bundle {
    val config = Input(new FlatConfig(p))

    /** MSHRs with operations; request of the first operation of the MSHR `select`; operation of the request `request`.
      */
    val waiting = Input(UInt(mshrs.W))
    val select = Output(UInt(mshrs.W))
    val head = Input(UInt(p.requestBits.W))
    val request = Output(UInt(p.requests.W))
    val op = Input(new SwapOp(p))
    val opDone = Valid(new Bundle {
      val mshr = UInt(mshrs.W)
      val request = UInt(p.requests.W)
    })

    /** Of the MSHR `select`. */
    val state = Input(new MshrState(p))
    val nearRow = Input(Bool())
    val sideband = Input(new Sideband(p))
    val nearIndex = Input(UInt(p.nearIndexBits.W))

    val nearWritable = Input(UInt(mshrs.W))
    val farWritable = Input(UInt(mshrs.W))
    val refused = Input(UInt(mshrs.W))

    /** Memory responded for these MSHRs. */
    val wakeup = Input(UInt(mshrs.W))

    /** MSHRs in the pipeline. */
    val busy = Output(UInt(mshrs.W))
    val commit = Valid(new MshrCommit(p))

    // Buffered lines and write data, both with a latency of three cycles.
    val row = Valid(UInt((p.mshrBits + 1).W))
    val rowStored = Input(new StoredLine(p))
    val write = Valid(UInt(p.requestBits.W))
    val writeStored = Input(new StoredLine(p))
    val bufferWrite = Valid(new BufferedLine(p))

    val answer = Valid(new ReadAnswer(p))

    /** Requests that were answered before their operations are done. */
    val held = Output(UInt(p.requests.W))
    val writes = Output(new WritesDone(p))

    /** The request's data are pending in a buffered line. */
    val merged = Valid(new Bundle {
      val request = UInt(p.requests.W)
      val mshr = UInt(p.mshrBits.W)
      val onFarLine = Bool()
    })
    val farRead = Valid(new LineRead(p))
    val nearWrite = Decoupled(new LineWrite(p, p.sidebandBits))
    val farWrite = Decoupled(new LineWrite(p, 0))

    /** Accesses of near and far that were saved. */
    val forwarded = Output(UInt(2.W))

    /** Set of the step in the cycle of `rowStored` and `writeStored`. */
    val commitNearIndex = Output(UInt(p.nearIndexBits.W))

    /** Faults in lines queued to near or far. An uncorrectable line is poisoned. */
    val fault = Output(new MemoryFault)
    val inject = Flipped(Valid(Bool()))
  })

  // Cycle 0: pick the lowest MSHR of a batch. The next batch has all that have work when the last one is picked.
  private val busy, blocked, wakeup, batch = RegInit(0.U(mshrs.W))
  private val (nearOut, nearCredits, nearFault) = outgoing(io.nearWrite)
  private val (farOut, farCredits, farFault) = outgoing(io.farWrite)
  io.fault.uncorrected := nearFault.uncorrected || farFault.uncorrected
  io.fault.corrected := !io.fault.uncorrected && (nearFault.corrected || farFault.corrected)
  private val operations = (io.waiting & ~blocked) | io.refused
  private val ready = operations | OneHot.onlyIf(nearCredits.io.available, io.nearWritable) |
    OneHot.onlyIf(farCredits.io.available, io.farWritable)
  private val behind = OneHot.above(batch, mshrs)
  private val (picks, picked) = (batch.orR, batch & ~behind)
  // Without a second MSHR in the batch, `picked` is the batch.
  batch := Mux(OneHot.several(batch, mshrs), batch & behind, ready & ~busy & ~batch)

  // Cycle 1: choose the kind of step, and read the MSHR.
  private val picked1 = RegNext(picks, false.B)
  private val mshr1 = RegEnable(picked, 0.U(mshrs.W), picks)
  io.select := mshr1
  private def has(work: UInt): Bool = (work & mshr1).orR
  // An operation that came only in this cycle cannot be read yet.
  private val hasOp1 = has(RegNext(io.waiting, 0.U))
  private val lineNext = RegInit(0.U(mshrs.W)) // MSHRs that had an operation last
  private val nearReady = has(io.nearWritable) && nearCredits.io.available
  private val farReady = has(io.farWritable) && farCredits.io.available
  private val operates = ((hasOp1 && !has(blocked)) || has(io.refused)) && !(has(lineNext) && (nearReady || farReady))
  private val kind1 = Cat(!operates && !nearReady, !operates && nearReady, operates)
  // Not if the credits were taken since it came into the batch.
  private val valid1 = picked1 && (operates || nearReady || farReady)
  nearCredits.io.take := valid1 && kind1(nearLine)
  farCredits.io.take := valid1 && kind1(farLine)
  when(valid1) { lineNext := Mux(operates, lineNext | mshr1, lineNext & ~mshr1) }

  // Cycle 2: decide by the operation.
  private val valid2 = RegNext(valid1, false.B)
  // Whether there is a step is known late, and many bits would wait for it.
  private def toStage2[T <: Data](x: T): T = RegEnable(x, picked1)
  private val (kind2, mshr2, head2, nearRow2, sideband2, nearIndex2, state2) =
    (
      toStage2(kind1),
      toStage2(mshr1),
      toStage2(io.head),
      toStage2(io.nearRow),
      toStage2(io.sideband),
      toStage2(io.nearIndex),
      toStage2(io.state)
    )
  private val hasOp2 = toStage2(hasOp1)
  private val number2 = OHToUInt(mshr2)
  io.request := UIntToOH(head2, p.requests)
  private val step = Module(new SwapStep(p))
  step.io.state := state2
  step.io.hasOp := hasOp2
  step.io.op := io.op
  private val change2 = Mux(kind2(operation), step.io.change, 0.U.asTypeOf(new MshrUpdate))
  private val onFarLine2 = Mux(kind2(operation), change2.onFarLine, kind2(farLine))
  private val row2 = Cat(number2, nearRow2 ^ onFarLine2)
  io.row.valid := valid2 && (!kind2(operation) || change2.answers || (change2.writes && change2.merges))
  io.row.bits := row2
  io.write.valid := valid2 && change2.writes
  io.write.bits := head2
  private val farTag2 = Mux(kind2(farLine), state2.farTag, io.op.tag)
  private val farSlot2 = state2.permutation.farSlot(farTag2)

  // Cycle 3: the buffers are read, and the set's line in far is computed.
  private val valid3 = RegNext(valid2, false.B)
  private def toStage3[T <: Data](x: T): T = RegEnable(x, valid2)
  private val multiples = AddressMap.multiples(io.config.nearLines, p).take(p.ratio).map(m => RegNext(m))
  private val nearIndex3 = toStage3(nearIndex2)
  private val farSlot3 = toStage3(farSlot2)
  private val farLine3 = Mux1H(multiples.zipWithIndex.map { case (m, slot) => (farSlot3 === slot.U) -> m }) + nearIndex3

  // Cycle 4: the buffers correct. Cycle 5: commit.
  private val valid4 = RegNext(valid3, false.B)
  private val valid5 = RegNext(valid4, false.B)
  private def toStage4[T <: Data](x: T): T = RegEnable(x, valid3)
  private def toStage5[T <: Data](x: T): T = RegEnable(toStage4(toStage3(x)), valid4)
  private val (writesNear, writesFar) = (toStage5(kind2(nearLine)), toStage5(kind2(farLine)))
  private val (mshr5, number5, row5) = (toStage5(mshr2), toStage5(number2), toStage5(row2))
  private val (change, state5, op5, request5) =
    (toStage5(change2), toStage5(state2), toStage5(io.op), toStage5(io.request))
  private val head5 = toStage5(head2)
  private val code = new SidebandCode(p)
  private val sidebandWord5 =
    RegEnable(toStage4(code.word(toStage3(sideband2), code.seal(nearIndex3(p.lineBits - 1, 0)))), valid4)
  private val nearIndex5 = RegEnable(toStage4(nearIndex3), valid4)
  private val farLine5 = RegEnable(toStage4(farLine3), valid4)
  io.commitNearIndex := nearIndex5
  private def atCommit(flag: Bool): Bool = valid5 && flag
  io.commit.valid := valid5
  io.commit.bits.mshr := mshr5
  io.commit.bits.nearWrite := writesNear
  io.commit.bits.farWrite := writesFar
  io.commit.bits.change := change
  io.commit.bits.state := state5
  io.commit.bits.op := op5
  io.forwarded := Mux(valid5, change.forwarded, 0.U)
  io.opDone.valid := atCommit(change.pops)
  io.opDone.bits.mshr := mshr5
  io.opDone.bits.request := request5

  private val (buffered, written) = (io.rowStored, io.writeStored)
  private val writtenBits = FillInterleaved(8, written.strobe)
  io.bufferWrite.valid := atCommit(change.writes)
  io.bufferWrite.bits.row := row5
  io.bufferWrite.bits.stored.data := (written.data & writtenBits) | (buffered.data & ~writtenBits)
  io.bufferWrite.bits.stored.strobe := written.strobe | buffered.strobe
  io.bufferWrite.bits.stored.poison := written.poison || (change.merges && buffered.poison)
  io.merged.valid := io.bufferWrite.valid
  io.merged.bits.request := request5
  io.merged.bits.mshr := number5
  io.merged.bits.onFarLine := change.onFarLine && !change.exchanges

  io.answer.valid := atCommit(change.answers || (change.refuses && !op5.write))
  io.answer.bits.request := head5
  io.answer.bits.data := buffered.data
  io.answer.bits.poison := buffered.poison
  io.answer.bits.resp := Mux(change.refuses, Axi4.Resp.SlvErr.U, Axi4.Resp.Okay.U)
  private val held = RegInit(0.U(p.requests.W))
  held := (held & ~OneHot.onlyIf(io.opDone.valid, request5)) |
    OneHot.onlyIf(atCommit(change.answers && change.blocks), request5)
  io.held := held
  io.writes.done := OneHot.onlyIf(atCommit(change.refuses && op5.write), request5)
  io.writes.failed := io.writes.done
  io.writes.outside := 0.U

  io.farRead.valid := atCommit(change.fetches)
  io.farRead.bits.id := number5
  io.farRead.bits.line := farLine5
  for ((out, writes, line) <- Seq((nearOut, writesNear, nearIndex5), (farOut, writesFar, farLine5))) {
    out.valid := atCommit(writes)
    out.bits.id := number5
    out.bits.line := line
    out.bits.stored := buffered
    out.bits.sideband := sidebandWord5
  }

  private val leaves = OneHot.onlyIf(valid5, mshr5)
  busy := ((busy & ~OneHot.onlyIf(picked1 && !valid1, mshr1)) | picked) & ~leaves
  io.busy := busy
  wakeup := (wakeup & ~picked) | io.wakeup
  blocked := (blocked & ~io.wakeup & ~leaves) | OneHot.onlyIf(atCommit(change.blocks), mshr5 & ~wakeup & ~io.wakeup)

  /** A write queue to memory. A step takes a credit when its kind is chosen, so its entry is free when it commits. */
  private def outgoing(port: DecoupledIO[LineWrite]): (ValidIO[LineWrite], CreditCounter, MemoryFault) = {
    val queue = Module(
      new ProtectedQueue(chiselTypeOf(port.bits), outgoingLines, flow = true, registers = 1, gates = p.clockGates)
    )
    queue.io.inject := io.inject
    val credits = Module(new CreditCounter(outgoingLines))
    val in = Wire(Valid(chiselTypeOf(port.bits)))
    queue.io.enq.valid := in.valid
    queue.io.enq.bits := in.bits
    assert(!in.valid || queue.io.enq.ready, "the queue of lines to memory is full")
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
  private val farLine = 2

  /** Most lines to near, or to far, in the pipeline and its output queue. */
  val outgoingLines: Int = 8
}
