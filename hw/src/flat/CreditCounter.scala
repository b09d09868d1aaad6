// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import chisel3._
import chisel3.util._

/** Credits for the entries of a queue. A step takes a credit when its kind is chosen and fills the entry some cycles later.
  */
class CreditCounter(credits: Int) extends Module {
  val io = IO(new Bundle {
    val available = Output(Bool())
    val take = Input(Bool())
    val release = Input(Bool())
  })
  private val free = RegInit(credits.U(log2Ceil(credits + 1).W))
  free := free + io.release - io.take
  io.available := free =/= 0.U
}
