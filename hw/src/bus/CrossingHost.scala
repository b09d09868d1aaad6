// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.util.log2Ceil

/** Half of an [[AvalonCrossing]] in the host's clock.
  *
  * `waitrequest` stays high until the transfer is done, so a transfer that a reset of the other side interrupts is
  * simply repeated. The response follows one cycle after acceptance.
  */
class CrossingHost(addressBits: Int, dataBits: Int) extends Module {
  val io = IO(new Bundle {
    val avalon = Flipped(new AvalonPort(addressBits, dataBits))
    val link = new CrossingLink(addressBits, dataBits)
  })
  private val flushed = Synchronizer(io.link.flushed)
  private val up = Synchronizer(io.link.up)
  private val done = Synchronizer(io.link.done)

  private val flush = RegInit(true.B)
  private val open = RegInit(false.B)
  private val request = RegInit(false.B)
  private val finish = RegInit(false.B)
  private val command = Reg(new CrossingCommand(addressBits, dataBits))
  private val answer = Reg(new CrossingAnswer(dataBits))
  io.link.flush := flush
  io.link.request := request
  io.link.command := command

  // A new transfer starts only after `done` of the last one has fallen, which also prevents issuing one twice.
  private val wanted = io.avalon.read || io.avalon.write
  finish := request && done
  when(open && wanted && !request && !done && !finish) {
    request := true.B
    command.write := io.avalon.write
    command.address := io.avalon.address
    command.data := io.avalon.writedata
    command.strb := io.avalon.byteenable
  }
  when(request && done) {
    request := false.B
    answer := io.link.answer
  }

  // `flush` is held until the device has surely seen it, so the device's state then answers this flush and not one that
  // a reset cut short.
  private val hold = RegInit(0.U(log2Ceil(CrossingHost.holdCycles).W))
  hold := Mux(flush && !hold.andR, hold + 1.U, hold)
  when(flush) {
    when(hold.andR && flushed && !up) {
      flush := false.B
      hold := 0.U
    }
  }.elsewhen(flushed && up) {
    open := true.B
  }.elsewhen(open || !flushed) {
    // The other side was reset.
    flush := true.B
    open := false.B
    request := false.B
  }

  io.avalon.waitrequest := !finish
  io.avalon.readdatavalid := RegNext(finish && io.avalon.read, false.B)
  io.avalon.writeresponsevalid := RegNext(finish && io.avalon.write, false.B)
  io.avalon.readdata := answer.data
  io.avalon.response := answer.response
}

object CrossingHost {

  /** Cycles of the host's clock that a flush lasts: more than eight of the device's clock. */
  val holdCycles: Int = 64
}
