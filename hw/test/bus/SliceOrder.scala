// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import anemone.formal.JudgedRun
import chisel3._
import chisel3.util.DecoupledIO

/** Properties of a slice that holds two items, for a latency of one cycle. Items are numbered as they enter.
  *
  * bits: of a number.
  */
class SliceOrder(in: DecoupledIO[Data], out: DecoupledIO[Data], bits: Int) {

  /** Number of the item that enters next, and of the one that leaves next. */
  val next, expected = RegInit(0.U(bits.W))
  when(in.fire) { next := next + 1.U }
  when(out.fire) { expected := expected + 1.U }

  private val inside = RegInit(0.U(3.W))
  inside := inside + in.fire - out.fire

  /** More than two items are inside, one is on its way for more than a cycle or came from nowhere, or there is no room
    * where there is some.
    */
  val wrong: Bool = inside > 2.U || out.valid =/= (inside =/= 0.U) || !(in.ready || inside === 2.U)
}

/** Items leave a [[RegisterSlice]] once, in order, and stay until they are accepted. */
class RegisterSliceOrder extends Module {
  private val slice = Module(new RegisterSlice(UInt(4.W)))
  val io = IO(new Bundle {
    val valid, ready = Input(Bool())
    val wrong = Output(Bool())
  })
  // Each item has its number as its value.
  private val order = new SliceOrder(slice.io.in, slice.io.out, 4)
  slice.io.in.valid := io.valid
  slice.io.in.bits := order.next
  slice.io.out.ready := io.ready
  io.wrong := JudgedRun() && (order.wrong || (slice.io.out.valid && slice.io.out.bits =/= order.expected))
}
