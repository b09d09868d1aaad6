// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.{BitSlicedCam, OneHot}
import chisel3._
import chisel3.util._

/** A request that wants its set. */
class LockRequest(p: FlatParams) extends Bundle {
  val request = UInt(p.requestBits.W)
  val place = UInt(p.placeBits.W)

  /** It never asks near for the line, so the lock can't be shared. */
  val blind = Bool()
}

/** What a request found. */
class LockGrant(p: FlatParams) extends Bundle {
  val lock = UInt(p.lockBits.W)

  /** An earlier request holds the set; this one shares its lock. */
  val shared = Bool()

  /** Nothing but reads has come of the lock so far: near has the line. */
  val pristine = Bool()
}

/** The sets that anything is under way for, each once: the requests of a set share a lock, and keep their order by it.
  *
  * A lock is held from its first request until `idle` says that nothing is left to do for its set and the youngest of
  * its requests has been decided. Locks are named by masks, a bit a lock, but where a number says so.
  *
  * `grant` is combinational. After a warm reset `kept` locks stay, for they have lines to write.
  */
class MshrAllocator(p: FlatParams) extends Module {
  private val slots = p.locks
  val io = IO(new Bundle {
    val powerOn = Input(Bool())
    val ask = Flipped(Decoupled(new LockRequest(p)))
    val grant = Output(new LockGrant(p))

    /** This request was decided. */
    val decided = Flipped(Valid(new Bundle {
      val lock = UInt(p.locks.W)
      val request = UInt(p.requestBits.W)
    }))

    /** More than a read has come of these. */
    val touched = Input(UInt(slots.W))
    val pristine = Output(UInt(slots.W))

    /** Nothing is under way for these. */
    val idle = Input(UInt(slots.W))
    val kept = Input(UInt(slots.W))

    /** The set of a lock; and of another one, which was decided in the last cycle. */
    val of = Input(UInt(slots.W))
    val place = Output(UInt(p.placeBits.W))
    val decidedOf = Input(UInt(slots.W))
    val decidedPlace = Output(UInt(p.lineBits.W))

    /** Anything is under way. */
    val any = Output(Bool())
  })
  private val used = withReset(io.powerOn) { RegInit(0.U(slots.W)) }
  private val undecided = RegInit(0.U(slots.W))
  private val blind = RegInit(0.U(slots.W))
  private val pristine = RegInit(0.U(slots.W))
  private val places = new BitSlicedCam(slots, p.placeBits)
  private val youngest = new BitSlicedCam(slots, p.requestBits)

  private val held = used & places.equal(io.ask.bits.place)
  private val free = OneHot.first(~used, slots)
  io.grant.shared := held.orR
  io.grant.pristine := (held & pristine).orR
  private val lock = Mux(io.grant.shared, held, free)
  io.grant.lock := OHToUInt(lock)
  io.ask.ready := Mux(io.grant.shared, !(held & blind).orR, !used.andR)

  private val takes = OneHot.onlyIf(io.ask.fire, lock)
  private val taken = OneHot.onlyIf(!io.grant.shared, takes)
  private val lastDecided =
    OneHot.onlyIf(io.decided.valid && youngest(io.decided.bits.lock) === io.decided.bits.request, io.decided.bits.lock)
  places.write(taken -> io.ask.bits.place)
  youngest.write(takes -> io.ask.bits.request)
  undecided := (undecided & ~lastDecided) | takes
  pristine := (pristine & ~io.touched) | taken
  io.pristine := pristine
  blind := (blind & ~taken) | OneHot.onlyIf(io.ask.bits.blind, taken)
  // One that is shared in this cycle stays.
  used := (used & ~(io.idle & ~undecided & ~takes)) | taken
  when(reset.asBool) { used := used & io.kept }

  io.place := places(io.of)
  io.decidedPlace := places(io.decidedOf)
  io.any := used.orR
  assert(!io.ask.valid || PopCount(held) <= 1.U, "two locks of one set")
}
