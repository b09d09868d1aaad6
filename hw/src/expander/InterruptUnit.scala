// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import chisel3._
import chisel3.util._

/** Turns interrupt causes into message requests, one vector per cause.
  *
  * A vector sends one message when it is pending and enabled, and no more until it is acknowledged. If it is still
  * pending in the cycle after the acknowledge, it sends again. So a notify latch that is hit in the cycle of its
  * acknowledge stays pending and loses nothing, and one that was not hit has cleared by then and sends nothing twice.
  * An acknowledge that comes before the message cancels it. Neither an acknowledge nor the mask recalls a message that
  * is already at the output. Vectors are served round-robin.
  *
  * Latency: one cycle from `pending` to `message` if no other vector wants to send. If `n` vectors want to send, each
  * is sent within `n` messages, itself included: `n` cycles, times what the receiver needs per message.
  *
  * @param vectors number of causes; in the expander, vector 0 is for errors and 1 + p for pipeline p
  */
class InterruptUnit(vectors: Int) extends Module {
  require(vectors >= 2, s"vectors: 2 or more, not $vectors")

  val io = IO(new Bundle {

    /** Levels. An acknowledge must take effect on them in the next cycle. */
    val pending = Input(Vec(vectors, Bool()))
    val enable = Input(Vec(vectors, Bool()))

    /** Pulses that allow the vector to send again. */
    val acknowledge = Input(Vec(vectors, Bool()))

    /** Vector number; stable until accepted. */
    val message = Decoupled(UInt(log2Ceil(vectors).W))

    /** Something changes in this cycle, or a message waits. */
    val busy = Output(Bool())
  })

  private val arbiter = Module(new RRArbiter(UInt(log2Ceil(vectors).W), vectors))
  for ((vector, i) <- arbiter.io.in.zipWithIndex) {
    val sent = RegInit(false.B)
    sent := (sent || vector.fire) && !io.acknowledge(i)
    vector.valid := io.pending(i) && io.enable(i) && !sent && !io.acknowledge(i)
    vector.bits := i.U
  }
  // Registered, so the arbiter may change its choice while the message stays stable.
  io.message <> Queue(arbiter.io.out, 1, pipe = true)
  io.busy := arbiter.io.out.valid || io.message.valid || io.acknowledge.reduce(_ || _)
}
