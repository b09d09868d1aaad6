// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.{ClockGate, MemoryFault, ProtectedRam}
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
  private val rows = Module(new ProtectedRam(2 * p.mshrs, (new StoredLine(p)).getWidth, gates = p.clockGates))
  rows.io.read := io.read
  rows.io.inject := io.inject
  io.stored := StoredLine.from(rows.io.data, rows.io.fault, p)
  io.fault := rows.io.fault

  private val arbiter = Module(new Arbiter(new BufferedLine(p), 3))
  arbiter.io.in <> io.writes
  arbiter.io.out.ready := true.B
  // A line is written a cycle later, also in a reset. Its row is read two cycles after that or later.
  private val written = withClock(ClockGate.during(p.clockGates, arbiter.io.out.valid))(RegNext(arbiter.io.out.bits))
  rows.io.write.valid := RegNext(arbiter.io.out.valid)
  rows.io.write.bits.address := written.row
  rows.io.write.bits.data := written.stored.asUInt
}
