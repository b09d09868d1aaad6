// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util._

/** An accepted memory request: its device byte address, read or write, and in flat memory mode its [[NearOutcome]]. */
class MemoryEvent(p: NemoParams) extends Bundle {
  val address = UInt(p.addressBits.W)
  val write = Bool()
  val near = Option.when(p.outcomes)(UInt(NearOutcome.bits.W))
}

/** One slot of a channel's order: at most one event, or one telemetry read or word of it, a cycle.
  *
  * A read whose effect is an update op is a serial read-modify-write (`serialRmw`): the words of the line pass the
  * update stage one a slot, with no event between them.
  *
  * The slots of an acknowledge ([[AcknowledgeUnit]]) are reads too, marked `acknowledge`: reads of the line, whose
  * answers stay inside and have one word each, and a serial RMW that applies `op` to each word with an operand of its
  * own.
  */
class Slot(val p: NemoParams) extends Bundle {
  val event = Bool()
  val request = new MemoryEvent(p)
  val read = Bool()
  val target = new LineRead(p)
  val serialRmw = Bool()
  val word = UInt(p.wordIndexBits.W)
  val acknowledge = Bool()
  val op = UInt(UpdateOp.codeBits.W)

  /** `serialRmw`, or constant false if it is not built in. */
  def isSerialRmw: Bool = if (p.features.wordAccess) serialRmw else false.B

  /** `acknowledge`, or constant false if it is not built in. */
  def isAcknowledge: Bool = if (p.features.acknowledges) acknowledge else false.B
}

object Slot {

  /** The slot `cycles` later. Event and read are reset, so that none starts out of nothing. */
  def delayed(slot: Slot, cycles: Int): Slot = {
    val later = WireDefault(ShiftRegister(slot, cycles))
    later.event := ShiftRegister(slot.event, cycles, false.B, true.B)
    later.read := ShiftRegister(slot.read, cycles, false.B, true.B)
    later
  }
}
