// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._

/** What a transfer asks for. */
class CrossingCommand(addressBits: Int, dataBits: Int) extends Bundle {
  val write = Bool()
  val address = UInt(addressBits.W)
  val data = UInt(dataBits.W)
  val strb = UInt((dataBits / 8).W)
}

/** What comes of it. `response` is encoded as in AXI. */
class CrossingAnswer(dataBits: Int) extends Bundle {
  val data = UInt(dataBits.W)
  val response = UInt(2.W)
}

/** The wires between the two halves of an [[AvalonCrossing]], seen from the host's. Every one is a register; the levels
  * pass [[Synchronizer]] on the other side.
  *
  * A transfer is a handshake of four phases: `request` rises, `done` rises, `request` falls, `done` falls. `command` is
  * still while `request` is up, `answer` while `done` is; nobody looks at them at other times.
  *
  * Either side may be reset by itself, in the middle of it. Before the first transfer, and when one side finds that the
  * other one was reset, they agree that nothing is under way:
  *
  * | `flushed`, `up` | the device's side                                      |
  * | --------------- | ------------------------------------------------------ |
  * | 0, 0            | was reset; takes nothing until it has seen `flush`      |
  * | 1, 0            | has seen `flush` without `request`, nothing is under way |
  * | 1, 1            | has seen the end of `flush`; takes requests             |
  */
class CrossingLink(addressBits: Int, dataBits: Int) extends Bundle {
  val flush = Output(Bool())
  val request = Output(Bool())
  val command = Output(new CrossingCommand(addressBits, dataBits))
  val flushed = Input(Bool())
  val up = Input(Bool())
  val done = Input(Bool())
  val answer = Input(new CrossingAnswer(dataBits))
}
