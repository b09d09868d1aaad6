// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.Axi4Params
import anemone.nemo.NemoParams
import chiseltest._
import org.scalatest.flatspec.AnyFlatSpec
import scala.collection.mutable
import scala.util.Random

class BurstSplitterSpec extends AnyFlatSpec with ChiselScalatestTester {
  private val p = ExpanderParams(
    NemoParams(pipelines = 3, channels = 2, states = 64, table = 16, addressBits = 14),
    Axi4Params(addressBits = 16, idBits = 3, lenBits = 4)
  )

  /** Random requests while the windows move. Returns how often each case was seen. */
  private def runTraffic(dut: BurstSplitter, write: Boolean, seed: Int): Map[String, Int] = {
    val random = new Random(seed)
    def maybe(chance: Double) = random.nextDouble() < chance
    def base() = random.nextInt(16) * 4096
    val count = mutable.Map[String, Int]().withDefaultValue(0)
    val (load, free) = (0.3 + 0.7 * random.nextDouble(), 0.3 + 0.7 * random.nextDouble())
    val inside = mutable.Queue[Seq[Beat]]()
    var windows = WindowBases(None, None)
    dut.io.closed.poke(false)
    var offered = Option.empty[Request]
    for (cycle <- 0 until 6000) {
      if (maybe(0.02)) {
        // Bits below the window size must be ignored; sometimes two windows overlap.
        def at() = Option.when(maybe(0.8))(base() + random.nextInt(4096))
        val effect = at()
        windows = WindowBases(effect, if (maybe(0.3)) effect else at(), at())
      }
      windows.poke(dut.io.windows)
      val bases = windows.bases.map(_ / 4096 * 4096) ++ Seq.fill(2)(base())
      val end = if (maybe(0.2)) 4096 - 128 else 0 // a burst may leave its window
      if (offered.isEmpty && maybe(load)) {
        val request = Request.random(random, p, bases(random.nextInt(bases.length)))
        offered =
          Some(if (end > 0 && request.burst == 1) request.copy(addr = request.addr / 4096 * 4096 + end) else request)
            .filter(request => request.addresses.last < (1 << p.memory.addressBits))
      }
      dut.io.in.valid.poke(offered.nonEmpty)
      offered.foreach(_.poke(dut.io.in.bits))
      val takes = maybe(free)
      dut.io.out.ready.poke(takes)
      withClue(s"seed $seed, cycle $cycle: ") {
        dut.io.in.ready.expect(inside.length < 2, "two requests have room")
        dut.io.out.valid.expect(inside.nonEmpty)
        inside.headOption.foreach(_.head.expect(dut.io.out.bits))
      }
      for (beats <- inside.headOption if takes) {
        val beat = beats.head
        count("past") += (if (beat.region && beat.past) 1 else 0)
        count("effect") += (if (beat.effect) 1 else 0)
        count("acknowledge") += (if (beat.acknowledges) 1 else 0)
        count("later") += (if (!beat.first) 1 else 0)
        inside.dequeue()
        if (beats.length > 1) beats.tail +=: inside
      }
      // `ready` is a register, so it is sampled at the start of the cycle.
      for (request <- offered if dut.io.in.ready.peekBoolean()) {
        inside += request.beats(windows, write, p)
        offered = None
      }
      dut.clock.step()
    }
    count.toMap
  }

  behavior of "BurstSplitter"
  for (write <- Seq(false, true); seed <- 1 to 4)
    it should s"give ${if (write) "writes" else "reads"} beat by beat, as the windows were, seed $seed" in {
      test(new BurstSplitter(p, write)) { dut =>
        val count = runTraffic(dut, write, seed)
        info(count.toSeq.sorted.mkString(", "))
        val wanted = Seq("effect", "later") ++ (if (write) Seq("acknowledge") else Seq("past"))
        assert(wanted.forall(count(_) >= 5), "the traffic misses something")
      }
    }

  it should "hold a request for no longer than a cycle, and take one a cycle" in {
    test(new BurstSplitter(p, write = false)) { dut =>
      WindowBases(None, None).poke(dut.io.windows)
      dut.io.out.ready.poke(true)
      dut.io.in.valid.poke(true)
      for (cycle <- 0 until 20) {
        Request(1, 0x40 * cycle).poke(dut.io.in.bits)
        dut.io.in.ready.expect(true)
        dut.io.out.valid.expect(cycle > 0)
        if (cycle > 0) dut.io.out.bits.transfer.addr.expect(0x40 * (cycle - 1))
        dut.clock.step()
      }
    }
  }
}
