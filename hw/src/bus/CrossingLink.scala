// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._

/** Request of a transfer. */
class CrossingCommand(addressBits: Int, dataBits: Int) extends Bundle {
  val write = Bool()
  val address = UInt(addressBits.W)
  val data = UInt(dataBits.W)
  val strb = UInt((dataBits / 8).W)
}

/** Response of a transfer. `response` is encoded as in AXI. */
class CrossingAnswer(dataBits: Int) extends Bundle {
  val data = UInt(dataBits.W)
  val response = UInt(2.W)
}

/** Wires between the two halves of an [[AvalonCrossing]], seen from the host's half. Each is a register; the levels
  * pass a [[Synchronizer]] on the other side.
  *
  * A transfer is a four-phase handshake: `request` rises, `done` rises, `request` falls, `done` falls. `command` is
  * stable while `request` is high and `answer` while `done` is high; they are not sampled at other times.
  *
  * Either side may be reset alone, even during a transfer. Before the first transfer, and when one side detects a reset
  * of the other, they agree that nothing is outstanding:
  *
  * | `flushed`, `up` | device side                                                |
  * | --------------- | ---------------------------------------------------------- |
  * | 0, 0            | was reset; accepts nothing until it has seen `flush`       |
  * | 1, 0            | has seen `flush` without `request`; nothing is outstanding |
  * | 1, 1            | has seen the end of `flush`; accepts requests              |
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
