// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.util._

/** An [[Axi4Port]] with the pin names of the AXI specification, for use from Verilog. Seen from the master. */
class Axi4Pins(val p: Axi4Params) extends Bundle {
  val awid = Output(UInt(p.idBits.W))
  val awaddr = Output(UInt(p.addressBits.W))
  val awlen = Output(UInt(p.lenBits.W))
  val awsize = Output(UInt(3.W))
  val awburst = Output(UInt(2.W))
  val awvalid = Output(Bool())
  val awready = Input(Bool())
  val wdata = Output(UInt(p.dataBits.W))
  val wstrb = Output(UInt(p.strbBits.W))
  val wlast = Output(Bool())
  val wuser = Output(Bool())
  val wvalid = Output(Bool())
  val wready = Input(Bool())
  val bid = Input(UInt(p.idBits.W))
  val bresp = Input(UInt(2.W))
  val bvalid = Input(Bool())
  val bready = Output(Bool())
  val arid = Output(UInt(p.idBits.W))
  val araddr = Output(UInt(p.addressBits.W))
  val arlen = Output(UInt(p.lenBits.W))
  val arsize = Output(UInt(3.W))
  val arburst = Output(UInt(2.W))
  val arvalid = Output(Bool())
  val arready = Input(Bool())
  val rid = Input(UInt(p.idBits.W))
  val rdata = Input(UInt(p.dataBits.W))
  val rresp = Input(UInt(2.W))
  val rlast = Input(Bool())
  val ruser = Input(Bool())
  val rvalid = Input(Bool())
  val rready = Output(Bool())

  private def aw = AxiPins.address(awid, awaddr, awlen, awsize, awburst)
  private def ar = AxiPins.address(arid, araddr, arlen, arsize, arburst)
  private def w = Seq("data" -> wdata, "strb" -> wstrb, "last" -> wlast, "user" -> wuser)
  private def b = Seq("id" -> bid, "resp" -> bresp)
  private def r = Seq("id" -> rid, "data" -> rdata, "resp" -> rresp, "last" -> rlast, "user" -> ruser)

  /** Connects the pins to a master's port, which drives them. */
  def drivenBy(port: Axi4Port): Unit = {
    AxiPins.drive(port.aw, awvalid, awready, aw)
    AxiPins.drive(port.w, wvalid, wready, w)
    AxiPins.drive(port.ar, arvalid, arready, ar)
    AxiPins.sample(port.b, bvalid, bready, b)
    AxiPins.sample(port.r, rvalid, rready, r)
  }

  /** Connects the pins to a slave's port, which they drive. */
  def drives(port: Axi4Port): Unit = {
    AxiPins.sample(port.aw, awvalid, awready, aw)
    AxiPins.sample(port.w, wvalid, wready, w)
    AxiPins.sample(port.ar, arvalid, arready, ar)
    AxiPins.drive(port.b, bvalid, bready, b)
    AxiPins.drive(port.r, rvalid, rready, r)
  }
}

/** An [[AxiLitePort]] with the pin names of the AXI specification. Seen from the master. */
class AxiLitePins(val addressBits: Int, val dataBits: Int) extends Bundle {
  val awaddr = Output(UInt(addressBits.W))
  val awvalid = Output(Bool())
  val awready = Input(Bool())
  val wdata = Output(UInt(dataBits.W))
  val wstrb = Output(UInt((dataBits / 8).W))
  val wvalid = Output(Bool())
  val wready = Input(Bool())
  val bresp = Input(UInt(2.W))
  val bvalid = Input(Bool())
  val bready = Output(Bool())
  val araddr = Output(UInt(addressBits.W))
  val arvalid = Output(Bool())
  val arready = Input(Bool())
  val rdata = Input(UInt(dataBits.W))
  val rresp = Input(UInt(2.W))
  val rvalid = Input(Bool())
  val rready = Output(Bool())

  /** Connects the pins to a master's port, which drives them. */
  def drivenBy(port: AxiLitePort): Unit = {
    awvalid := port.aw.valid
    awaddr := port.aw.bits
    port.aw.ready := awready
    AxiPins.drive(port.w, wvalid, wready, Seq("data" -> wdata, "strb" -> wstrb))
    arvalid := port.ar.valid
    araddr := port.ar.bits
    port.ar.ready := arready
    port.b.valid := bvalid
    port.b.bits := bresp
    bready := port.b.ready
    AxiPins.sample(port.r, rvalid, rready, Seq("data" -> rdata, "resp" -> rresp))
  }

  /** Connects the pins to a slave's port, which they drive. */
  def drives(port: AxiLitePort): Unit = {
    port.aw.valid := awvalid
    port.aw.bits := awaddr
    awready := port.aw.ready
    AxiPins.sample(port.w, wvalid, wready, Seq("data" -> wdata, "strb" -> wstrb))
    port.ar.valid := arvalid
    port.ar.bits := araddr
    arready := port.ar.ready
    bvalid := port.b.valid
    bresp := port.b.bits
    port.b.ready := bready
    AxiPins.drive(port.r, rvalid, rready, Seq("data" -> rdata, "resp" -> rresp))
  }
}

private object AxiPins {
  def address(id: Data, addr: Data, len: Data, size: Data, burst: Data): Seq[(String, Data)] =
    Seq("id" -> id, "addr" -> addr, "len" -> len, "size" -> size, "burst" -> burst)

  /** Drives the pins of a channel from a port's channel. */
  def drive[T <: Bundle](from: DecoupledIO[T], valid: Bool, ready: Bool, pins: Seq[(String, Data)]): Unit = {
    valid := from.valid
    from.ready := ready
    for ((name, pin) <- pins) pin := from.bits.elements(name)
  }

  /** Drives a port's channel from the pins. */
  def sample[T <: Bundle](to: DecoupledIO[T], valid: Bool, ready: Bool, pins: Seq[(String, Data)]): Unit = {
    to.valid := valid
    ready := to.ready
    for ((name, pin) <- pins) to.bits.elements(name) := pin
  }
}
