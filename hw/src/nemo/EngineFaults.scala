// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import anemone.bus.MemoryFault
import chisel3._

/** What was found flipped in one channel's memories of the engine, [[EngineFaults.memories]]. */
class EngineFaults(p: NemoParams) extends Bundle {
  val of = Vec(EngineFaults.memories.length, new MemoryFault)

  /** The entry of the tables: its pipeline above its key. */
  val entry = UInt((p.pipelineBits + p.keyBits).W)
}

object EngineFaults {

  /** By their names in `fault_memory` of the registers. The reset values are all channels' and are told as the first one's. */
  val memories: Seq[String] = Seq("tables", "waiting_events", "reset_values")
  val (tables, events, resetValues) = (0, 1, 2)
}
