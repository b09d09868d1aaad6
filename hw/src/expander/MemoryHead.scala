// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{BitSlicedCam, OneHot, RegisterSlice}
import chisel3._
import chisel3.util._

/** Memory's responses in a [[anemone.bus.RegisterSlice]]: the ids of the head, of the second one, and of the arriving
  * one.
  */
class MemoryHead(p: ExpanderParams) extends Bundle {
  private val bits = p.memory.idBits
  private def id = UInt(bits.W)
  val (head, second, arriving) = (id, id, id)

  /** The response after the head is `second`; otherwise it is `arriving`. */
  val hasSecond = Bool()

  /** The head stays in the next cycle. */
  val stalls = Bool()

  /** The head has this id. */
  def isHead(id: UInt): Bool = head === id

  /** The response after the head has this id. Each is compared before one is selected, which is known late. */
  def isSecond(id: UInt): Bool = Mux(hasSecond, second === id, arriving === id)

  /** The head of the next cycle has this id. */
  def next(id: UInt): Bool = Mux(stalls, isHead(id), isSecond(id))
}

object MemoryHead {

  /** The state of a slice. */
  def apply(slice: RegisterSlice[TelemetryBeat], p: ExpanderParams): MemoryHead = {
    val memory = Wire(new MemoryHead(p))
    memory.head := slice.io.out.bits.id
    memory.arriving := slice.io.in.bits.id
    memory.hasSecond := !slice.io.in.ready
    memory.second := RegEnable(memory.arriving, slice.io.in.ready)
    memory.stalls := slice.io.out.valid && !slice.io.out.ready
    memory
  }
}

/** Which slots hold the id of the head of memory's responses. The match is made while the response arrives, so the
  * result comes from registers when the response is the head.
  *
  * @param enters slots that take `id` in this cycle, or that took it before and are matched from now on
  */
class HeadIdMatch(ids: BitSlicedCam, slots: Int, memory: MemoryHead, enters: UInt, id: UInt) {
  private val second = Reg(UInt(slots.W))
  private val arriving = ids.equal(memory.arriving)

  /** Slots with the head's id. */
  val head = Reg(UInt(slots.W))
  private val nextSecond =
    (Mux(memory.hasSecond, second, arriving) & ~enters) | OneHot.onlyIf(memory.isSecond(id), enters)
  second := nextSecond
  head := Mux(memory.stalls, (head & ~enters) | OneHot.onlyIf(memory.isHead(id), enters), nextSecond)

  /** The next cycle's head has the id of one of the slots of `mask`, none of which enters now. The selection of the
    * head comes last, because it is known last.
    */
  def next(mask: UInt): Bool =
    Mux(
      memory.stalls,
      (head & mask).orR,
      Mux(memory.hasSecond, (second & mask).orR, (arriving & mask).orR)
    )
}
