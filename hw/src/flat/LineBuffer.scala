// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.{MemoryFault, ProtectedRam}
import chisel3._
import chisel3.util._

/** The two lines that are kept for each lock. Their bytes that are not there have no strobe.
  *
  * Latency: three cycles from `read` to `stored`. One write a cycle, the first that wants to. What is flipped in a line that
  * is kept is corrected, or else all of the line is poisoned.
  */
class LineBuffer(p: FlatParams) extends Module {
  val io = IO(new Bundle {
    val read = Flipped(Valid(UInt((p.lockBits + 1).W)))
    val stored = Output(new StoredLine(p))
    val fault = Output(new MemoryFault)
    val inject = Flipped(Valid(Bool()))

    /** Whoever comes first can't be held back. */
    val writes = Vec(3, Flipped(Decoupled(new BufferedLine(p))))
  })
  private val rows = Module(new ProtectedRam(2 * p.locks, (new StoredLine(p)).getWidth))
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
