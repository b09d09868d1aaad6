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
  private val (in, out) = (slice.io.in, slice.io.out)
  val valid, ready = IO(Input(Bool()))
  in.valid := valid
  out.ready := ready

  // Odd responses are lines. The data of the other source are the inverse.
  private val (next, expected) = SliceOrder(in, out, p.memory.idBits)
  private def data(number: UInt): UInt = number.asSInt.pad(p.memory.dataBits + 1).asUInt
  in.bits.beat.id := next
  in.bits.beat.last := next(1)
  in.bits.beat.resp := next
  in.bits.isLine := next(0)
  in.bits.memoryData := Mux(next(0), ~data(next), data(next))
  in.bits.lineData := Mux(next(0), data(next), ~data(next))
  when(out.valid) {
    assert(out.bits.id === expected, "responses out of order, or lost")
    assert(out.bits.last === expected(1) && out.bits.resp === expected(1, 0), "a response has another's last or code")
    assert((out.bits.user ## out.bits.data) === data(expected), "a response has the other source's data")
  }
}

class ReadResponseSliceProof extends AnyFlatSpec with ChiselScalatestTester with Formal {
  behavior of "ReadResponseSlice"
  it should "keep every response, its data and their order, a cycle later, proved" in {
    val p = ExpanderParams(NemoParams(pipelines = 1, channels = 1, states = 64, table = 16), Axi4Params(idBits = 4))
    verify(new ReadResponseOrder(p), Seq(BoundedCheck(10)))
  }
}
