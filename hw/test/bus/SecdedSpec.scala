// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chiseltest._
import org.scalatest.flatspec.AnyFlatSpec
import scala.util.Random

/** Encodes a word, flips some bits, and decodes it. */
class SecdedPins(width: Int) extends Module {
  val code = new Secded(width)
  val word = IO(Input(UInt(width.W)))
  val flips = IO(Input(UInt(code.bits.W)))
  val data = IO(Output(UInt(width.W)))
  val fault = IO(Output(new MemoryFault))
  private val (decoded, check) = code.decode(code.encode(word) ^ flips)
  data := decoded
  fault := check.fault
}

class SecdedSpec extends AnyFlatSpec with ChiselScalatestTester {
  behavior of "Secded"

  private val random = new Random(1)

  for (width <- Seq(1, 9, 64, 72, 73, 136)) {
    it should s"correct any flipped bit and notice any two of a part, of $width bits" in {
      test(new SecdedPins(width)) { dut =>
        def read(flips: BigInt): (Boolean, Boolean, Boolean) = {
          dut.flips.poke(flips)
          val same = dut.data.peek().litValue == dut.word.peek().litValue
          (same, dut.fault.corrected.peekBoolean(), dut.fault.uncorrected.peekBoolean())
        }
        val bits = dut.code.bits
        for (_ <- 0 until 2) {
          dut.word.poke(BigInt(width, random))
          assert(read(0) == ((true, false, false)))
          for (bit <- 0 until bits) assert(read(BigInt(1) << bit) == ((true, true, false)), s"bit $bit")
        }
        // Two flipped bits in one part are detected; in two parts, each is corrected.
        var detected = 0
        for (_ <- 0 until 400) {
          dut.word.poke(BigInt(width, random))
          val (one, other) = (random.nextInt(bits), random.nextInt(bits))
          if (one != other) {
            val (same, corrected, uncorrected) = read((BigInt(1) << one) | (BigInt(1) << other))
            assert(uncorrected || (same && corrected && width > 72), s"bits $one, $other")
            if (uncorrected) detected += 1
          }
        }
        assert(detected > 50)
      }
    }
  }

  it should "have different columns of odd weight, and no more check bits than needed" in {
    for ((bits, checkBits) <- Seq(1 -> 3, 4 -> 4, 5 -> 5, 11 -> 5, 12 -> 6, 57 -> 7, 64 -> 8, 72 -> 8)) {
      val code = ColumnCode.secded(bits)
      assert(code.checkBits == checkBits && code.columns.length == bits)
      assert(code.columns.forall(c => Integer.bitCount(c) % 2 == 1 && Integer.bitCount(c) > 1))
    }
    assertThrows[IllegalArgumentException](new ColumnCode(Seq(3, 3), 2))
  }

  behavior of "ProtectedRam"

  it should "answer three cycles later, and flip what it is told to, once" in {
    test(new ProtectedRam(8, 70)) { dut =>
      def write(address: Int, data: BigInt): Unit = {
        dut.io.write.valid.poke(true)
        dut.io.write.bits.address.poke(address)
        dut.io.write.bits.data.poke(data)
        dut.clock.step()
        dut.io.write.valid.poke(false)
      }
      val words = Seq.fill(8)(BigInt(70, random))
      for ((word, k) <- words.zipWithIndex) {
        if (k == 2 || k == 5) {
          dut.io.inject.valid.poke(true)
          dut.io.inject.bits.poke(k == 5)
          dut.clock.step()
          dut.io.inject.valid.poke(false)
        }
        write(k, word)
      }
      for (cycle <- 0 until 8 + ProtectedRam.latency) {
        dut.io.read.valid.poke(cycle < 8)
        dut.io.read.bits.poke(cycle.min(7))
        val k = cycle - ProtectedRam.latency
        dut.io.fault.corrected.expect(k == 2)
        dut.io.fault.uncorrected.expect(k == 5)
        if (k != 5) dut.io.data.expect(if (k >= 0) words(k) else BigInt(0))
        dut.clock.step()
      }
    }
  }

  behavior of "ProtectedQueue"

  for ((flow, registers) <- Seq((false, 0), (true, 0), (true, 1), (true, ProtectedQueue.ofBlockRam)))
    it should s"keep order and contents, and flip what it is told to, once: flow $flow, registers $registers" in {
      test(new ProtectedQueue(UInt(20.W), 16, flow, registers = registers)) { dut =>
        val waiting = scala.collection.mutable.Queue[BigInt]()
        var (items, corrected) = (0, 0)
        for (cycle <- 0 until 600) {
          val offers = random.nextInt(3) > 0
          val word = BigInt(20, random)
          dut.io.enq.valid.poke(offers)
          dut.io.enq.bits.poke(word)
          dut.io.inject.valid.poke(cycle % 100 == 50)
          dut.io.inject.bits.poke(false)
          dut.io.deq.ready.poke(random.nextInt(3) > 0 || cycle > 560)
          if (dut.io.deq.valid.peekBoolean() && dut.io.deq.ready.peekBoolean()) {
            dut.io.deq.bits.expect(waiting.dequeue())
            items += 1
          }
          if (offers && dut.io.enq.ready.peekBoolean()) waiting.enqueue(word)
          if (dut.io.fault.corrected.peekBoolean()) corrected += 1
          dut.io.fault.uncorrected.expect(false)
          dut.clock.step()
        }
        assert(items > 300 && corrected == 6)
        // Consecutive items into an empty queue: when they leave, and which passed through the memory.
        dut.io.enq.valid.poke(false)
        dut.clock.step(20)
        dut.io.inject.valid.poke(true)
        dut.io.inject.bits.poke(true)
        dut.clock.step()
        dut.io.inject.valid.poke(false)
        dut.io.deq.ready.poke(false)
        dut.io.deq.valid.expect(false)
        for (word <- 1 to 2) {
          dut.io.enq.valid.poke(true)
          dut.io.enq.bits.poke(word)
          dut.io.deq.valid.expect(flow && word == 2)
          dut.clock.step()
        }
        dut.io.enq.valid.poke(false)
        if (registers > 0) dut.clock.step(registers)
        dut.io.deq.valid.expect(true)
        dut.io.bad.expect(!flow)
        dut.io.deq.ready.poke(true)
        dut.clock.step()
        dut.io.bad.expect(flow)
        dut.io.fault.uncorrected.expect(flow)
        dut.clock.step()
        dut.io.deq.valid.expect(false)
      }
    }
}
