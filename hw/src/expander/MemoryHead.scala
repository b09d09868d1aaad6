// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{BitSlicedCam, Lut6Tree, OneHot, RegisterSlice}
import chisel3._
import chisel3.util._

/** Memory's answers as they come through a [[anemone.bus.RegisterSlice]]: the ids of the one at its head, of the one
  * behind that, and of the one that arrives.
  */
class MemoryHead(p: ExpanderParams) extends Bundle {
  private val bits = p.memory.idBits
  private def id = UInt(bits.W)
  val (head, second, arriving) = (id, id, id)

  /** The one behind the head is `second`; else it is the one that arrives. */
  val held = Bool()

  /** The head is the same in the next cycle. */
  val stays = Bool()

  // Compared before it is known which, and not behind a choice of the id, which is what a tool makes of it otherwise.
  private def same(one: UInt, other: UInt) = Lut6Tree.equal(one, other, bits)

  /** The head has this id. */
  def isHead(id: UInt): Bool = same(head, id)

  /** The one behind the head has this id. */
  def behind(id: UInt): Bool = Mux(held, same(second, id), same(arriving, id))

  /** The head of the next cycle has this id. */
  def next(id: UInt): Bool = Mux(stays, isHead(id), behind(id))
}

object MemoryHead {

  /** Of a slice. */
  def apply(slice: RegisterSlice[TelemetryBeat], p: ExpanderParams): MemoryHead = {
    val memory = Wire(new MemoryHead(p))
    memory.head := slice.io.out.bits.id
    memory.arriving := slice.io.in.bits.id
    memory.held := !slice.io.in.ready
    memory.second := RegEnable(memory.arriving, slice.io.in.ready)
    memory.stays := slice.io.out.valid && !slice.io.out.ready
    memory
  }
}

/** Which slots hold the id of memory's next answer, found while that comes: registers in the cycle in which it counts.
  *
  * @param enters the slots that take `id` in this cycle
  */
class HeadIdMatch(ids: BitSlicedCam, slots: Int, memory: MemoryHead, enters: UInt, id: UInt) {
  private val second = Reg(UInt(slots.W))
  private val arriving = ids.equal(memory.arriving)

  /** Slots of the head's id. */
  val head = Reg(UInt(slots.W))
  private val behind =
    (Mux(memory.held, second, arriving) & ~enters) | OneHot.onlyIf(memory.behind(id), enters)
  second := behind
  head := Mux(memory.stays, (head & ~enters) | OneHot.onlyIf(memory.isHead(id), enters), behind)

  /** The head of the next cycle has the id of one of these slots, of which none enters. Which head that is is known last.
    */
  def next(mask: UInt): Bool =
    Mux(memory.stays, (head & mask).orR, Mux(memory.held, (second & mask).orR, Lut6Tree.meet(arriving, mask, slots)))
}
