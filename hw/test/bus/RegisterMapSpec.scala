// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.util._
import chiseltest._
import org.scalatest.flatspec.AnyFlatSpec
import scala.collection.mutable
import scala.util.Random

/** A map with every kind of register: constants in three blocks, storage, flags, a pulse, a command, a memory of three
  * words.
  */
class ExampleMap extends Module {
  val io = IO(new Bundle {
    val bus = Flipped(new AxiLitePort(12, 64))
    val set = Input(UInt(5.W))
    val pulse = Output(UInt(16.W))
    val command = Decoupled(UInt(6.W))
    val memory = Decoupled(new Bundle {
      val index = UInt(2.W)
      val low = UInt(8.W)
      val high = Bool()
    })
  })
  private val map = new RegisterMap(io.bus)
  for (i <- ExampleMap.constants) map.read(i, 0 -> (i + 1).U(12.W))
  private val (one, two, three) = (RegInit(0.U(6.W)), RegInit(0.U(20.W)), RegInit(false.B))
  map.storage(ExampleMap.storage, 0 -> one, 8 -> two, 63 -> three)
  private val flags = RegInit(0.U(5.W))
  map.sticky(ExampleMap.sticky, (10, flags, io.set))
  map.pulse(ExampleMap.pulse, 20 -> io.pulse)
  map.command(ExampleMap.command, io.command, 4 -> io.command.bits)(io.command.bits < 40.U)
  private val entry = io.memory.bits
  map.memory(ExampleMap.memory, 3, io.memory, entry.index, 0 -> entry.low, 63 -> entry.high)
  map.connect()
}

object ExampleMap {
  val constants = Seq(0x000, 0x010, 0x078, 0x080, 0xf00)
  val (storage, sticky, pulse, command, memory) = (0x020, 0x028, 0x030, 0x090, 0x400)
}

class RegisterMapSpec extends AnyFlatSpec with ChiselScalatestTester {
  import ExampleMap._
  private val (okay, error) = (Axi4.Resp.Okay, Axi4.Resp.SlvErr)
  private val verilator = Seq(VerilatorBackendAnnotation)

  private def bytes(strb: Int): BigInt = (0 until 8).filter(b => (strb >> b) % 2 == 1).map(BigInt(0xff) << 8 * _).sum

  behavior of "RegisterMap"
  for ((slow, seed) <- Seq(0, 3, 6).zipWithIndex) {
    it should s"do what is written, in order, and answer all, with waits of $slow in eight" in {
      test(new ExampleMap).withAnnotations(verilator) { dut =>
        val random = new Random(seed)
        val master = new AxiLiteDriver(dut.io.bus, dut.clock, seed, slow)
        // Expected outputs in order: a pulse, a command or an entry, each with the value written.
        val effects, expected = mutable.ArrayBuffer[(Int, BigInt)]()
        master.each = () => {
          val ready = Seq.fill(2)(random.nextInt(8) >= slow)
          dut.io.command.ready.poke(ready(0))
          dut.io.memory.ready.poke(ready(1))
          val pulse = dut.io.pulse.peekInt()
          if (pulse != 0) effects += (ExampleMap.pulse -> (pulse << 20))
          if (ready(0) && dut.io.command.valid.peekBoolean())
            effects += (command -> (dut.io.command.bits.peekInt() << 4))
          if (ready(1) && dut.io.memory.valid.peekBoolean()) {
            val entry = dut.io.memory.bits
            effects += (memory + 8 * entry.index.peekInt().toInt ->
              (entry.low.peekInt() + (entry.high.peekInt() << 63)))
          }
        }
        val fields = (BigInt(1) << 63) + 0xfffff3f
        var stored = BigInt(0)
        val offsets = constants ++ Seq(storage, sticky, ExampleMap.pulse, command, command, memory, memory + 8) ++
          Seq(memory + 16, memory + 24, 0x008, 0x088, 0x100, 0xff8)
        val (writes, reads) = (mutable.ArrayBuffer[Int](), mutable.ArrayBuffer[(Int, BigInt)]())
        for (_ <- 0 until 30) {
          for (_ <- 0 until 30) {
            val offset = offsets(random.nextInt(offsets.length))
            val data = BigInt(64, random)
            val strb = if (random.nextBoolean()) 0xff else random.nextInt(256)
            master.write(LiteWrite(offset + random.nextInt(8), data, strb))
            val mask = bytes(strb)
            val value = (data >> 4).toInt & 0x3f
            writes += (offset match {
              case `command` if (strb & 3) == 3 && value < 40 =>
                expected += (command -> (BigInt(value) << 4))
                okay
              case `command` => error
              case entry if entry >= memory && entry < memory + 24 =>
                if ((strb & 0x81) == 0x81) {
                  expected += (entry -> (data & ((BigInt(1) << 63) + 0xff)))
                  okay
                } else error
              case known if constants.contains(known) || known == sticky => okay
              case ExampleMap.pulse =>
                val pulse = data & mask & (BigInt(0xffff) << 20)
                if (pulse != 0) expected += (ExampleMap.pulse -> pulse)
                okay
              case `storage` =>
                stored = ((stored & ~mask) | (data & mask)) & fields
                okay
              case _ => error
            })
          }
          // Reads of constants and of absent addresses, while the writes go on.
          for (_ <- 0 until 30) {
            val offset = Seq(0x000, 0x010, 0x078, 0x080, 0xf00, 0x008, 0x088, memory, 0x480)(random.nextInt(9))
            master.read(offset + random.nextInt(8))
            reads += (if (constants.contains(offset)) (okay, BigInt(offset + 1)) else (error, BigInt(0)))
          }
          master.finish(writes.length, reads.length)
          master.read(storage, ExampleMap.pulse, command)
          reads ++= Seq((okay, stored), (okay, BigInt(0)), (okay, BigInt(0)))
          master.finish(writes.length, reads.length)
        }
        assert(master.written.map(_.resp) == writes)
        assert(master.answered.map(a => (a.resp, a.data)) == reads)
        assert(effects == expected && effects.length > 60)
      }
    }
  }

  it should "hold a master back on each channel when it has no place, and lose nothing" in {
    test(new ExampleMap).withAnnotations(verilator) { dut =>
      val port = dut.io.bus
      val taken = mutable.Map("aw" -> 0, "w" -> 0, "ar" -> 0)
      port.aw.valid.poke(true)
      port.ar.valid.poke(true)
      for (cycle <- 0 until 40) {
        port.w.valid.poke(cycle >= 20)
        for ((name, channel) <- Seq("aw" -> port.aw, "w" -> port.w, "ar" -> port.ar))
          if (channel.valid.peekBoolean() && channel.ready.peekBoolean()) taken(name) += 1
        if (cycle == 19) assert(taken("aw") == 2 && taken("w") == 0, "addresses wait for data")
        dut.clock.step()
      }
      val accepted = (taken("aw"), taken("w"), taken("ar"))
      port.aw.valid.poke(false)
      port.w.valid.poke(false)
      port.ar.valid.poke(false)
      port.b.ready.poke(true)
      port.r.ready.poke(true)
      var (b, r) = (0, 0)
      for (_ <- 0 until 40) {
        b += port.b.valid.peekInt().toInt
        r += port.r.valid.peekInt().toInt
        dut.clock.step()
      }
      assert(accepted._3 == r && r == ReadMux.latency + 2)
      assert(accepted._1 == accepted._2 && accepted._1 == b && b == 2 + 1 + 2, s"$accepted, $b")
    }
  }

  it should "refuse fields that overlap or pass the end" in {
    def fails(body: => Unit): String = intercept[IllegalArgumentException](body).getMessage
    assert(fails(RegisterMap.word(64, Seq(0 -> 0.U(9.W), 8 -> 0.U(1.W))): Unit).contains("bit 8"))
    assert(fails(RegisterMap.word(64, Seq(60 -> 0.U(5.W))): Unit).contains("end at bit 64"))
  }
}
