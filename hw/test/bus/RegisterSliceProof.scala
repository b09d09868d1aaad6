// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.util.DecoupledIO
import chiseltest._
import chiseltest.formal._
import org.scalatest.flatspec.AnyFlatSpec

/** Properties of a slice that holds two items, for a latency of one cycle. Items are numbered as they enter. */
object SliceOrder {

  /** Number of the item that enters next, and of the one that leaves next. */
  def apply(in: DecoupledIO[Data], out: DecoupledIO[Data], bits: Int): (UInt, UInt) = {
    val inside = RegInit(0.U(3.W))
    inside := inside + in.fire - out.fire
    assert(inside <= 2.U)
    assert(out.valid === (inside =/= 0.U), "an item is on its way for more than a cycle, or came from nowhere")
    assert(in.ready || inside === 2.U, "no room where there is some")

    val next, expected = RegInit(0.U(bits.W))
    when(in.fire) { next := next + 1.U }
    when(out.fire) { expected := expected + 1.U }
    (next, expected)
  }
}

/** Items leave a [[RegisterSlice]] once, in order, and stay until they are accepted. */
class SliceOrder extends Module {
  private val slice = Module(new RegisterSlice(UInt(4.W)))
  val io = IO(chiselTypeOf(slice.io))
  slice.io <> io

  // Each item has its number as its value.
  private val (next, expected) = SliceOrder(io.in, io.out, 4)
  assume(io.in.bits === next)
  when(io.out.valid) { assert(io.out.bits === expected, "items out of order, lost or changed") }
}

class RegisterSliceProof extends AnyFlatSpec with ChiselScalatestTester with Formal {
  behavior of "RegisterSlice"
  it should "keep every item and their order, a cycle later, proved" in {
    verify(new SliceOrder, Seq(BoundedCheck(10)))
  }
}
