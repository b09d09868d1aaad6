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
  * with unfolded sidebands, so the check needs no cycle: it adds one level of logic beside the tag comparison.
  */
class TagCheck(p: FlatParams) extends Module {
  private val slots = p.locks
  val io = IO(new Bundle {
    val config = Input(new FlatConfig(p))
    val lookup = Flipped(Decoupled(new Lookup(p)))
    val near = Flipped(Decoupled(new LineReadAnswer(p, p.sidebandBits)))

    /** MSHRs whose sets have swapping disabled. */
    val marked = Input(UInt(slots.W))

    /** MSHRs with only reads, so near's copy of the line is valid. */
    val pristine = Input(UInt(slots.W))
    val answer = Decoupled(new ReadAnswer(p))
    val writes = Output(new WritesDone(p))

    /** The near line, buffered for requests that share the MSHR. */
    val keep = Decoupled(new BufferedLine(p))
    val opened = Valid(new AllocatedMshr(p))
    val op = Valid(new MshrOp(p))

    /** This request is decided. */
    val decided = Valid(new Lookup(p))
    val outcome = Valid(new Outcome)

    /** Near returned an error; its sideband failed the check; its sideband was used after a correction. */
    val nearError = Output(Bool())
    val untrusted = Output(Bool())
    val corrected = Output(Bool())

    /** Count to store with the near line of the MSHR `of`. */
    val of = Input(UInt(slots.W))
    val counted = Output(UInt(p.tagBits.W))
    val count = Output(UInt(p.countBits.W))
  })
  private val lookup = io.lookup.bits
  private val near = io.near.bits
  private val lock = UIntToOH(lookup.lock, slots)
  private val plan = new BitSlicedCam(slots, (new Permutation(p)).getWidth)
  private val counted = new BitSlicedCam(slots, p.tagBits)
  private val count = new BitSlicedCam(slots, p.countBits)
  private val broken = RegInit(0.U(slots.W))

  // The set's state comes from near, or from the decisions of earlier requests in the MSHR. Dedicated lines have no
  // stored state. Near's answer to a request that shares an MSHR may be stale.
  private val starts = lookup.opens
  private val current = lookup.asks && (starts || (io.pristine & lock).orR)
  private val fresh = starts && lookup.asks && !lookup.dedicated
  private val sideband = Module(new SidebandCheck(p))
  sideband.io.unfolded := near.beside
  sideband.io.seal := lookup.seal
  sideband.io.poison := near.poison
  private val stored = Mux(fresh, sideband.io.sideband.asUInt, 0.U).asTypeOf(new Sideband(p))
  private val permutation = Mux(starts, stored.permutation.asUInt, plan(lock)).asTypeOf(new Permutation(p))
  private val setCounted = Mux(starts, stored.counted, counted(lock))
  private val setCount = Mux(starts, stored.count, count(lock))
  private val marked = Mux(starts, stored.marked, (io.marked & lock).orR)
  private val nearFails = current && near.error
  private val told = current && !near.error && !lookup.dedicated
  private val untrusted = told && !sideband.io.believed
  private val fails = lookup.outside || nearFails || untrusted || (!starts && (broken & lock).orR)

  private val hit = permutation.near === lookup.tag
  private val policy = Module(new SwapPolicy(p))
  policy.io.config := io.config
  policy.io.tag := lookup.tag
  policy.io.counted := setCounted
  policy.io.count := setCount
  private val swap = !hit && policy.io.swap && !marked
  private val counts = !hit && policy.io.stores

  // Answer the request here or leave it to the MSHR.
  private val answers = !lookup.write && (fails || (current && hit))
  private val keeps = starts && lookup.asks && !near.error && !untrusted
  private val there = io.lookup.valid && (!lookup.asks || io.near.valid)
  private val canAnswer = !answers || io.answer.ready
  private val canKeep = !keeps || io.keep.ready
  private val decides = there && canAnswer && canKeep
  io.lookup.ready := decides
  assert(!io.near.valid || near.id === 0.U, "near's reads have one id")
  io.near.ready := decides && lookup.asks
  io.decided.valid := decides
  io.decided.bits := lookup
  policy.io.miss := decides && !fails && !hit

  io.answer.valid := there && answers && canKeep
  io.answer.bits.request := lookup.request
  io.answer.bits.data := near.data
  io.answer.bits.poison := near.poison && !fails
  io.answer.bits.resp := Mux(lookup.outside, Axi4.Resp.DecErr.U, Mux(fails, Axi4.Resp.SlvErr.U, Axi4.Resp.Okay.U))
  io.keep.valid := there && keeps && canAnswer
  io.keep.bits.row := Cat(lookup.lock, 0.U(1.W))
  io.keep.bits.stored.data := near.data
  io.keep.bits.stored.strobe := Fill(p.memory.strbBits, 1.U)
  io.keep.bits.stored.poison := near.poison

  private val request = UIntToOH(lookup.request, p.requests)
  io.writes.done := OneHot.onlyIf(decides && fails && lookup.write, request)
  io.writes.failed := OneHot.onlyIf(!lookup.outside, io.writes.done)
  io.writes.outside := OneHot.onlyIf(lookup.outside, io.writes.done)

  io.opened.valid := decides && starts && !fails
  io.opened.bits.lock := lookup.lock
  io.opened.bits.permutation := permutation
  io.opened.bits.marked := marked
  io.opened.bits.hasLine := lookup.asks
  io.op.valid := decides && !fails && !answers
  io.op.bits.lock := lookup.lock
  io.op.bits.request := lookup.request
  io.op.bits.op.tag := lookup.tag
  io.op.bits.op.write := lookup.write
  io.op.bits.op.full := lookup.full
  io.op.bits.op.swap := swap
  io.op.bits.op.counts := counts

  private val writesSet = OneHot.onlyIf(decides && !fails, lock)
  plan.write(writesSet -> Mux(swap, permutation.exchanged(lookup.tag), permutation).asUInt)
  counted.write(writesSet -> Mux(counts, lookup.tag, setCounted))
  count.write(writesSet -> Mux(hit, setCount, policy.io.nextCount))
  broken := (broken & ~OneHot.onlyIf(decides && starts, lock)) | OneHot.onlyIf(
    decides && (nearFails || untrusted),
    lock
  )
  io.nearError := decides && nearFails
  io.untrusted := decides && untrusted
  io.corrected := decides && told && sideband.io.corrected
  io.counted := counted(io.of)
  io.count := count(io.of)

  // The traffic table of docs/flat.md.
  private val traffic = io.outcome.bits.traffic
  io.outcome.valid := decides && !fails
  io.outcome.bits.kind := Mux(
    lookup.dedicated,
    Outcome.dedicated.U,
    Mux(hit, Outcome.hit.U, Mux(swap, Outcome.swap.U, Outcome.miss.U))
  )
  io.outcome.bits.forwarded := !lookup.asks && traffic.nearRead
  traffic.nearRead := !lookup.dedicated || !lookup.write
  traffic.nearWrite := (hit && lookup.write) || swap || counts
  traffic.farRead := !hit && (!lookup.write || (swap && !lookup.full))
  traffic.farWrite := swap || (!hit && lookup.write)
}
