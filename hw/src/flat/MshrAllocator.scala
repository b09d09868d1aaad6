// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.{BitSlicedCam, OneHot}
import chisel3._
import chisel3.util._

/** A request for the MSHR of a set. */
class MshrRequest(p: FlatParams) extends Bundle {
  val request = UInt(p.requestBits.W)
  val nearIndex = UInt(p.nearIndexBits.W)

  /** The request does not read the line from near, so its MSHR cannot be shared. */
  val skipLookup = Bool()
}

/** The MSHR that a request gets. */
class MshrGrant(p: FlatParams) extends Bundle {
  val mshr = UInt(p.mshrBits.W)

  /** An earlier request holds the set; this request shares its MSHR. */
  val shared = Bool()

  /** Only reads have come of the MSHR so far, so near's copy of the line is valid. */
  val readsOnly = Bool()
}

/** Allocates MSHRs, one per set in flight. Requests to the same set share an MSHR, which keeps their order.
  *
  * An MSHR is held until `idle` says that its set has no work left and the youngest of its requests is decided. MSHRs
  * are named by one-hot masks except where a field is a number.
  *
  * Cycles: 0 compare the set with those of all MSHRs; 1 grant. A request may skip the first if no MSHR is in use. `grant`
  * comes from registers. A warm reset keeps the MSHRs in `kept`, because they have lines to write.
  */
class MshrAllocator(p: FlatParams) extends Module {
  private val mshrs = p.mshrs
  val io = IO(new Bundle {
    val powerOn = Input(Bool())

    /** Set of the request that is at `allocate` from the next cycle on, until it is granted or goes without an MSHR. */
    val next = Flipped(Valid(UInt(p.nearIndexBits.W)))
    val allocate = Flipped(Decoupled(new MshrRequest(p)))
    val grant = Output(new MshrGrant(p))

    /** This request is decided. */
    val decided = Flipped(Valid(new Bundle {
      val mshr = UInt(p.mshrs.W)
      val request = UInt(p.requestBits.W)
    }))

    /** These MSHRs got an operation, so they are no longer reads only. */
    val opAdded = Input(UInt(mshrs.W))
    val readsOnly = Output(UInt(mshrs.W))

    /** These MSHRs have no work left. */
    val idle = Input(UInt(mshrs.W))
    val kept = Input(UInt(mshrs.W))

    /** Set of the MSHR `select`, and set of the MSHR `decidedSelect`, which was decided in the last cycle. */
    val select = Input(UInt(mshrs.W))
    val nearIndex = Output(UInt(p.nearIndexBits.W))
    val decidedSelect = Input(UInt(mshrs.W))
    val decidedSet = Output(UInt(p.lineBits.W))

    /** Some MSHR is in use; none is, a register that may come a cycle late. */
    val busy = Output(Bool())
    val noneUsed = Output(Bool())
  })
  private val used = withReset(io.powerOn) { RegInit(0.U(mshrs.W)) }
  private val undecided = RegInit(0.U(mshrs.W))
  private val skipLookup = RegInit(0.U(mshrs.W))
  private val readsOnly = RegInit(0.U(mshrs.W))
  private val nearIndices = new BitSlicedCam(mshrs, p.nearIndexBits)
  private val youngest = new BitSlicedCam(mshrs, p.requestBits)

  // The MSHR that the next set gets is chosen before its request comes.
  private val free = RegInit(0.U(mshrs.W))
  private val anyFree = RegInit(false.B)
  private val matching = RegInit(0.U(mshrs.W))
  io.grant.shared := matching.orR
  io.grant.readsOnly := (matching & readsOnly).orR
  private def number(mask: UInt): UInt = OneHot.number(mask, mshrs)
  io.grant.mshr := Mux(io.grant.shared, number(matching), number(free))
  private val canShare = !(matching & skipLookup).orR
  io.allocate.ready := Mux(io.grant.shared, canShare, anyFree)

  // An empty `free` allocates nothing, so its users need not wait for `ready`. `free` is written in every cycle, because
  // what an MSHR that is not in use holds is never read, and whether `free` is allocated is known late.
  private val needsOne = io.allocate.valid && !io.grant.shared
  private val allocates = OneHot.onlyIf(needsOne, free)
  private val shares = OneHot.onlyIf(io.allocate.valid && canShare, matching)
  when(needsOne || !anyFree) {
    val others = ~(used | free)
    free := OneHot.first(others, mshrs)
    anyFree := others.orR
  }
  private val lastDecided =
    OneHot.onlyIf(io.decided.valid, io.decided.bits.mshr & youngest.equal(io.decided.bits.request))
  nearIndices.write(free -> io.allocate.bits.nearIndex)
  youngest.write((free | shares) -> io.allocate.bits.request)
  undecided := (undecided & ~lastDecided) | allocates | shares
  readsOnly := (readsOnly & ~io.opAdded) | free
  io.readsOnly := readsOnly
  skipLookup := (skipLookup & ~free) | OneHot.onlyIf(io.allocate.bits.skipLookup, free)
  // An MSHR that a request shares in this cycle stays allocated.
  private val stays = used & ~(io.idle & ~undecided & ~shares)
  used := stays | allocates
  // The set may be the one of the request before it.
  private val follows = io.next.valid && io.next.bits === io.allocate.bits.nearIndex
  matching := (stays & Mux(io.next.valid, nearIndices.equal(io.next.bits), matching)) |
    OneHot.onlyIf(follows, allocates)
  when(reset.asBool) { used := used & io.kept }

  io.nearIndex := nearIndices(io.select)
  io.decidedSet := nearIndices(io.decidedSelect)
  io.busy := used.orR
  io.noneUsed := RegNext(!used.orR && !io.allocate.valid, false.B)
  assert(!io.allocate.valid || PopCount(matching) <= 1.U, "two MSHRs of one set")
  assert(!io.noneUsed || !used.orR, "an MSHR is in use, and a request may skip its comparison")
}
