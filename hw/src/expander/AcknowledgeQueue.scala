// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{BitFlipInjector, MemoryFault, ProtectedQueue, Secded}
import anemone.nemo.{LineAddress, LineWordRead}
import chisel3._
import chisel3.util._

/** Lines that software wrote back, until the engine has subtracted them. A line enters whole and is read by words, so
  * that one decoder does for all.
  *
  * Words and addresses are stored with a code ([[Secded]]). A word is corrected on each read; a fault is reported on
  * the first. A line whose address has an uncorrectable error is `bad` at `deq`; one whose word has is found by its
  * reader.
  *
  * Latency: one cycle from `enq` to `deq` if the queue is empty, else two; of the words that of [[LineWordRead]].
  *
  * @param entries lines
  */
class AcknowledgeQueue(p: ExpanderParams, entries: Int) extends Module {
  val io = IO(new Bundle {
    val enq = Flipped(Decoupled(new LineAddress(p.nemo)))

    /** The words of the line at `enq`. */
    val line = Input(Vec(p.nemo.lineWords, UInt(p.nemo.wordBits.W)))
    val deq = Decoupled(new LineAddress(p.nemo))

    /** Of the line at `deq`. */
    val words = Flipped(new LineWordRead(p.nemo))
    val bad = Output(Bool())

    /** Of the line at `deq`. */
    val fault = Output(new MemoryFault)

    /** Flip one bit, or two, of the next line's first word. */
    val inject = Flipped(Valid(Bool()))
  })
  private val addresses = Module(new ProtectedQueue(new LineAddress(p.nemo), entries, flow = true))
  addresses.io.enq <> io.enq
  addresses.io.inject := 0.U.asTypeOf(addresses.io.inject)
  io.deq <> addresses.io.deq
  io.bad := addresses.io.bad

  // The code of a line has its words as parts.
  private val code = new Secded(p.nemo.lineWords * p.nemo.wordBits)
  private val wordCode = new Secded(p.nemo.wordBits)
  private val lines = Module(new Queue(UInt(code.bits.W), entries))
  private val words = VecInit(code.split(lines.io.deq.bits))
  require(words.length == p.nemo.lineWords && words.head.getWidth == wordCode.bits)
  private val flip = Module(new BitFlipInjector)
  flip.io.arm := io.inject
  flip.io.stores := io.enq.fire
  lines.io.enq.valid := io.enq.fire
  lines.io.enq.bits := code.encode(io.line.asUInt) ^ flip.io.flips
  lines.io.deq.ready := io.deq.fire
  assert(lines.io.enq.ready || !io.enq.fire, "a line without a free entry")
  assert(lines.io.deq.valid || !io.deq.valid, "an address without its line")

  private val (word, check) = wordCode.decode(RegNext(words(io.words.index)))
  private val found = RegNext(check).fault
  io.words.word := RegNext(word)
  io.words.lost := found.uncorrected
  private val isFirst = ShiftRegister(io.words.first, LineWordRead.latency, false.B, true.B)
  io.fault := (addresses.io.fault.asUInt | Mux(isFirst, found.asUInt, 0.U)).asTypeOf(new MemoryFault)
}
