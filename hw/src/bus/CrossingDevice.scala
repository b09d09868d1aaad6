// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._

/** Half of an [[AvalonCrossing]] in the device's clock: issues one transfer at a time. Its slave must be reset with it;
  * otherwise a response from before the reset would be taken for a later one.
  */
class CrossingDevice(addressBits: Int, dataBits: Int) extends Module {
  val io = IO(new Bundle {
    val link = Flipped(new CrossingLink(addressBits, dataBits))
    val avalon = new AvalonPort(addressBits, dataBits)
  })
  private val flush = Synchronizer(io.link.flush)
  private val request = Synchronizer(io.link.request)

  private val flushed = RegInit(false.B)
  private val up = RegInit(false.B)
  private val done = RegInit(false.B)
  private val issue = RegInit(false.B)
  private val waiting = RegInit(false.B)
  private val command = Reg(new CrossingCommand(addressBits, dataBits))
  private val answer = Reg(new CrossingAnswer(dataBits))
  io.link.flushed := flushed
  io.link.up := up
  io.link.done := done
  io.link.answer := answer

  private val idle = !issue && !waiting
  when(up && request && !flush && idle && !done) {
    command := io.link.command
    issue := true.B
  }
  io.avalon.read := issue && !command.write
  io.avalon.write := issue && command.write
  io.avalon.address := command.address
  io.avalon.writedata := command.data
  io.avalon.byteenable := command.strb
  when(issue && !io.avalon.waitrequest) {
    issue := false.B
    waiting := true.B
  }
  when(!request) { done := false.B }
  when(waiting && (io.avalon.readdatavalid || io.avalon.writeresponsevalid)) {
    waiting := false.B
    done := true.B
    answer.data := io.avalon.readdata
    answer.response := io.avalon.response
  }

  when(flushed && !up) {
    up := !flush
  }.elsewhen(flush && !request && idle) {
    flushed := true.B
    up := false.B
    done := false.B
  }
}
