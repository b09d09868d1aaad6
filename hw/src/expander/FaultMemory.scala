// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.expander.registers.RegisterCodes

/** The number that a memory has in `fault_memory` of the registers, by its name there. */
object FaultMemory {
  private val numbers = RegisterCodes.faultMemory.toMap
  def apply(name: String): Int = numbers(name)
  def apply(names: Seq[String]): Seq[Int] = names.map(numbers)
}
