// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.util._

/** A queue whose items are stored in a memory with a code ([[Secded]]).
  *
  * Latency: two cycles. Throughput: one item per cycle. Holds `entries` + 1 items. `deq` is a register.
  *
  * @param flow an item that finds the queue empty goes straight to the output register, in one cycle, and skips the
  *             memory
  * @param code false only in proofs of its users, since their solver cannot handle codes: a plain queue of one item
  *             less that replaces one with `flow`
  */
class ProtectedQueue[T <: Data](gen: T, entries: Int, flow: Boolean = false, code: Boolean = true) extends Module {
  require(code || flow, "code: without one only in place of one with flow")
  val io = IO(new Bundle {
    val enq = Flipped(Decoupled(gen))
    val deq = Decoupled(gen)

    /** The item at `deq` has an uncorrectable error. */
    val bad = Output(Bool())

    /** Fault of an item, for one cycle: the cycle in which it reaches `deq`. */
    val fault = Output(new MemoryFault)

    /** Items in the queue. */
    val count = Output(UInt(log2Ceil(entries + 2).W))

    /** Flip one bit, or two, of the next item that is stored. */
    val inject = Flipped(Valid(Bool()))
  })
  if (code) coded() else plain()

  private def coded(): Unit = {
    val code = new Secded(gen.getWidth)
    val queue = Module(new Queue(UInt(code.bits.W), entries)).suggestName("queue")
    val flip = Module(new BitFlipInjector).suggestName("flip")
    flip.io.arm := io.inject
    flip.io.stores := queue.io.enq.fire
    queue.io.enq.bits := code.encode(io.enq.bits.asUInt) ^ flip.io.flips
    io.enq.ready := queue.io.enq.ready

    val (data, fault) = code.decode(queue.io.deq.bits)
    val valid = RegInit(false.B)
    val free = io.deq.ready || !valid
    val passes = if (flow) io.enq.valid && free && !queue.io.deq.valid else false.B
    queue.io.enq.valid := io.enq.valid && !passes
    queue.io.deq.ready := free
    val leaves = queue.io.deq.fire
    valid := leaves || passes || (valid && !io.deq.ready)
    io.deq.valid := valid
    io.deq.bits := RegEnable(if (flow) Mux(passes, io.enq.bits.asUInt, data) else data, leaves || passes).asTypeOf(gen)
    val found = Mux(leaves, fault, 0.U.asTypeOf(fault))
    io.bad := RegEnable(found.uncorrected, leaves || passes)
    io.fault := RegNext(found, 0.U.asTypeOf(fault))
    io.count := queue.io.count +& valid
  }

  private def plain(): Unit = {
    val queue = Module(new Queue(gen, entries, pipe = true)).suggestName("queue")
    queue.io.enq <> io.enq
    io.deq <> queue.io.deq
    io.bad := false.B
    io.fault := 0.U.asTypeOf(io.fault)
    io.count := queue.io.count
  }
}
