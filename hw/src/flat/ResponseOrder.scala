// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.{BitSlicedCam, OneHot}
import chisel3._
import chisel3.util._

/** The order of one kind of responses, reads or writes: a request that follows another of its id leaves after that one.
  * Those whose turn it is and that are done form a batch, of which the lowest is chosen per cycle; the next batch is
  * formed when the last one is chosen, so none starves. If the batch is empty, the follower of the request that leaves is
  * next, so the responses of a single id leave one per cycle too.
  *
  * Latency: from `done`, or from the leaving of the request before, two cycles to `next`, three if that one passed; one
  * for a follower that is done, if no other request waits.
  *
  * @param passing a request may also leave when its answer arrives, past `next`, if its turn has come and `next` is
  *                empty
  */
class ResponseOrder(entries: Int, passing: Boolean) extends Module {
  private val bits = log2Ceil(entries)
  val io = IO(new Bundle {

    /** The request follows `predecessor`, if that one leaves neither in this cycle nor in the one before. Before the
      * request is done.
      */
    val link = Flipped(Valid(new Bundle {
      val request = UInt(entries.W)
      val predecessor = UInt(bits.W)
    }))

    /** Requests that are now done, and do not leave at once. */
    val done = Input(UInt(entries.W))

    /** Requests that must not be chosen yet, although they are done. */
    val withheld = Input(UInt(entries.W))

    /** A mask of one request, so that users look up its bits without decoding a number; no bit if there is none. */
    val next = Decoupled(UInt(entries.W))

    /** Number of the request at `next`. */
    val number = Option.when(passing)(Output(UInt(bits.W)))

    /** The request whose answer arrives, whether its turn has come, and that it leaves now. */
    val arrival = Option.when(passing)(new Bundle {
      val request = Input(UInt(bits.W))
      val inTurn = Output(Bool())
      val leaves = Input(Bool())
    })

    /** The request that leaves in this cycle, or no bit. */
    val leaves = Output(UInt(entries.W))

    /** The follower of the request at `next`, or no bit. */
    val follower = Option.when(!passing)(Output(UInt(entries.W)))
  })
  private def mask: UInt = RegInit(0.U(entries.W))
  private val (waits, done, batch) = (mask, mask, mask)
  private val predecessors = new BitSlicedCam(entries, bits)
  private val valid = RegInit(false.B)

  // What is next was chosen, or is the follower of the one before; a register of each, so neither waits for the other.
  private val isFollower = Reg(Bool())
  private val chosenNumber, followingNumber = Reg(UInt(bits.W))
  private val number = Mux(isFollower, followingNumber, chosenNumber)
  private val nextMask = mask
  io.next.valid := valid
  io.next.bits := nextMask
  io.number.foreach(_ := number)
  io.leaves := OneHot.onlyIf(io.next.fire, nextMask)
  private val leaving = Wire(Valid(UInt(bits.W)))
  leaving.valid := io.next.fire
  leaving.bits := number
  private val behind = waits & predecessors.equal(number)
  io.follower.foreach(_ := behind)
  private val behindNext = OneHot.onlyIf(io.next.fire, behind)
  private val released = WireInit(behindNext)
  for (arrival <- io.arrival) {
    arrival.inTurn := !waits(arrival.request)
    when(!valid) {
      leaving.valid := arrival.leaves
      leaving.bits := arrival.request
      io.leaves := OneHot.onlyIf(arrival.leaves, UIntToOH(arrival.request, entries))
      released := OneHot.onlyIf(arrival.leaves, waits & predecessors.equal(arrival.request))
    }
    assert(!(arrival.leaves && valid), "a response passes one whose turn it is")
  }
  assert(valid || !nextMask.orR, "a response without a turn")

  private val advances = io.next.ready || !valid
  private val chosen = batch.orR
  private val follower = OneHot.onlyIf(valid, done & ~io.withheld & behind)
  private val above = OneHot.above(batch, entries)
  when(advances) {
    valid := chosen || follower.orR
    isFollower := !chosen
    chosenNumber := OneHot.lowest(batch, entries)
    followingNumber := OneHot.number(follower, entries)
    nextMask := Mux(chosen, batch & ~above, follower)
  }
  // The next batch; what is at `next` is done until a cycle later. That an arrival passes is known late, so its follower
  // joins a batch one cycle later than others.
  private val inTurn = ~waits | behindNext
  private val follows = OneHot.onlyIf(advances && !chosen, follower)
  private val ready = ((done & ~nextMask & ~batch & ~follows) | io.done) & inTurn & ~io.withheld
  when(!chosen || (advances && !OneHot.several(batch, entries))) { batch := ready }
    .elsewhen(advances) { batch := batch & above }

  private val left = RegNext(leaving, 0.U.asTypeOf(leaving))
  private def leavesFirst(one: Valid[UInt]): Bool =
    one.valid && one.bits === io.link.bits.predecessor
  done := (done & ~nextMask) | io.done
  waits := (waits & ~released) |
    OneHot.onlyIf(io.link.valid && !leavesFirst(leaving) && !leavesFirst(left), io.link.bits.request)
  predecessors.write(io.link.bits.request -> io.link.bits.predecessor)
}
