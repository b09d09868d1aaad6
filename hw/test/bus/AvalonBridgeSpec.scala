// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chiseltest._
import org.scalatest.flatspec.AnyFlatSpec
import scala.collection.mutable
import scala.util.Random

class AvalonBridgeSpec extends AnyFlatSpec with ChiselScalatestTester {
  private val words = 16
  private val verilator = Seq(VerilatorBackendAnnotation)
  private val ones = (BigInt(1) << 64) - 1

  private def bytes(strb: Int): BigInt = (0 until 8).filter(b => (strb >> b) % 2 == 1).map(BigInt(0xff) << 8 * _).sum

  /** A slave on the bridge's AXI side, with random delays; its last two words respond with an error. */
  private class Slave(port: AxiLitePort, random: Random, slow: Int) {
    private val memory = Array.fill(words)(BigInt(0))
    private val aw, ar = mutable.Queue[Int]()
    private val w = mutable.Queue[(BigInt, Int)]()
    private val b = mutable.Queue[Int]()
    private val r = mutable.Queue[(BigInt, Int)]()
    private var (bOn, rOn) = (false, false)
    private def go() = random.nextInt(8) >= slow
    private def resp(word: Int) = if (word >= words - 2) Axi4.Resp.SlvErr else Axi4.Resp.Okay

    /** Drives a cycle, before the clock edge. */
    def cycle(): Unit = {
      if (aw.nonEmpty && w.nonEmpty && go()) {
        val (word, (data, strb)) = (aw.dequeue(), w.dequeue())
        memory(word) = (memory(word) & (ones ^ bytes(strb))) | (data & bytes(strb))
        b += resp(word)
      }
      if (ar.nonEmpty && go()) {
        val word = ar.dequeue()
        r += (memory(word) -> resp(word))
      }
      bOn ||= b.nonEmpty && go()
      rOn ||= r.nonEmpty && go()
      port.b.valid.poke(bOn)
      if (bOn) port.b.bits.poke(b.head)
      port.r.valid.poke(rOn)
      if (rOn) { port.r.bits.data.poke(r.head._1); port.r.bits.resp.poke(r.head._2) }
      if (bOn) { b.dequeue(); bOn = false }
      if (rOn) { r.dequeue(); rOn = false }
      val ready = Seq.fill(3)(go())
      port.aw.ready.poke(ready(0))
      port.w.ready.poke(ready(1))
      port.ar.ready.poke(ready(2))
      if (ready(0) && port.aw.valid.peekBoolean()) aw += wordIndex(port.aw.bits)
      if (ready(1) && port.w.valid.peekBoolean())
        w += (port.w.bits.data.peekInt() -> port.w.bits.strb.peekInt().toInt)
      if (ready(2) && port.ar.valid.peekBoolean()) ar += wordIndex(port.ar.bits)
    }
    private def wordIndex(address: UInt): Int = {
      val byte = address.peekInt().toInt
      assert(byte % 8 == 0, "an address on AXI is a word's")
      byte / 8
    }
  }

  behavior of "AvalonBridge"
  for ((slow, seed) <- Seq(0, 2, 4, 6).zipWithIndex) {
    it should s"keep one order of reads and writes, with waits of $slow in eight" in {
      test(new AvalonBridge(22, 64)).withAnnotations(verilator) { dut =>
        val random = new Random(seed)
        val slave = new Slave(dut.io.axi, random, slow)
        val avalon = dut.io.avalon
        val model = Array.fill(words)(BigInt(0))
        val reads = mutable.Queue[(BigInt, Int)]()
        val writes = mutable.Queue[Int]()
        var (answers, sent) = (0, 0)
        var (busy, isRead) = (false, false)
        var (word, data, strb) = (0, BigInt(0), 0)
        for (cycle <- 0 until 6000) {
          if (!busy && cycle < 5800 && random.nextInt(8) >= slow / 2) {
            busy = true
            isRead = if (random.nextInt(4) == 0) !isRead else isRead
            word = random.nextInt(words)
            data = BigInt(64, random)
            strb = random.nextInt(256)
            avalon.address.poke(8 * word + random.nextInt(8))
            avalon.writedata.poke(data)
            avalon.byteenable.poke(strb)
          }
          avalon.read.poke(busy && isRead)
          avalon.write.poke(busy && !isRead)
          slave.cycle()
          val resp = if (word >= words - 2) Axi4.Resp.SlvErr else Axi4.Resp.Okay
          if (avalon.readdatavalid.peekBoolean()) {
            assert(!avalon.writeresponsevalid.peekBoolean())
            val (expected, response) = reads.dequeue()
            assert(avalon.readdata.peekInt() == expected && avalon.response.peekInt() == response)
            answers += 1
          }
          if (avalon.writeresponsevalid.peekBoolean()) {
            assert(avalon.response.peekInt() == writes.dequeue())
            answers += 1
          }
          if (busy && !avalon.waitrequest.peekBoolean()) {
            if (isRead) reads += (model(word) -> resp)
            else {
              model(word) = (model(word) & (ones ^ bytes(strb))) | (data & bytes(strb))
              writes += resp
            }
            busy = false
            sent += 1
          }
          dut.clock.step()
        }
        assert(answers == sent && answers > 300, s"$answers answers to $sent")
      }
    }
  }

  it should "reach the registers in the cycles that it promises, one a cycle" in {
    test(new Module {
      val io = IO(Flipped(new AvalonPort(22, 64)))
      private val bridge = Module(new AvalonBridge(22, 64))
      bridge.io.avalon <> io
      private val map = new RegisterMap(bridge.io.axi)
      private val value = RegInit(0.U(64.W))
      map.storage(0, 0 -> value)
      map.connect()
    }).withAnnotations(verilator) { dut =>
      def burst(strobe: Bool, answer: Bool): Seq[Int] =
        (0 until 40).filter { cycle =>
          strobe.poke(cycle < 20)
          assert(cycle >= 20 || !dut.io.waitrequest.peekBoolean(), s"waits in cycle $cycle")
          val valid = answer.peekBoolean()
          dut.clock.step()
          valid
        }
      dut.io.byteenable.poke(0xff)
      assert(burst(dut.io.write, dut.io.writeresponsevalid) == (0 until 20).map(_ + RegisterMap.writeLatency + 2))
      assert(burst(dut.io.read, dut.io.readdatavalid) == (0 until 20).map(_ + RegisterMap.readLatency + 2))
    }
  }
}
