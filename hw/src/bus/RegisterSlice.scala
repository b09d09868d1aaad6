// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.util._

/** A skid buffer: cuts every combinational path between its two sides. `out` and `in.ready` are registers.
  *
  * Latency: one cycle. Throughput: one item per cycle. Holds two items.
  *
  * @param gates it has a [[ClockGate]], and a clock only when an item enters or leaves
  */
class RegisterSlice[T <: Data](gen: T, gates: Boolean = false) extends Module {
  val io = IO(new Bundle {
    val in = Flipped(Decoupled(gen))
    val out = Decoupled(gen)
  })
  private val moves = ClockGate.during(gates, io.in.fire || io.out.fire)
  private def flag: Bool = withClock(moves)(RegInit(false.B))
  private def item: T = withClock(moves)(Reg(gen))
  private val (valid, bits) = (flag, item)
  // Holds the item that was accepted in the cycle in which `out` stalled.
  private val (skidValid, skid) = (flag, item)

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
  def apply[T <: Data](source: DecoupledIO[T], gates: Boolean = false): DecoupledIO[T] = {
    val slice = Module(new RegisterSlice(chiselTypeOf(source.bits), gates))
    slice.io.in <> source
    slice.io.out
  }
}
