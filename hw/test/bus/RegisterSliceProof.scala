// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chiseltest._
import chiseltest.formal._
import org.scalatest.flatspec.AnyFlatSpec

/** Items leave a [[RegisterSlice]] once, in order, and stay until they are accepted. */
class SliceOrder extends Module {
  private val slice = Module(new RegisterSlice(UInt(4.W)))
  val io = IO(chiselTypeOf(slice.io))
  slice.io <> io

  private val inside = RegInit(0.U(3.W))
  inside := inside + io.in.fire - io.out.fire
  assert(inside <= 2.U)
  assert(io.out.valid === (inside =/= 0.U), "an item is on its way for more than a cycle, or came from nowhere")
  assert(io.in.ready || inside === 2.U, "no room where there is some")

  // Items are numbered as they enter, so each has its own value.
  private val next = RegInit(0.U(4.W))
  private val expected = RegInit(0.U(4.W))
  when(io.in.fire) { next := next + 1.U }
  when(io.out.fire) { expected := expected + 1.U }
  assume(io.in.bits === next)
  when(io.out.valid) { assert(io.out.bits === expected, "items out of order, lost or changed") }
}

class RegisterSliceProof extends AnyFlatSpec with ChiselScalatestTester with Formal {
  behavior of "RegisterSlice"
  it should "keep every item and their order, a cycle later, proved" in {
    verify(new SliceOrder, Seq(BoundedCheck(10)))
  }
}
