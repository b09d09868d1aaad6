// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.{MemoryFault, ProtectedQueue}
import chisel3._
import chisel3.util._

/** A mapped request, before its lookup. */
class MappedRequest(p: FlatParams) extends Bundle {
  val request = UInt(p.requestBits.W)
  val mapped = new MappedLine(p)
  val write = Bool()

  /** It writes every byte of the line. */
  val full = Bool()
}

/** A request with its MSHR. */
class Lookup(p: FlatParams) extends Bundle {
  val request = UInt(p.requestBits.W)
  val mshr = UInt(p.mshrBits.W)
  val tag = UInt(p.tagBits.W)
  val write = Bool()
  val full = Bool()
  val dedicated = Bool()
  val outside = Bool()

  /** Seal of the set, which its sideband must match. */
  val seal = UInt(new SidebandCode(p).checkBits.W)

  /** Near's next response belongs to this request. */
  val readsNear = Bool()

  /** The request allocated the MSHR. */
  val allocates = Bool()
}

/** Gets the MSHR of a request's set and reads the line from near. The read is skipped if the MSHR has more than reads:
  * the MSHR's state then serves this request too. Lookups leave in request order.
  *
  * A write to a dedicated line skips the near read, and its MSHR is not shared until the line is written.
  *
  * Latency: the near read is issued in the cycle after the request's set was compared, or at once if no MSHR is in use
  * ([[CompareStage]]). The lookup appears four cycles after the near read, as near's response does at the
  * earliest if near takes two. Near responds in request order because all these reads have one id.
  */
class NearLookup(p: FlatParams) extends Module {
  val io = IO(new Bundle {
    val in = Flipped(Decoupled(new MappedRequest(p)))

    /** Set of the next request, even if that is outside and allocates nothing; no MSHR is in use. */
    val next = Valid(UInt(p.nearIndexBits.W))
    val noneUsed = Input(Bool())
    val allocate = Decoupled(new MshrRequest(p))
    val grant = Input(new MshrGrant(p))
    val nearRead = Decoupled(new LineRead(p))
    val out = Decoupled(new Lookup(p))
    val fault = Output(new MemoryFault)
    val inject = Flipped(Valid(Bool()))
  })
  private val lookups = Module(new ProtectedQueue(new Lookup(p), p.requests, registers = ProtectedQueue.ofBlockRam))
  private val stage = Module(new CompareStage(new MappedRequest(p)))
  stage.io.in <> io.in
  stage.io.passes := io.noneUsed
  io.next.valid := stage.io.compares
  io.next.bits := io.in.bits.mapped.nearIndex
  private val valid = stage.io.out.valid
  private val request = stage.io.out.bits
  private val mapped = request.mapped
  private val skipLookup = mapped.dedicated && request.write
  private val readsNear = !mapped.outside && (!io.grant.shared || io.grant.readsOnly) && !skipLookup

  // Each of the three outputs fires only when the other two can.
  private val canAllocate = mapped.outside || io.allocate.ready
  private val canRead = !readsNear || io.nearRead.ready
  io.allocate.valid := valid && !mapped.outside && lookups.io.enq.ready && canRead
  io.allocate.bits.request := request.request
  io.allocate.bits.nearIndex := mapped.nearIndex
  io.allocate.bits.skipLookup := skipLookup
  io.nearRead.valid := valid && readsNear && lookups.io.enq.ready && canAllocate
  io.nearRead.bits.id := 0.U
  io.nearRead.bits.line := mapped.nearIndex
  lookups.io.enq.valid := valid && canAllocate && canRead
  stage.io.out.ready := lookups.io.enq.ready && canAllocate && canRead

  lookups.io.enq.bits.request := request.request
  lookups.io.enq.bits.mshr := io.grant.mshr
  lookups.io.enq.bits.tag := mapped.tag
  lookups.io.enq.bits.write := request.write
  lookups.io.enq.bits.full := request.full
  lookups.io.enq.bits.dedicated := mapped.dedicated
  lookups.io.enq.bits.outside := mapped.outside
  lookups.io.enq.bits.seal := new SidebandCode(p).seal(mapped.nearIndex(p.lineBits - 1, 0))
  lookups.io.enq.bits.readsNear := readsNear
  lookups.io.enq.bits.allocates := !io.grant.shared && !mapped.outside
  io.out <> lookups.io.deq
  io.fault := lookups.io.fault
  lookups.io.inject := io.inject
}
