// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.expander.registers.RegisterCodes

/** Number of a memory in the register field `fault_memory`, by its name there. */
object FaultMemory {
  private val numbers = RegisterCodes.faultMemory.toMap
  def apply(name: String): Int = numbers(name)
  def apply(names: Seq[String]): Seq[Int] = names.map(numbers)
}
