// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.OneHot
import chisel3._
import chisel3.util._

/** What was asked of near or far and is not answered, by id: any number of id 0, as near's lookups and the sweep are, and
  * one of each other id, a lock's. So an answer that nobody waits for is known, whatever else is under way.
  *
  * It is kept over a warm reset. Latency: one cycle from `asked` and `answered` to `owed`.
  *
  * @param most of id 0
  */
class OutstandingRequests(p: FlatParams, most: Int) extends Module {
  val io = IO(new Bundle {
    val powerOn = Input(Bool())
    val asked = Flipped(Valid(UInt(p.memory.idBits.W)))

    /** Memory's answer is of this id: it is owed one; and has it in this cycle. */
    val id = Input(UInt(p.memory.idBits.W))
    val owed = Output(Bool())
    val answered = Input(Bool())

    /** Nothing is owed any more. */
    val forget = Input(Bool())

    /** One more of id 0 may be asked for; something is under way. */
    val room = Output(Bool())
    val any = Output(Bool())
  })
  private def kept(bits: Int): UInt = withReset(io.powerOn) { RegInit(0.U(bits.W)) }
  // What a register slice holds was let in before it is counted.
  private val first = kept(log2Ceil(most + 4))
  private val others = kept(p.locks)
  private val owes = Cat(others(p.locks - 1, 1), first.orR)
  private def of(id: UInt): UInt = UIntToOH(id(p.lockBits - 1, 0), p.locks)
  private def isFirst(id: UInt): Bool = id === 0.U
  first := first + (io.asked.valid && isFirst(io.asked.bits)) - (io.answered && isFirst(io.id))
  others := (others & ~OneHot.onlyIf(io.answered, of(io.id))) | OneHot.onlyIf(io.asked.valid, of(io.asked.bits))
  io.owed := (io.id >> p.lockBits) === 0.U && (owes & of(io.id)).orR
  assert(!io.asked.valid || isFirst(io.asked.bits) || !(owes & of(io.asked.bits)).orR, "a lock asks twice")
  assert(!io.answered || io.owed, "an answer that is not owed")
  io.room := first < most.U
  io.any := owes.orR
  when(io.forget) {
    first := 0.U
    others := 0.U
  }
}
