// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.util._

/** A queue whose items have a code ([[Secded]]) while they wait, for those that are long enough to be memories.
  *
  * Latency: two cycles; one item a cycle. Holds one item more than `entries`. `deq` is a register.
  */
class ProtectedQueue[T <: Data](gen: T, entries: Int) extends Module {
  val io = IO(new Bundle {
    val enq = Flipped(Decoupled(gen))
    val deq = Decoupled(gen)

    /** Of an item, in one cycle: that in which it comes to `deq`. */
    val fault = Output(new MemoryFault)

    /** Flip a bit, or two, of the item that comes next. */
    val inject = Flipped(Valid(Bool()))
  })
  private val code = new Secded(gen.getWidth)
  private val queue = Module(new Queue(UInt(code.bits.W), entries))
  private val flip = Module(new FlipNext)
  flip.io.arm := io.inject
  flip.io.stores := io.enq.fire
  queue.io.enq.valid := io.enq.valid
  queue.io.enq.bits := code.encode(io.enq.bits.asUInt) ^ flip.io.flips
  io.enq.ready := queue.io.enq.ready

  private val (data, fault) = code.decode(queue.io.deq.bits)
  private val valid = RegInit(false.B)
  private val moves = queue.io.deq.fire
  queue.io.deq.ready := io.deq.ready || !valid
  valid := queue.io.deq.valid || (valid && !io.deq.ready)
  io.deq.valid := valid
  io.deq.bits := RegEnable(data, moves).asTypeOf(gen)
  io.fault := RegNext(Mux(moves, fault, 0.U.asTypeOf(fault)), 0.U.asTypeOf(fault))
}
