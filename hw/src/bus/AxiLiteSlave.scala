// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.util._

/** One write of an AXI4-Lite port, address and data together. `word`: the address in words; `strb`: a bit a byte. */
class AxiLiteWrite(wordAddressBits: Int, dataBits: Int) extends Bundle {
  val word = UInt(wordAddressBits.W)
  val data = UInt(dataBits.W)
  val strb = UInt((dataBits / 8).W)
}

/** The slave end of an AXI4-Lite port, for anything that takes writes one by one and answers reads in a fixed time.
  *
  * An address means the word that it is in: strobes, and not its lowest bits, say which bytes are written.
  *
  * AW and W may come in any order and any distance. Writes keep their order and are answered one by one, in it; reads
  * theirs. Between reads and writes there is no order but the master's: a read that is sent after a write's answer
  * sees the write. One write and one read a cycle can be sustained, and a master may be as slow as it likes to take
  * the answers. No output of the port depends on an input in the same cycle.
  *
  * Latency: AW and W to `write`, one cycle after the later of them; `written` to B, one cycle; AR to `read`, none;
  * `answer` to R, one cycle.
  *
  * @param readLatency cycles from `read` to `answer`
  */
class AxiLiteSlave(addressBits: Int, dataBits: Int, readLatency: Int) extends Module {
  require(readLatency >= 1, s"readLatency: 1 or more, not $readLatency")

  private val alignment = log2Ceil(dataBits / 8)
  private val wordAddressBits = addressBits - alignment

  val io = IO(new Bundle {
    val bus = Flipped(new AxiLitePort(addressBits, dataBits))
    val write = Decoupled(new AxiLiteWrite(wordAddressBits, dataBits))

    /** Response of a write, in the writes' order. */
    val written = Flipped(Decoupled(UInt(2.W)))

    /** The word that is read. */
    val read = Valid(UInt(wordAddressBits.W))
    val answer = Flipped(Valid(new AxiLiteReadData(dataBits)))
  })

  // Two places each, so that neither side waits for the other to take what is there.
  private val addresses = Queue(io.bus.aw.map(_ >> alignment), 2)
  private val data = Queue(io.bus.w, 2)
  io.write.valid := addresses.valid && data.valid
  io.write.bits.word := addresses.bits
  io.write.bits.data := data.bits.data
  io.write.bits.strb := data.bits.strb
  addresses.ready := io.write.fire
  data.ready := io.write.fire
  io.bus.b <> Queue(io.written, 2)

  // An answer cannot wait, so a read starts only when its answer has a place: from AR to a place that is free
  // again, a read takes `readLatency` cycles, the queue's and one to count.
  private val places = readLatency + 2
  private val underWay = RegInit(0.U(log2Ceil(places + 1).W))
  underWay := underWay + io.bus.ar.fire - io.bus.r.fire
  io.bus.ar.ready := underWay =/= places.U
  io.read.valid := io.bus.ar.fire
  io.read.bits := io.bus.ar.bits >> alignment

  private val answers = Module(new Queue(new AxiLiteReadData(dataBits), places))
  answers.io.enq.valid := io.answer.valid
  answers.io.enq.bits := io.answer.bits
  io.bus.r <> answers.io.deq
  assert(!io.answer.valid || answers.io.enq.ready, "an answer without a place, or without a read")
}
