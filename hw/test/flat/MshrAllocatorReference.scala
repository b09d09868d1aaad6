// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.formal.JudgedRun
import chisel3._
import chisel3.util._

/** What the locks are told beside the requests, and what may not be. */
class MshrAllocatorPins(p: FlatParams) extends Bundle {
  val decided = Flipped(Valid(new MshrOp(p)))
  val idle = Input(UInt(p.locks.W))
  val watched = Input(Vec(2, UInt(p.lockBits.W)))

  /** A lock was given away that a request waits for. */
  val wrongLost = Output(Bool())

  /** A lock is shared by two sets. */
  val wrongShared = Output(Bool())

  /** A set has two locks. */
  val wrongTwice = Output(Bool())
}

/** [[MshrAllocator]] with any requests, decisions and idle sets, and a plain record of two locks, any two. */
class MshrAllocatorReference(p: FlatParams) extends Module {
  private val locks = Module(new MshrAllocator(p))
  val ask = IO(Flipped(Decoupled(new LockRequest(p))))
  val io = IO(new MshrAllocatorPins(p))
  private val judged = JudgedRun()
  private val watched = RegEnable(io.watched, reset.asBool)
  locks.io.powerOn := reset.asBool
  locks.io.kept := 0.U
  locks.io.touched := 0.U
  locks.io.of := 0.U
  locks.io.decidedOf := 0.U
  locks.io.ask <> ask
  locks.io.idle := io.idle
  locks.io.decided.valid := io.decided.valid
  locks.io.decided.bits.lock := UIntToOH(io.decided.bits.lock, p.locks)
  locks.io.decided.bits.request := io.decided.bits.request

  // Which set each of the two has, while a request waits for its decision.
  private val place = Reg(Vec(2, UInt(p.placeBits.W)))
  private val waits = RegInit(VecInit(false.B, false.B))
  private val last = Reg(Vec(2, UInt(p.requestBits.W)))
  private val (lost, shared) = Seq.tabulate(2) { w =>
    val granted = ask.fire && locks.io.grant.lock === watched(w)
    val ends = io.decided.valid && io.decided.bits.lock === watched(w) && io.decided.bits.request === last(w)
    val same = ask.bits.place === place(w)
    when(ends) { waits(w) := false.B }
    when(granted) {
      place(w) := ask.bits.place
      waits(w) := true.B
      last(w) := ask.bits.request
    }
    (granted && waits(w) && !(locks.io.grant.shared && same), granted && waits(w) && locks.io.grant.shared && !same)
  }.unzip
  private val anew =
    ask.fire && waits(0) && ask.bits.place === place(0) &&
      !(locks.io.grant.shared && locks.io.grant.lock === watched(0))
  io.wrongLost := judged && lost.reduce(_ || _)
  io.wrongShared := judged && shared.reduce(_ || _)
  io.wrongTwice := judged && (anew || (watched(0) =/= watched(1) && waits.asUInt.andR && place(0) === place(1)))
}

/** The same as a model checker takes it: nothing else goes out. */
class MshrAllocatorProof(p: FlatParams) extends Module {
  private val reference = Module(new MshrAllocatorReference(p))
  val ask = IO(Flipped(Valid(new LockRequest(p))))
  val io = IO(new MshrAllocatorPins(p))
  reference.ask.valid := ask.valid
  reference.ask.bits := ask.bits
  io <> reference.io
}
