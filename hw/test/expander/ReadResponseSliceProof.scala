// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{Axi4Params, SliceOrder}
import anemone.nemo.NemoParams
import chisel3._
import chiseltest._
import chiseltest.formal._
import org.scalatest.flatspec.AnyFlatSpec

/** Responses leave a [[ReadResponseSlice]] once, in order, with the data of their source, and stay until they are
  * accepted.
  */
class ReadResponseOrder(p: ExpanderParams) extends Module {
  private val slice = Module(new ReadResponseSlice(p))
  val io = IO(chiselTypeOf(slice.io))
  slice.io <> io

  // Odd responses are lines. The data of the other source are the inverse.
  private val (next, expected) = SliceOrder(io.in, io.out, p.memory.idBits)
  private def data(number: UInt): UInt = number.asSInt.pad(p.memory.dataBits + 1).asUInt
  assume(io.in.bits.beat.id === next && io.in.bits.isLine === next(0))
  assume(io.in.bits.memoryData === Mux(next(0), ~data(next), data(next)))
  assume(io.in.bits.lineData === Mux(next(0), data(next), ~data(next)))
  when(io.out.valid) {
    assert(io.out.bits.id === expected, "responses out of order, or lost")
    assert((io.out.bits.user ## io.out.bits.data) === data(expected), "a response has the other source's data")
  }
}

class ReadResponseSliceProof extends AnyFlatSpec with ChiselScalatestTester with Formal {
  behavior of "ReadResponseSlice"
  it should "keep every response, its data and their order, a cycle later, proved" in {
    val p = ExpanderParams(NemoParams(pipelines = 1, channels = 1, states = 64, table = 16), Axi4Params(idBits = 4))
    verify(new ReadResponseOrder(p), Seq(BoundedCheck(10)))
  }
}
