// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.util._

/** Bit flips found in a protected memory, and the transaction or line affected if known. */
class FaultReport(idBits: Int, lineBits: Int) extends Bundle {
  val fault = new MemoryFault

  /** Id of the transaction on the host's side. */
  val id = Valid(UInt(idBits.W))

  /** Near line of the set. */
  val line = Valid(UInt(lineBits.W))
}

object FaultReport {

  /** Report of a memory for which only the fault is known. */
  def apply(fault: MemoryFault, idBits: Int, lineBits: Int): FaultReport = {
    val report = WireInit(0.U.asTypeOf(new FaultReport(idBits, lineBits)))
    report.fault := fault
    report
  }
}

/** Injection of one or two bit flips into the next word that the memory `memory` stores. */
class Injection extends Bundle {
  val memory = UInt(8.W)
  val double = Bool()
}

object Injection {

  /** The injection for memory number `memory`; true: two bits. */
  def to(memory: Int, inject: ValidIO[Injection]): ValidIO[Bool] = {
    val arm = Wire(Valid(Bool()))
    arm.valid := inject.valid && inject.bits.memory === memory.U
    arm.bits := inject.bits.double
    arm
  }
}
