// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import anemone.bus.MemoryFault
import chisel3._

/** Bit flips found in the engine's memories of one channel, by [[EngineFaults.memories]]. */
class EngineFaults(p: NemoParams) extends Bundle {
  val of = Vec(EngineFaults.memories.length, new MemoryFault)

  /** The table entry: pipeline number above key. */
  val entry = UInt((p.pipelineBits + p.keyBits).W)
}

object EngineFaults {

  /** Their names in the register field `fault_memory`. All channels share the reset values, which count for the first.
    */
  val memories: Seq[String] = Seq("tables", "waiting_events", "reset_values")
  val (tables, events, resetValues) = (0, 1, 2)
}
