// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import chisel3._
import chisel3.util._

/** Gates a channel's inputs for quiesce: new requests are blocked, but the rest of accepted ones passes.
  *
  * If data were accepted before their address, that address is accepted too; after an address, its data are.
  *
  * Latency: one cycle from `quiesce` or a handshake to `closed`, which depends only on registers.
  */
class QuiesceGate(p: ExpanderParams) extends Module {
  // Addresses ahead of their data: all outstanding writes, plus those without a grant yet.
  private val countBits = log2Ceil(p.writesInFlight + p.regionWrites + 4) + 1
  val io = IO(new Bundle {
    val quiesce = Input(Bool())

    /** An address of AW is accepted; a beat of W is accepted; that beat is the `last` of its write. */
    val address = Input(Bool())
    val data = Input(Bool())
    val last = Input(Bool())
    val closed = Output(new Bundle {
      val reads, writes, data = Bool()
    })

    /** Every accepted address has all its data, and all data have their address. */
    val balanced = Output(Bool())
  })
  private val quiesced = RegNext(io.quiesce, false.B)
  private val addressLead = RegInit(0.S(countBits.W))
  addressLead := addressLead + io.address.asUInt.zext - (io.data && io.last).asUInt.zext
  private val inBurst = RegInit(false.B) // inside a write's data
  when(io.data) { inBurst := !io.last }
  io.balanced := addressLead === 0.S && !inBurst
  io.closed.reads := quiesced
  io.closed.writes := quiesced && !(addressLead < 0.S || (addressLead === 0.S && inBurst))
  io.closed.data := quiesced && addressLead <= 0.S
}
