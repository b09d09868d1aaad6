// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.{BitSlicedCam, OneHot}
import chisel3._
import chisel3.util._

/** A request for the MSHR of a set. */
class LockRequest(p: FlatParams) extends Bundle {
  val request = UInt(p.requestBits.W)
  val place = UInt(p.placeBits.W)

  /** The request does not read the line from near, so its MSHR cannot be shared. */
  val blind = Bool()
}

/** The MSHR that a request gets. */
class LockGrant(p: FlatParams) extends Bundle {
  val lock = UInt(p.lockBits.W)

  /** An earlier request holds the set; this request shares its MSHR. */
  val shared = Bool()

  /** Only reads have come of the MSHR so far, so near's copy of the line is valid. */
  val pristine = Bool()
}

/** Allocates MSHRs, one per set in flight. Requests to the same set share an MSHR, which keeps their order.
  *
  * An MSHR is held until `idle` says that its set has no work left and the youngest of its requests is decided. MSHRs
  * are named by one-hot masks except where a field is a number.
  *
  * `grant` is combinational. A warm reset keeps the MSHRs in `kept`, because they have lines to write.
  */
class MshrAllocator(p: FlatParams) extends Module {
  private val slots = p.locks
  val io = IO(new Bundle {
    val powerOn = Input(Bool())
    val ask = Flipped(Decoupled(new LockRequest(p)))
    val grant = Output(new LockGrant(p))

    /** This request is decided. */
    val decided = Flipped(Valid(new Bundle {
      val lock = UInt(p.locks.W)
      val request = UInt(p.requestBits.W)
    }))

    /** These MSHRs got an operation, so they are no longer reads only. */
    val touched = Input(UInt(slots.W))
    val pristine = Output(UInt(slots.W))

    /** These MSHRs have no work left. */
    val idle = Input(UInt(slots.W))
    val kept = Input(UInt(slots.W))

    /** Set of the MSHR `of`, and set of the MSHR `decidedOf`, which was decided in the last cycle. */
    val of = Input(UInt(slots.W))
    val place = Output(UInt(p.placeBits.W))
    val decidedOf = Input(UInt(slots.W))
    val decidedPlace = Output(UInt(p.lineBits.W))

    /** Some MSHR is in use. */
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
  // An MSHR that a request joins in this cycle stays allocated.
  used := (used & ~(io.idle & ~undecided & ~takes)) | taken
  when(reset.asBool) { used := used & io.kept }

  io.place := places(io.of)
  io.decidedPlace := places(io.decidedOf)
  io.any := used.orR
  assert(!io.ask.valid || PopCount(held) <= 1.U, "two locks of one set")
}
