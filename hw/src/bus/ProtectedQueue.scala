// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.util._

/** A queue whose items are stored in a memory with a code ([[Secded]]).
  *
  * Latency: two cycles, and one more for each of `registers`. Throughput: one item per cycle. Holds `entries` + 1 items,
  * and one more in each of `registers`. `deq` is a register.
  *
  * @param flow an item that finds the queue empty goes straight to the output register, in one cycle, and skips the
  *             memory
  * @param code false only in proofs of its users, since their solver cannot handle codes: a plain queue of one item
  *             less that replaces one with `flow`
  * @param registers between memory and code: for wide items one, for block RAM, which answers late,
  *                  [[ProtectedQueue.ofBlockRam]]
  * @param gates memory and registers have a [[ClockGate]] each, and a clock only when an item enters or leaves them
  */
class ProtectedQueue[T <: Data](
    gen: T,
    entries: Int,
    flow: Boolean = false,
    code: Boolean = true,
    registers: Int = 0,
    gates: Boolean = false
) extends Module {
  require(code || flow, "code: without one only in place of one with flow")
  val io = IO(new Bundle {
    val enq = Flipped(Decoupled(gen))
    val deq = Decoupled(gen)

    /** The item at `deq` has an uncorrectable error. */
    val bad = Output(Bool())

    /** Fault of an item, for one cycle: the cycle in which it reaches `deq`. */
    val fault = Output(new MemoryFault)

    /** Items in the queue. */
    val count = Output(UInt(log2Ceil(entries + registers + 2).W))

    /** Flip one bit, or two, of the next item that is stored. */
    val inject = Flipped(Valid(Bool()))
  })
  if (code) coded() else plain()

  private def coded(): Unit = {
    val code = new Secded(gen.getWidth)
    def gated(pipe: Boolean, entries: Int): Queue[UInt] = {
      val moves = Wire(Bool())
      val queue = withClock(ClockGate.during(gates, moves))(Module(new Queue(UInt(code.bits.W), entries, pipe = pipe)))
      moves := queue.io.enq.fire || queue.io.deq.fire
      queue
    }
    val queue = gated(pipe = false, entries).suggestName("queue")
    val flip = Module(new BitFlipInjector).suggestName("flip")
    flip.io.arm := io.inject
    flip.io.stores := queue.io.enq.fire
    queue.io.enq.bits := code.encode(io.enq.bits.asUInt) ^ flip.io.flips
    io.enq.ready := queue.io.enq.ready

    def stage(from: DecoupledIO[UInt]): DecoupledIO[UInt] = {
      val register = gated(pipe = true, 1)
      register.io.enq <> from
      register.io.deq
    }
    val stages = Iterator.iterate[DecoupledIO[UInt]](queue.io.deq)(stage).take(registers + 1).toSeq
    val stored = stages.last
    val (data, check) = code.decode(stored.bits)
    val valid = RegInit(false.B)
    val free = io.deq.ready || !valid
    val leaves = stored.fire
    // Items in the memory and the registers behind it.
    val inside = RegInit(0.U(log2Ceil(entries + registers + 1).W))
    val enters = queue.io.enq.fire
    when(enters =/= leaves) { inside := Mux(enters, inside + 1.U, inside - 1.U) }
    // A register, since every bit of the item waits for it.
    val empty = if (flow) RegNext(!enters && inside === leaves, true.B) else false.B
    val passes = io.enq.valid && free && empty
    queue.io.enq.valid := io.enq.valid && !passes
    stored.ready := free
    valid := leaves || passes || (valid && !io.deq.ready)
    io.deq.valid := valid
    io.deq.bits := RegEnable(Mux(empty, io.enq.bits.asUInt, data), leaves || passes).asTypeOf(gen)
    // What was found in the item at `deq`, if it has been in the memory.
    val found = RegEnable(check, leaves).fault
    val wasStored = RegEnable(leaves, leaves || passes)
    io.bad := found.uncorrected && wasStored
    io.fault := Mux(RegNext(leaves, false.B), found, 0.U.asTypeOf(found))
    io.count := inside +& valid
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

object ProtectedQueue {

  /** Registers behind block RAM. Synthesis makes the first the RAM's own. */
  val ofBlockRam: Int = 2
}
