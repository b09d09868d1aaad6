// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import chisel3._
import chisel3.util._

/** Turns causes of interrupts into message requests, one vector a cause.
  *
  * A vector sends one message when its cause is pending and it is enabled, and no further one until it is acknowledged.
  * Whatever is pending in the cycle after an acknowledge sends again: a notify latch that was hit in the very cycle of
  * its acknowledge stays pending and so loses nothing, one that was not has fallen by then and sends nothing twice. An
  * acknowledge that comes before the message calls it off. A message that is on its way is not taken back, neither by
  * an acknowledge nor by the mask. Vectors take turns.
  *
  * Latency: `message` is valid the cycle after `pending`, when no other vector wants to send. Of `n` vectors that all
  * do, each is out after at most `n` messages, this one included: `n` cycles, times what the taker needs for one.
  *
  * @param vectors causes; of the expander, vector 0 is for errors, 1 + p for pipeline p
  */
class InterruptUnit(vectors: Int) extends Module {
  require(vectors >= 2, s"vectors: 2 or more, not $vectors")

  val io = IO(new Bundle {

    /** Levels. The effect of an acknowledge shows in the next cycle. */
    val pending = Input(Vec(vectors, Bool()))
    val enable = Input(Vec(vectors, Bool()))

    /** Pulses: the vector may send again. */
    val acknowledge = Input(Vec(vectors, Bool()))

    /** Number of a vector; held until taken. */
    val message = Decoupled(UInt(log2Ceil(vectors).W))
  })

  private val turns = Module(new RRArbiter(UInt(log2Ceil(vectors).W), vectors))
  for ((vector, i) <- turns.io.in.zipWithIndex) {
    val sent = RegInit(false.B)
    sent := (sent || vector.fire) && !io.acknowledge(i)
    vector.valid := io.pending(i) && io.enable(i) && !sent && !io.acknowledge(i)
    vector.bits := i.U
  }
  // A place of its own, so that the choice may change until it is made and the message may not.
  io.message <> Queue(turns.io.out, 1, pipe = true)
}
