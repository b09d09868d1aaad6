// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.{MemoryFault, ProtectedQueue}
import chisel3._
import chisel3.util._

/** A request that is mapped, and not yet looked up. */
class MappedRequest(p: FlatParams) extends Bundle {
  val request = UInt(p.requestBits.W)
  val mapped = new MappedLine(p)
  val write = Bool()

  /** Every byte of the line. */
  val full = Bool()
}

/** A request whose set is locked. */
class Lookup(p: FlatParams) extends Bundle {
  val request = UInt(p.requestBits.W)
  val lock = UInt(p.lockBits.W)
  val tag = UInt(p.tagBits.W)
  val write = Bool()
  val full = Bool()
  val dedicated = Bool()
  val outside = Bool()

  /** The set's, which its sideband has to have. */
  val seal = UInt(new SidebandCode(p).checkBits.W)

  /** Near's next answer is for this one. */
  val asks = Bool()

  /** The lock is its own. */
  val opens = Bool()
}

/** Locks a request's set and asks near for the line, unless more than reads is under way for the set: then what is
  * known of it, or will be, serves this request too. All lookups leave in the order of the requests.
  *
  * A write to a dedicated line is blind: it asks for nothing, and nothing else has the line until it is written.
  *
  * Latency: the near read is offered in the cycle of the request, and the lookup is there two cycles later. Near answers in
  * the order in which it is asked: all its reads have one id.
  */
class NearLookup(p: FlatParams) extends Module {
  val io = IO(new Bundle {
    val in = Flipped(Decoupled(new MappedRequest(p)))
    val ask = Decoupled(new LockRequest(p))
    val grant = Input(new LockGrant(p))
    val nearRead = Decoupled(new LineRead(p))
    val out = Decoupled(new Lookup(p))
    val fault = Output(new MemoryFault)
    val inject = Flipped(Valid(Bool()))
  })
  private val lookups = Module(new ProtectedQueue(new Lookup(p), p.requests))
  private val request = io.in.bits
  private val mapped = request.mapped
  private val blind = mapped.dedicated && request.write
  private val asks = !mapped.outside && (!io.grant.shared || io.grant.pristine) && !blind

  // Each of the three goes when the other two can.
  private val locked = mapped.outside || io.ask.ready
  private val asked = !asks || io.nearRead.ready
  io.ask.valid := io.in.valid && !mapped.outside && lookups.io.enq.ready && asked
  io.ask.bits.request := request.request
  io.ask.bits.place := mapped.place
  io.ask.bits.blind := blind
  io.nearRead.valid := io.in.valid && asks && lookups.io.enq.ready && locked
  io.nearRead.bits.id := 0.U
  io.nearRead.bits.line := mapped.place
  lookups.io.enq.valid := io.in.valid && locked && asked
  io.in.ready := lookups.io.enq.ready && locked && asked

  lookups.io.enq.bits.request := request.request
  lookups.io.enq.bits.lock := io.grant.lock
  lookups.io.enq.bits.tag := mapped.tag
  lookups.io.enq.bits.write := request.write
  lookups.io.enq.bits.full := request.full
  lookups.io.enq.bits.dedicated := mapped.dedicated
  lookups.io.enq.bits.outside := mapped.outside
  lookups.io.enq.bits.seal := new SidebandCode(p).seal(mapped.place(p.lineBits - 1, 0))
  lookups.io.enq.bits.asks := asks
  lookups.io.enq.bits.opens := !io.grant.shared && !mapped.outside
  io.out <> lookups.io.deq
  io.fault := lookups.io.fault
  lookups.io.inject := io.inject
}
