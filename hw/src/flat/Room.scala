// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import chisel3._
import chisel3.util._

/** Counts room that is given away before it is used. */
class Room(places: Int) extends Module {
  val io = IO(new Bundle {
    val any = Output(Bool())
    val takes = Input(Bool())
    val returns = Input(Bool())
  })
  private val free = RegInit(places.U(log2Ceil(places + 1).W))
  free := free + io.returns - io.takes
  io.any := free =/= 0.U
}
