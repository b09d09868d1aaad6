// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{Axi4Params, SliceOrder}
import anemone.formal.JudgedRun
import anemone.nemo.NemoParams
import chisel3._

/** Responses leave a [[ReadResponseSlice]] once, in order, with the data of their source, and stay until they are
  * accepted.
  */
class ReadResponseOrder extends Module {
  private val p =
    ExpanderParams(NemoParams(pipelines = 1, channels = 1, states = 64, table = 16), Axi4Params(idBits = 4))
  private val slice = Module(new ReadResponseSlice(p))
  private val (in, out) = (slice.io.in, slice.io.out)
  val io = IO(new Bundle {
    val valid, ready = Input(Bool())
    val wrong = Output(Bool())
  })
  in.valid := io.valid
  out.ready := io.ready

  // Odd responses are lines. The data of the other source are the inverse.
  private val order = new SliceOrder(in, out, p.memory.idBits)
  private def data(number: UInt): UInt = number.asSInt.pad(p.memory.dataBits + 1).asUInt
  in.bits.beat.id := order.next
  in.bits.beat.last := order.next(1)
  in.bits.beat.resp := order.next
  in.bits.isLine := order.next(0)
  in.bits.memoryData := Mux(order.next(0), ~data(order.next), data(order.next))
  in.bits.lineData := Mux(order.next(0), data(order.next), ~data(order.next))

  private val number = order.expected
  private val another = out.bits.id =/= number || out.bits.last =/= number(1) || out.bits.resp =/= number(1, 0) ||
    (out.bits.user ## out.bits.data) =/= data(number)
  io.wrong := JudgedRun() && (order.wrong || (out.valid && another))
}
