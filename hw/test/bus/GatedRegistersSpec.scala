// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.util._
import chiseltest._
import chiseltest.simulator.VerilatorBackendAnnotation
import org.scalatest.flatspec.AnyFlatSpec
import scala.util.Random

/** Each unit that has clock gates beside itself without them, with the same inputs. */
private class GatedBesidePlain extends Module {
  private val width = 80
  val io = IO(new Bundle {
    val read = Flipped(Valid(UInt(3.W)))
    val write = Flipped(Valid(new RamWrite(8, width)))
    val inject = Flipped(Valid(Bool()))
    val enters = Input(Bool())
    val item = Input(UInt(width.W))
    val takes = Input(Bool())

    /** Units whose outputs differ: the memory, queues, the register slice. */
    val differ = Output(Vec(5, Bool()))
  })
  private def both[T <: Module](make: Boolean => T): Seq[T] = Seq(false, true).map(gates => Module(make(gates)))
  private def differ(outputs: Seq[Data]): Bool = outputs.map(_.asUInt).distinct.reduce(_ ^ _).orR

  private val rams = both(gates => new ProtectedRam(8, width, gates = gates))
  for (ram <- rams) {
    ram.io.read := io.read
    ram.io.write := io.write
    ram.io.inject := io.inject
  }
  io.differ(0) := differ(rams.map(ram => Cat(ram.io.data, ram.io.fault.asUInt)))

  /** What a user of `port` looks at. */
  private def seen(port: DecoupledIO[UInt], more: UInt*): UInt =
    Cat(port.valid, Mux(port.valid, Cat(port.bits +: more), 0.U))
  for (registers <- 0 to 2) {
    val queues =
      both(gates => new ProtectedQueue(UInt(width.W), 4, flow = registers < 2, registers = registers, gates = gates))
    for (queue <- queues) {
      queue.io.enq.valid := io.enters
      queue.io.enq.bits := io.item
      queue.io.deq.ready := io.takes
      queue.io.inject := io.inject
    }
    io.differ(1 + registers) := differ(queues.map { queue =>
      Cat(seen(queue.io.deq, queue.io.bad), queue.io.enq.ready, queue.io.fault.asUInt, queue.io.count)
    })
  }
  private val slices = both(gates => new RegisterSlice(UInt(width.W), gates))
  for (slice <- slices) {
    slice.io.in.valid := io.enters
    slice.io.in.bits := io.item
    slice.io.out.ready := io.takes
  }
  io.differ(4) := differ(slices.map(slice => Cat(seen(slice.io.out), slice.io.in.ready)))
}

class GatedRegistersSpec extends AnyFlatSpec with ChiselScalatestTester {
  behavior of "Units with clock gates"

  it should "do what they do without, whatever a reset cuts" in
    test(new GatedBesidePlain).withAnnotations(Seq(VerilatorBackendAnnotation)) { dut =>
      dut.clock.setTimeout(0)
      val random = new Random(1)
      def likely(share: Double): Boolean = random.nextDouble() < share
      for (address <- 0 until 8) {
        dut.io.write.valid.poke(true)
        dut.io.write.bits.address.poke(address)
        dut.clock.step()
      }
      for (cycle <- 0 until 2500) {
        // Idle for long, and busy for long.
        val share = Seq(0.05, 0.3, 0.9)(cycle / 50 % 3)
        val address = random.nextInt(8)
        dut.reset.asInstanceOf[Bool].poke(likely(0.04))
        dut.io.read.valid.poke(likely(share))
        dut.io.read.bits.poke(address)
        dut.io.write.valid.poke(likely(share))
        dut.io.write.bits.address.poke((address + 1 + random.nextInt(7)) % 8)
        dut.io.write.bits.data.poke(BigInt(80, random))
        dut.io.inject.valid.poke(likely(0.1))
        dut.io.inject.bits.poke(likely(0.5))
        dut.io.enters.poke(likely(share))
        dut.io.item.poke(BigInt(80, random))
        dut.io.takes.poke(likely(0.6))
        val differ = dut.io.differ.map(_.peekBoolean())
        assert(!differ.contains(true), s"cycle $cycle: memory, queues, register slice: $differ")
        dut.clock.step()
      }
    }
}
