// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.formal.JudgedRun
import chisel3._
import chisel3.util._

/** Inputs of the allocator other than requests, and the errors to detect. */
class MshrAllocatorPins(p: FlatParams) extends Bundle {
  val decided = Flipped(Valid(new MshrOp(p)))
  val idle = Input(UInt(p.mshrs.W))
  val watched = Input(Vec(2, UInt(p.mshrBits.W)))

  /** An MSHR was given to another request while a request waits for it. */
  val wrongLost = Output(Bool())

  /** Two sets share an MSHR. */
  val wrongShared = Output(Bool())

  /** A set has two MSHRs. */
  val wrongTwice = Output(Bool())
}

/** [[MshrAllocator]] with any requests, decisions and idle MSHRs, and a plain record of two MSHRs, any two. */
class MshrAllocatorReference(p: FlatParams) extends Module {
  private val allocator = Module(new MshrAllocator(p))
  val request = IO(Flipped(Decoupled(new MshrRequest(p))))
  val io = IO(new MshrAllocatorPins(p))
  private val judged = JudgedRun()
  private val watched = RegEnable(io.watched, reset.asBool)
  allocator.io.powerOn := reset.asBool
  allocator.io.kept := 0.U
  allocator.io.opAdded := 0.U
  allocator.io.select := 0.U
  allocator.io.decidedSelect := 0.U
  private val stage = Module(new CompareStage(new MshrRequest(p)))
  stage.io.in <> request
  stage.io.passes := allocator.io.noneUsed
  allocator.io.next.valid := stage.io.compares
  allocator.io.next.bits := request.bits.nearIndex
  private val allocate = stage.io.out
  allocator.io.allocate <> allocate
  allocator.io.idle := io.idle
  allocator.io.decided.valid := io.decided.valid
  allocator.io.decided.bits.mshr := UIntToOH(io.decided.bits.mshr, p.mshrs)
  allocator.io.decided.bits.request := io.decided.bits.request

  // The set of each of the two, while a request waits for its decision.
  private val nearIndex = Reg(Vec(2, UInt(p.nearIndexBits.W)))
  private val waits = RegInit(VecInit(false.B, false.B))
  private val last = Reg(Vec(2, UInt(p.requestBits.W)))
  private val (lost, shared) = Seq.tabulate(2) { w =>
    val granted = allocate.fire && allocator.io.grant.mshr === watched(w)
    val ends = io.decided.valid && io.decided.bits.mshr === watched(w) && io.decided.bits.request === last(w)
    val same = allocate.bits.nearIndex === nearIndex(w)
    when(ends) { waits(w) := false.B }
    when(granted) {
      nearIndex(w) := allocate.bits.nearIndex
      waits(w) := true.B
      last(w) := allocate.bits.request
    }
    (
      granted && waits(w) && !(allocator.io.grant.shared && same),
      granted && waits(w) && allocator.io.grant.shared && !same
    )
  }.unzip
  private val allocatedTwice =
    allocate.fire && waits(0) && allocate.bits.nearIndex === nearIndex(0) &&
      !(allocator.io.grant.shared && allocator.io.grant.mshr === watched(0))
  io.wrongLost := judged && lost.reduce(_ || _)
  io.wrongShared := judged && shared.reduce(_ || _)
  io.wrongTwice := judged && (allocatedTwice || (watched(0) =/= watched(1) && waits.asUInt.andR && nearIndex(
    0
  ) === nearIndex(1)))
}

/** The same for a model checker: every output is a property. */
class MshrAllocatorProof(p: FlatParams) extends Module {
  private val reference = Module(new MshrAllocatorReference(p))
  val request = IO(Flipped(Valid(new MshrRequest(p))))
  val io = IO(new MshrAllocatorPins(p))
  reference.request.valid := request.valid
  reference.request.bits := request.bits
  io <> reference.io
}
