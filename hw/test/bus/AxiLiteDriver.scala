// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chiseltest._
import scala.collection.mutable
import scala.util.Random

/** A write to send through an AXI4-Lite port. */
case class LiteWrite(address: BigInt, data: BigInt, strb: Int = 0xff)

/** A response, with the data of a read. */
case class LiteAnswer(resp: Int, data: BigInt, cycle: Int)

/** A master that sends writes and reads. In each cycle, each channel waits with probability `slow` / 8. Responses are
  * in `written` and `answered`, in order.
  */
class AxiLiteDriver(port: AxiLitePort, clock: Clock, seed: Int = 0, slow: Int = 0) {
  private val random = new Random(seed)
  private val aw, w = mutable.Queue[LiteWrite]()
  private val ar = mutable.Queue[BigInt]()
  private var (awOn, wOn, arOn) = (false, false, false)
  val written, answered = mutable.ArrayBuffer[LiteAnswer]()
  var cycle = 0

  /** Called in every cycle, before the clock edge. */
  var each: () => Unit = () => ()

  def write(writes: LiteWrite*): Unit = { aw ++= writes; w ++= writes }
  def read(addresses: BigInt*): Unit = ar ++= addresses

  private def go(): Boolean = random.nextInt(8) >= slow

  /** One cycle. An offer stays until it is accepted. */
  def step(): Unit = {
    awOn ||= aw.nonEmpty && go()
    wOn ||= w.nonEmpty && go()
    arOn ||= ar.nonEmpty && go()
    port.aw.valid.poke(awOn)
    if (awOn) port.aw.bits.poke(aw.head.address)
    port.w.valid.poke(wOn)
    if (wOn) { port.w.bits.data.poke(w.head.data); port.w.bits.strb.poke(w.head.strb) }
    port.ar.valid.poke(arOn)
    if (arOn) port.ar.bits.poke(ar.head)
    val (b, r) = (go(), go())
    port.b.ready.poke(b)
    port.r.ready.poke(r)
    if (b && port.b.valid.peekBoolean()) written += LiteAnswer(port.b.bits.peekInt().toInt, 0, cycle)
    if (r && port.r.valid.peekBoolean())
      answered += LiteAnswer(port.r.bits.resp.peekInt().toInt, port.r.bits.data.peekInt(), cycle)
    if (awOn && port.aw.ready.peekBoolean()) { aw.dequeue(); awOn = false }
    if (wOn && port.w.ready.peekBoolean()) { w.dequeue(); wOn = false }
    if (arOn && port.ar.ready.peekBoolean()) { ar.dequeue(); arOn = false }
    each()
    clock.step()
    cycle += 1
  }

  /** Steps until `writes` writes and `reads` reads are answered. */
  def finish(writes: Int, reads: Int, limit: Int = 2000): Unit = {
    val end = cycle + limit
    while ((written.length < writes || answered.length < reads) && cycle < end) step()
    assert(written.length == writes && answered.length == reads, s"after $cycle cycles")
  }
}
