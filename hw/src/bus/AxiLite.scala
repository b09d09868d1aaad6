// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.util._

/** W of AXI4-Lite. */
class AxiLiteWriteData(dataBits: Int) extends Bundle {
  val data = UInt(dataBits.W)
  val strb = UInt((dataBits / 8).W)
}

/** R of AXI4-Lite. */
class AxiLiteReadData(dataBits: Int) extends Bundle {
  val data = UInt(dataBits.W)
  val resp = UInt(2.W)
}

/** An AXI4-Lite port, seen from the master: single beats, in order. `aw` and `ar` carry the byte address, `b` the
  * response.
  */
class AxiLitePort(val addressBits: Int, val dataBits: Int) extends Bundle {
  require(dataBits == 32 || dataBits == 64, s"dataBits: 32 or 64, not $dataBits")
  val aw = Decoupled(UInt(addressBits.W))
  val w = Decoupled(new AxiLiteWriteData(dataBits))
  val b = Flipped(Decoupled(UInt(2.W)))
  val ar = Decoupled(UInt(addressBits.W))
  val r = Flipped(Decoupled(new AxiLiteReadData(dataBits)))
}
