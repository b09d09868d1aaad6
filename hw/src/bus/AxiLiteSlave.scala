// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.util._

/** One write on an AXI4-Lite port, address and data together. `word`: word address; `strb`: one bit per byte. */
class AxiLiteWrite(wordAddressBits: Int, dataBits: Int) extends Bundle {
  val word = UInt(wordAddressBits.W)
  val data = UInt(dataBits.W)
  val strb = UInt((dataBits / 8).W)
}

/** Slave end of an AXI4-Lite port, for a user that takes one write at a time and answers reads with a fixed latency.
  *
  * An address selects the word that contains it: the strobes, not the low address bits, select the bytes to write.
  *
  * AW and W may come in any order and at any distance. Writes are carried out and answered in order, and so are reads.
  * Between reads and writes the master keeps the order: a read sent after a write's response sees the write.
  * Throughput: one write and one read per cycle. The master may stall responses as long as it likes. No output of the
  * port depends combinationally on an input.
  *
  * Latency: one cycle from the later of AW and W to `write`; one from `written` to B; none from AR to `read`; one from
  * `answer` to R.
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

    /** Responses of the writes, in order. */
    val written = Flipped(Decoupled(UInt(2.W)))

    /** Word address to read. */
    val read = Valid(UInt(wordAddressBits.W))
    val answer = Flipped(Valid(new AxiLiteReadData(dataBits)))
  })

  // Two entries each, so AW and W do not wait for each other to be accepted.
  private val addresses = Queue(io.bus.aw.map(_ >> alignment), 2)
  private val data = Queue(io.bus.w, 2)
  io.write.valid := addresses.valid && data.valid
  io.write.bits.word := addresses.bits
  io.write.bits.data := data.bits.data
  io.write.bits.strb := data.bits.strb
  addresses.ready := io.write.fire
  data.ready := io.write.fire
  io.bus.b <> Queue(io.written, 2)

  // `answer` has no back-pressure, so a read starts only with a credit for a queue entry. A credit is taken for
  // `readLatency` cycles, plus one for the queue and one for the counter.
  private val credits = readLatency + 2
  private val outstanding = RegInit(0.U(log2Ceil(credits + 1).W))
  outstanding := outstanding + io.bus.ar.fire - io.bus.r.fire
  io.bus.ar.ready := outstanding =/= credits.U
  io.read.valid := io.bus.ar.fire
  io.read.bits := io.bus.ar.bits >> alignment

  private val answers = Module(new Queue(new AxiLiteReadData(dataBits), credits))
  answers.io.enq.valid := io.answer.valid
  answers.io.enq.bits := io.answer.bits
  io.bus.r <> answers.io.deq
  assert(!io.answer.valid || answers.io.enq.ready, "an answer without a free entry, or without a read")
}
