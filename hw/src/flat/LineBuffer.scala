// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.{MemoryFault, ProtectedRam}
import chisel3._
import chisel3.util._

/** Two buffered lines per MSHR. Bytes that are not present have strobe 0.
  *
  * Latency: three cycles from `read` to `stored`. One write per cycle, by fixed priority. A flipped bit is corrected;
  * an uncorrectable line is poisoned whole.
  */
class LineBuffer(p: FlatParams) extends Module {
  val io = IO(new Bundle {
    val read = Flipped(Valid(UInt((p.mshrBits + 1).W)))
    val stored = Output(new StoredLine(p))
    val fault = Output(new MemoryFault)
    val inject = Flipped(Valid(Bool()))

    /** The first writer has priority and is never stalled. */
    val writes = Vec(3, Flipped(Decoupled(new BufferedLine(p))))
  })
  private val rows = Module(new ProtectedRam(2 * p.mshrs, (new StoredLine(p)).getWidth))
  rows.io.read := io.read
  rows.io.inject := io.inject
  io.stored := StoredLine.from(rows.io.data, rows.io.fault, p)
  io.fault := rows.io.fault

  private val arbiter = Module(new Arbiter(new BufferedLine(p), 3))
  arbiter.io.in <> io.writes
  arbiter.io.out.ready := true.B
  rows.io.write.valid := arbiter.io.out.valid
  rows.io.write.bits.address := arbiter.io.out.bits.row
  rows.io.write.bits.data := arbiter.io.out.bits.stored.asUInt
}
