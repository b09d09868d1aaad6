// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.{Axi4, BitSlicedCam, OneHot}
import chisel3._
import chisel3.util._

/** A looked-up request with near's answer and the state of its set, as the requests before it left it. */
private class CheckedLookup(p: FlatParams) extends Bundle {
  val lookup = new Lookup(p)
  val mshr = UInt(p.mshrs.W)
  val set = new Sideband(p)

  /** Near's line, valid for this request if `current`. */
  val data = UInt(p.memory.dataBits.W)
  val poison = Bool()
  val current = Bool()

  /** The request fails: near refused it, its sideband failed the check, or another reason. */
  val fails = Bool()
  val nearError = Bool()
  val untrusted = Bool()
  val corrected = Bool()
}

/** Decides hit or miss: compares a request's tag with near's, in request order, one request per cycle.
  *
  * So swap decisions are made in acceptance order. `plan` is the permutation after all decided swaps, so later requests
  * to a set know where its lines will be while a swap is still under way.
  *
  * A read hit to an MSHR with only reads is answered here and is done. Everything else becomes an operation of the
  * MSHR.
  *
  * If a set's sideband fails its check, the request fails, and so do all that share its MSHR.
  *
  * Cycles: 0 check the sideband, and read the set's state; 1 decide. A request directly behind one to the same MSHR
  * takes the state that this one leaves. Latency: one cycle.
  */
class TagCheck(p: FlatParams) extends Module {
  private val mshrs = p.mshrs
  val io = IO(new Bundle {
    val config = Input(new FlatConfig(p))
    val lookup = Flipped(Decoupled(new Lookup(p)))
    val near = Flipped(Decoupled(new LineReadAnswer(p, p.sidebandBits)))

    /** MSHRs whose sets have swapping disabled. */
    val swapDisabled = Input(UInt(mshrs.W))

    /** MSHRs with only reads, so near's copy of the line is valid. */
    val readsOnly = Input(UInt(mshrs.W))
    val answer = Decoupled(new ReadAnswer(p))
    val writes = Output(new WritesDone(p))

    /** The near line, buffered for requests that share the MSHR. */
    val bufferWrite = Decoupled(new BufferedLine(p))
    val allocated = Valid(new AllocatedMshr(p))
    val op = Valid(new MshrOp(p))

    /** This request is decided. */
    val decided = Valid(new Lookup(p))
    val outcome = Valid(new Outcome)

    /** Near returned an error; its sideband failed the check; its sideband was used after a correction. */
    val nearError = Output(Bool())
    val untrusted = Output(Bool())
    val corrected = Output(Bool())

    /** Count to store with the near line of the MSHR `select`. */
    val select = Input(UInt(mshrs.W))
    val countedTag = Output(UInt(p.tagBits.W))
    val count = Output(UInt(p.countBits.W))
  })
  private val plan = new BitSlicedCam(mshrs, (new Permutation(p)).getWidth)
  private val countedTag = new BitSlicedCam(mshrs, p.tagBits)
  private val count = new BitSlicedCam(mshrs, p.countBits)
  private val lookupFailed = RegInit(0.U(mshrs.W))
  private val valid = RegInit(false.B)
  private val checked = Reg(new CheckedLookup(p))
  private val (decides, addsOp) = (Wire(Bool()), Wire(Bool()))
  private val left = Wire(new Sideband(p)) // the set after the decision

  // Cycle 0.
  private val looked = io.lookup.bits
  private val near = io.near.bits
  private val free = decides || !valid
  private val inputValid = io.lookup.valid && (!looked.readsNear || io.near.valid)
  private val enters = inputValid && free
  io.lookup.ready := enters
  assert(!io.near.valid || near.id === 0.U, "near's reads have one id")
  io.near.ready := enters && looked.readsNear

  // The set's state comes from near, or from the decisions of earlier requests in the MSHR. Dedicated lines have no
  // stored state. Near's answer to a request that shares an MSHR may be stale.
  private val mshr = UIntToOH(looked.mshr, mshrs)
  private val follows = valid && !checked.lookup.outside && checked.lookup.mshr === looked.mshr
  private val readsOnly = (io.readsOnly & mshr).orR && !(follows && addsOp)
  private val current = looked.readsNear && (looked.allocates || readsOnly)
  private val usesStored = looked.allocates && looked.readsNear && !looked.dedicated
  private val sideband = Module(new SidebandCheck(p))
  sideband.io.predecoded := near.sideband
  sideband.io.seal := looked.seal
  sideband.io.poison := near.poison
  private val kept = Wire(new Sideband(p))
  kept.permutation := plan(mshr).asTypeOf(new Permutation(p))
  kept.countedTag := countedTag(mshr)
  kept.count := count(mshr)
  when(follows) { kept := left }
  // MshrStates knows it from the cycle after the decision on.
  kept.swapDisabled := Mux(follows && checked.lookup.allocates, left.swapDisabled, (io.swapDisabled & mshr).orR)
  private val sidebandValid = current && !near.error && !looked.dedicated
  private val next = Wire(new CheckedLookup(p))
  next.lookup := looked
  next.mshr := mshr
  next.set := Mux(looked.allocates, Mux(usesStored, sideband.io.sideband.asUInt, 0.U), kept.asUInt)
    .asTypeOf(new Sideband(p))
  next.data := near.data
  next.poison := near.poison
  next.current := current
  next.nearError := current && near.error
  next.untrusted := sidebandValid && !sideband.io.trusted
  next.corrected := sidebandValid && sideband.io.corrected
  private val failed = Mux(follows, checked.fails, (lookupFailed & mshr).orR)
  next.fails := looked.outside || next.nearError || next.untrusted || (!looked.allocates && failed)
  valid := enters || (valid && !decides)
  when(enters) { checked := next }

  // Cycle 1.
  private val (lookup, set, fails) = (checked.lookup, checked.set, checked.fails)
  private val hit = set.permutation.near === lookup.tag
  private val policy = Module(new SwapPolicy(p))
  policy.io.config := io.config
  policy.io.tag := lookup.tag
  policy.io.countedTag := set.countedTag
  policy.io.count := set.count
  private val swap = !hit && policy.io.swap && !set.swapDisabled
  private val storesCount = !hit && policy.io.storesCount

  // Answer the request here or leave it to the MSHR.
  private val answers = !lookup.write && (fails || (checked.current && hit))
  private val buffersLine = lookup.allocates && lookup.readsNear && !checked.nearError && !checked.untrusted
  private val canAnswer = !answers || io.answer.ready
  private val canBuffer = !buffersLine || io.bufferWrite.ready
  decides := valid && canAnswer && canBuffer
  io.decided.valid := decides
  io.decided.bits := lookup
  policy.io.miss := decides && !fails && !hit

  io.answer.valid := valid && answers && canBuffer
  io.answer.bits.request := lookup.request
  io.answer.bits.data := checked.data
  io.answer.bits.poison := checked.poison && !fails
  io.answer.bits.resp := Mux(lookup.outside, Axi4.Resp.DecErr.U, Mux(fails, Axi4.Resp.SlvErr.U, Axi4.Resp.Okay.U))
  io.bufferWrite.valid := valid && buffersLine && canAnswer
  io.bufferWrite.bits.row := Cat(lookup.mshr, 0.U(1.W))
  io.bufferWrite.bits.stored.data := checked.data
  io.bufferWrite.bits.stored.strobe := Fill(p.memory.strbBits, 1.U)
  io.bufferWrite.bits.stored.poison := checked.poison

  private val request = UIntToOH(lookup.request, p.requests)
  io.writes.done := OneHot.onlyIf(decides && fails && lookup.write, request)
  io.writes.failed := OneHot.onlyIf(!lookup.outside, io.writes.done)
  io.writes.outside := OneHot.onlyIf(lookup.outside, io.writes.done)

  io.allocated.valid := decides && lookup.allocates && !fails
  io.allocated.bits.mshr := lookup.mshr
  io.allocated.bits.permutation := set.permutation
  io.allocated.bits.swapDisabled := set.swapDisabled
  io.allocated.bits.hasLine := lookup.readsNear
  addsOp := !fails && !answers
  io.op.valid := decides && addsOp
  io.op.bits.mshr := lookup.mshr
  io.op.bits.request := lookup.request
  io.op.bits.op.tag := lookup.tag
  io.op.bits.op.write := lookup.write
  io.op.bits.op.full := lookup.full
  io.op.bits.op.swap := swap
  io.op.bits.op.storesCount := storesCount

  left.permutation := Mux(swap, set.permutation.exchanged(lookup.tag), set.permutation)
  left.countedTag := Mux(storesCount, lookup.tag, set.countedTag)
  left.count := Mux(hit, set.count, policy.io.nextCount)
  left.swapDisabled := set.swapDisabled
  private val writesSet = OneHot.onlyIf(decides && !fails, checked.mshr)
  plan.write(writesSet -> left.permutation.asUInt)
  countedTag.write(writesSet -> left.countedTag)
  count.write(writesSet -> left.count)
  private val refused = checked.nearError || checked.untrusted
  lookupFailed := (lookupFailed & ~OneHot.onlyIf(decides && lookup.allocates, checked.mshr)) |
    OneHot.onlyIf(decides && refused, checked.mshr)
  io.nearError := decides && checked.nearError
  io.untrusted := decides && checked.untrusted
  io.corrected := decides && checked.corrected
  io.countedTag := countedTag(io.select)
  io.count := count(io.select)

  // The traffic table of docs/flat.md.
  private val traffic = io.outcome.bits.traffic
  io.outcome.valid := decides && !fails
  io.outcome.bits.kind := Mux(
    lookup.dedicated,
    Outcome.dedicated.U,
    Mux(hit, Outcome.hit.U, Mux(swap, Outcome.swap.U, Outcome.miss.U))
  )
  io.outcome.bits.forwarded := !lookup.readsNear && traffic.nearRead
  traffic.nearRead := !lookup.dedicated || !lookup.write
  traffic.nearWrite := (hit && lookup.write) || swap || storesCount
  traffic.farRead := !hit && (!lookup.write || (swap && !lookup.full))
  traffic.farWrite := swap || (!hit && lookup.write)
}
