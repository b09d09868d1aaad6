// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.util._

/** What a protected memory found flipped, and whose it was where that is known. */
class FaultReport(idBits: Int, lineBits: Int) extends Bundle {
  val fault = new MemoryFault

  /** Of the transaction, on the host's side. */
  val id = Valid(UInt(idBits.W))

  /** Near's line of the set. */
  val line = Valid(UInt(lineBits.W))
}

object FaultReport {

  /** Of a memory of which nothing more is known. */
  def apply(fault: MemoryFault, idBits: Int, lineBits: Int): FaultReport = {
    val report = WireInit(0.U.asTypeOf(new FaultReport(idBits, lineBits)))
    report.fault := fault
    report
  }
}

/** Which memory is to store a word with a flipped bit next, or with two. */
class Injection extends Bundle {
  val memory = UInt(8.W)
  val double = Bool()
}

object Injection {

  /** What of it is for the memory of this number; true: two bits. */
  def to(memory: Int, inject: ValidIO[Injection]): ValidIO[Bool] = {
    val arm = Wire(Valid(Bool()))
    arm.valid := inject.valid && inject.bits.memory === memory.U
    arm.bits := inject.bits.double
    arm
  }
}
