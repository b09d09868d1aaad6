// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.util._

/** A skid buffer: cuts every combinational path between its two sides. `out` and `in.ready` are registers.
  *
  * Latency: one cycle. Throughput: one item per cycle. Holds two items.
  */
class RegisterSlice[T <: Data](gen: T) extends Module {
  val io = IO(new Bundle {
    val in = Flipped(Decoupled(gen))
    val out = Decoupled(gen)
  })
  private val valid = RegInit(false.B)
  private val bits = Reg(gen)
  // Holds the item that was accepted in the cycle in which `out` stalled.
  private val skidValid = RegInit(false.B)
  private val skid = Reg(gen)

  io.in.ready := !skidValid
  io.out.valid := valid
  io.out.bits := bits
  when(io.out.ready || !valid) {
    valid := io.in.valid || skidValid
    bits := Mux(skidValid, skid, io.in.bits)
    skidValid := false.B
  }.elsewhen(io.in.fire) {
    skidValid := true.B
    skid := io.in.bits
  }
}

object RegisterSlice {

  /** `source` through a register slice. */
  def apply[T <: Data](source: DecoupledIO[T]): DecoupledIO[T] = {
    val slice = Module(new RegisterSlice(chiselTypeOf(source.bits)))
    slice.io.in <> source
    slice.io.out
  }
}
