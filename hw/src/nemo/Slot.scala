// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util._

/** An accepted memory request as telemetry sees it: a device byte address, read or write. In flat memory mode also
  * what came of it, [[NearOutcome]].
  */
class MemoryEvent(p: NemoParams) extends Bundle {
  val address = UInt(p.addressBits.W)
  val write = Bool()
  val near = Option.when(p.outcomes)(UInt(NearOutcome.bits.W))
}

/** One slot of a channel's single order: at most one event or one (part of a) telemetry read a cycle.
  *
  * A read whose effect is an update op walks the line a word a slot (`serialRmw`): the words of the line go through the
  * update stage one after the other, with no event in between.
  *
  * Slots of an acknowledgement ([[AcknowledgeUnit]]) are reads as well, marked `acknowledge`: one of the line, which nobody
  * outside gets, and a walk by which `op` is applied to each word with an operand of its own.
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

  /** `serialRmw`, which is never where no walk is built in. */
  def isSerialRmw: Bool = if (p.features.wordAccess) serialRmw else false.B

  /** `acknowledge`, which is never where acknowledgements are not built in. */
  def isAcknowledge: Bool = if (p.features.acknowledges) acknowledge else false.B
}

object Slot {

  /** The slot `cycles` later; what it asks for is reset, so nothing is asked for that never was. */
  def delayed(slot: Slot, cycles: Int): Slot = {
    val later = WireDefault(ShiftRegister(slot, cycles))
    later.event := ShiftRegister(slot.event, cycles, false.B, true.B)
    later.read := ShiftRegister(slot.read, cycles, false.B, true.B)
    later
  }
}
