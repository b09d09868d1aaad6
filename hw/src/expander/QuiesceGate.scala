// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import chisel3._
import chisel3.util._

/** What a channel accepts while it is to become quiet: no request, but all that belongs to one that it has.
  *
  * Data may have been accepted before their address: then that address is accepted, too. An address is followed by its data.
  *
  * Latency: one cycle from `quiesce` and from a handshake to `closed`, which depends on registers alone.
  */
class QuiesceGate(p: ExpanderParams) extends Module {
  // Addresses ahead of their data: all writes that may be under way, and those that have no grant yet.
  private val countBits = log2Ceil(p.writesInFlight + p.regionWrites + 4) + 1
  val io = IO(new Bundle {
    val quiesce = Input(Bool())

    /** AW is accepted in this cycle; a beat of W is, the `last` of its write. */
    val address = Input(Bool())
    val data = Input(Bool())
    val last = Input(Bool())
    val closed = Output(new Bundle {
      val reads, writes, data = Bool()
    })

    /** Each address that was accepted had all its data, and the other way round. */
    val even = Output(Bool())
  })
  private val stops = RegNext(io.quiesce, false.B)
  private val ahead = RegInit(0.S(countBits.W))
  ahead := ahead + io.address.asUInt.zext - (io.data && io.last).asUInt.zext
  private val amid = RegInit(false.B) // some data of a write, and not the last
  when(io.data) { amid := !io.last }
  io.even := ahead === 0.S && !amid
  io.closed.reads := stops
  io.closed.writes := stops && !(ahead < 0.S || (ahead === 0.S && amid))
  io.closed.data := stops && ahead <= 0.S
}
