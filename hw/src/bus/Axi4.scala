// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.util._

/** Widths of an AXI4 port.
  *
  * @param addressBits bits of a byte address
  * @param dataBits    bits of a beat
  * @param idBits      bits of a transaction id; responses of one id keep their order
  * @param lenBits     bits of a burst's length minus one
  */
case class Axi4Params(addressBits: Int = 52, dataBits: Int = 512, idBits: Int = 12, lenBits: Int = 10) {
  require(addressBits >= 12 && addressBits <= 64, s"addressBits: 12 to 64, not $addressBits")
  require(isPow2(dataBits) && dataBits >= 8 && dataBits <= 1024, s"dataBits: a power of two, 8 to 1024, not $dataBits")
  require(idBits >= 1 && idBits <= 16, s"idBits: 1 to 16, not $idBits")
  require(lenBits >= 1 && lenBits <= 10, s"lenBits: 1 to 10, not $lenBits")
  val strbBits: Int = dataBits / 8
}

object Axi4 {
  object Burst {
    val Fixed = 0
    val Incr = 1
    val Wrap = 2
  }
  object Resp {
    val Okay = 0
    val SlvErr = 2
    val DecErr = 3
  }
}

/** AR or AW. A transfer is `len` + 1 beats of 2^`size` bytes. */
class Axi4Address(p: Axi4Params) extends Bundle {
  val id = UInt(p.idBits.W)
  val addr = UInt(p.addressBits.W)
  val len = UInt(p.lenBits.W)
  val size = UInt(3.W)
  val burst = UInt(2.W)
}

/** W. `user`: the data are poisoned. */
class Axi4WriteData(p: Axi4Params) extends Bundle {
  val data = UInt(p.dataBits.W)
  val strb = UInt(p.strbBits.W)
  val last = Bool()
  val user = Bool()
}

/** B. */
class Axi4WriteResponse(p: Axi4Params) extends Bundle {
  val id = UInt(p.idBits.W)
  val resp = UInt(2.W)
}

/** R. `user`: the data are poisoned. */
class Axi4ReadData(p: Axi4Params) extends Bundle {
  val id = UInt(p.idBits.W)
  val data = UInt(p.dataBits.W)
  val resp = UInt(2.W)
  val last = Bool()
  val user = Bool()
}

/** An AXI4 port, seen from the master. */
class Axi4Port(val p: Axi4Params) extends Bundle {
  val aw = Decoupled(new Axi4Address(p))
  val w = Decoupled(new Axi4WriteData(p))
  val b = Flipped(Decoupled(new Axi4WriteResponse(p)))
  val ar = Decoupled(new Axi4Address(p))
  val r = Flipped(Decoupled(new Axi4ReadData(p)))
}
