// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.OneHot
import chisel3._
import chisel3.util._

/** Outstanding requests to near or far, by id: any number of id 0, used by near's lookups and the initialiser, and one
  * of each other id, which is an MSHR number. So a response that matches no request is always recognised.
  *
  * The state survives a warm reset. Latency: one cycle from `asked` and `answered` to `owed`.
  *
  * @param most most outstanding requests of id 0
  */
class OutstandingRequests(p: FlatParams, most: Int) extends Module {
  val io = IO(new Bundle {
    val powerOn = Input(Bool())
    val asked = Flipped(Valid(UInt(p.memory.idBits.W)))

    /** Id of memory's response. `owed`: a request of this id is outstanding. `answered`: it gets its response in this
      * cycle.
      */
    val id = Input(UInt(p.memory.idBits.W))
    val owed = Output(Bool())
    val answered = Input(Bool())

    /** Treat nothing as outstanding any more. */
    val forget = Input(Bool())

    /** Another request of id 0 may be sent; some request is outstanding. */
    val room = Output(Bool())
    val any = Output(Bool())
  })
  private def kept(bits: Int): UInt = withReset(io.powerOn) { RegInit(0.U(bits.W)) }
  // The counter exceeds `most` by what the register slice admitted before it was counted.
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
