// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.OneHot
import chisel3._
import chisel3.util._

/** Outstanding requests to near or far, by id: any number of id 0, used by near's lookups and the initialiser, and one
  * of each other id, which is an MSHR number. So a response that matches no request is always recognised.
  *
  * The state survives a warm reset. Latency: one cycle from `issued` and `arrives` to `expected`.
  *
  * @param limit most outstanding requests of id 0
  */
class OutstandingRequests(p: FlatParams, limit: Int) extends Module {
  val io = IO(new Bundle {
    val powerOn = Input(Bool())
    val issued = Flipped(Valid(UInt(p.memory.idBits.W)))

    /** Id of memory's response. `expected`: a request of this id is outstanding. `arrives`: the response comes in this
      * cycle.
      */
    val id = Input(UInt(p.memory.idBits.W))
    val expected = Output(Bool())
    val arrives = Input(Bool())

    /** Treat nothing as outstanding any more. */
    val forget = Input(Bool())

    /** Another request of id 0 may be sent; some request is outstanding. */
    val available = Output(Bool())
    val busy = Output(Bool())
  })
  private def persistent(bits: Int): UInt = withReset(io.powerOn) { RegInit(0.U(bits.W)) }
  // The counter exceeds `limit` by what the register slice admitted before it was counted.
  private val first = persistent(log2Ceil(limit + 4))
  private val others = persistent(p.mshrs)
  private val outstanding = Cat(others(p.mshrs - 1, 1), first.orR)
  private def of(id: UInt): UInt = UIntToOH(id(p.mshrBits - 1, 0), p.mshrs)
  private def isFirst(id: UInt): Bool = id === 0.U
  // A counter or bit is found beside, not behind, the choice of the response's one.
  private val inRange = (io.id >> p.mshrBits) === 0.U
  first := first + (io.issued.valid && isFirst(io.issued.bits)) - (io.arrives && isFirst(io.id) && first.orR)
  others := (others & ~OneHot.onlyIf(io.arrives && inRange, of(io.id))) |
    OneHot.onlyIf(io.issued.valid, of(io.issued.bits))
  io.expected := inRange && Mux(isFirst(io.id), first.orR, (others & of(io.id)).orR)
  assert(
    !io.issued.valid || isFirst(io.issued.bits) || !(outstanding & of(io.issued.bits)).orR,
    "an MSHR has two requests outstanding"
  )
  io.available := first < limit.U
  io.busy := outstanding.orR
  when(io.forget) {
    first := 0.U
    others := 0.U
  }
}
