// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.{Axi4, BitSlicedCam, OneHot}
import chisel3._
import chisel3.util._

/** Decides hit or miss: compares a request's tag with near's, in request order, one request per cycle.
  *
  * So swap decisions are made in acceptance order. `plan` is the permutation after all decided swaps, so later requests
  * to a set know where its lines will be while a swap is still under way.
  *
  * A read hit to an MSHR with only reads is answered here and is done. Everything else becomes an operation of the
  * MSHR. Combinational, except for the state of each MSHR.
  *
  * If a set's sideband fails its check, the request fails, and so do all that share its MSHR. Near's responses come
  * with predecoded sidebands, so the check needs no cycle: it adds one level of logic beside the tag comparison.
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
  private val lookup = io.lookup.bits
  private val near = io.near.bits
  private val mshr = UIntToOH(lookup.mshr, mshrs)
  private val plan = new BitSlicedCam(mshrs, (new Permutation(p)).getWidth)
  private val countedTag = new BitSlicedCam(mshrs, p.tagBits)
  private val count = new BitSlicedCam(mshrs, p.countBits)
  private val lookupFailed = RegInit(0.U(mshrs.W))

  // The set's state comes from near, or from the decisions of earlier requests in the MSHR. Dedicated lines have no
  // stored state. Near's answer to a request that shares an MSHR may be stale.
  private val allocates = lookup.allocates
  private val current = lookup.readsNear && (allocates || (io.readsOnly & mshr).orR)
  private val usesStored = allocates && lookup.readsNear && !lookup.dedicated
  private val sideband = Module(new SidebandCheck(p))
  sideband.io.predecoded := near.sideband
  sideband.io.seal := lookup.seal
  sideband.io.poison := near.poison
  private val stored = Mux(usesStored, sideband.io.sideband.asUInt, 0.U).asTypeOf(new Sideband(p))
  private val permutation = Mux(allocates, stored.permutation.asUInt, plan(mshr)).asTypeOf(new Permutation(p))
  private val setCountedTag = Mux(allocates, stored.countedTag, countedTag(mshr))
  private val setCount = Mux(allocates, stored.count, count(mshr))
  private val swapDisabled = Mux(allocates, stored.swapDisabled, (io.swapDisabled & mshr).orR)
  private val nearFails = current && near.error
  private val sidebandValid = current && !near.error && !lookup.dedicated
  private val untrusted = sidebandValid && !sideband.io.trusted
  private val fails = lookup.outside || nearFails || untrusted || (!allocates && (lookupFailed & mshr).orR)

  private val hit = permutation.near === lookup.tag
  private val policy = Module(new SwapPolicy(p))
  policy.io.config := io.config
  policy.io.tag := lookup.tag
  policy.io.countedTag := setCountedTag
  policy.io.count := setCount
  private val swap = !hit && policy.io.swap && !swapDisabled
  private val storesCount = !hit && policy.io.storesCount

  // Answer the request here or leave it to the MSHR.
  private val answers = !lookup.write && (fails || (current && hit))
  private val buffersLine = allocates && lookup.readsNear && !near.error && !untrusted
  private val inputValid = io.lookup.valid && (!lookup.readsNear || io.near.valid)
  private val canAnswer = !answers || io.answer.ready
  private val canBuffer = !buffersLine || io.bufferWrite.ready
  private val decides = inputValid && canAnswer && canBuffer
  io.lookup.ready := decides
  assert(!io.near.valid || near.id === 0.U, "near's reads have one id")
  io.near.ready := decides && lookup.readsNear
  io.decided.valid := decides
  io.decided.bits := lookup
  policy.io.miss := decides && !fails && !hit

  io.answer.valid := inputValid && answers && canBuffer
  io.answer.bits.request := lookup.request
  io.answer.bits.data := near.data
  io.answer.bits.poison := near.poison && !fails
  io.answer.bits.resp := Mux(lookup.outside, Axi4.Resp.DecErr.U, Mux(fails, Axi4.Resp.SlvErr.U, Axi4.Resp.Okay.U))
  io.bufferWrite.valid := inputValid && buffersLine && canAnswer
  io.bufferWrite.bits.row := Cat(lookup.mshr, 0.U(1.W))
  io.bufferWrite.bits.stored.data := near.data
  io.bufferWrite.bits.stored.strobe := Fill(p.memory.strbBits, 1.U)
  io.bufferWrite.bits.stored.poison := near.poison

  private val request = UIntToOH(lookup.request, p.requests)
  io.writes.done := OneHot.onlyIf(decides && fails && lookup.write, request)
  io.writes.failed := OneHot.onlyIf(!lookup.outside, io.writes.done)
  io.writes.outside := OneHot.onlyIf(lookup.outside, io.writes.done)

  io.allocated.valid := decides && allocates && !fails
  io.allocated.bits.mshr := lookup.mshr
  io.allocated.bits.permutation := permutation
  io.allocated.bits.swapDisabled := swapDisabled
  io.allocated.bits.hasLine := lookup.readsNear
  io.op.valid := decides && !fails && !answers
  io.op.bits.mshr := lookup.mshr
  io.op.bits.request := lookup.request
  io.op.bits.op.tag := lookup.tag
  io.op.bits.op.write := lookup.write
  io.op.bits.op.full := lookup.full
  io.op.bits.op.swap := swap
  io.op.bits.op.storesCount := storesCount

  private val writesSet = OneHot.onlyIf(decides && !fails, mshr)
  plan.write(writesSet -> Mux(swap, permutation.exchanged(lookup.tag), permutation).asUInt)
  countedTag.write(writesSet -> Mux(storesCount, lookup.tag, setCountedTag))
  count.write(writesSet -> Mux(hit, setCount, policy.io.nextCount))
  lookupFailed := (lookupFailed & ~OneHot.onlyIf(decides && allocates, mshr)) | OneHot.onlyIf(
    decides && (nearFails || untrusted),
    mshr
  )
  io.nearError := decides && nearFails
  io.untrusted := decides && untrusted
  io.corrected := decides && sidebandValid && sideband.io.corrected
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
