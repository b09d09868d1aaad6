// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.Axi4Params
import chiseltest._
import org.scalatest.flatspec.AnyFlatSpec
import scala.collection.mutable
import scala.util.Random

class HostRequestsSpec extends AnyFlatSpec with ChiselScalatestTester {
  behavior of "HostRequests"

  private val p = Axi4Params(addressBits = 16, idBits = 2, lenBits = 4)

  private class Write(val number: Int, val len: Int) {
    var (address, data) = (-1, -1) // cycles in which its address and its first data were accepted
    var sent, left = 0 // data beats that were accepted, and that left
  }

  /** AR, AW and W come in any order and at any distance; some data beats wait until a later read has left. */
  private def runTraffic(dut: HostRequests, seed: Int, count: Int): Unit = {
    val random = new Random(seed)
    def rate() = Seq(1.0, 0.7, 0.2)(random.nextInt(3))
    val (arRate, awRate, wRate, taken) = (rate(), rate(), rate(), rate())
    val bursts = seed % 2 == 0
    val lens = Seq.fill(count)(if (bursts && random.nextInt(3) == 0) random.nextInt(5) else 0)
    val writes = lens.zipWithIndex.map { case (len, n) => new Write(n, len) }
    val readLens = Seq.fill(count)(if (bursts && random.nextInt(4) == 0) random.nextInt(4) else 0)
    val readAt = mutable.ArrayBuffer[Int]()
    var (addressed, dataOf, readBeats, reads) = (0, 0, 0, 0)
    var readLeft, cycle, idle = 0
    // Begun requests, by cycle of acceptance; reads come first in a cycle.
    val begun = mutable.ArrayBuffer[(Int, Int)]()
    var offersAr, offersAw, offersW = false
    // By write, the read that its beat 1 waits for: the next one that is not yet accepted when the beat is due.
    val needs = mutable.Map[Int, Int]()
    var quiesced = 0
    while (reads < count || writes.exists(w => w.left <= w.len)) {
      val w = dataOf
      val late = w < count && writes(w).sent == 1 && w % 3 == 0 && readAt.length < count
      if (late && !needs.contains(w)) needs(w) = readAt.length
      val mayW = w < count && !(writes(w).sent == 1 && needs.get(w).exists(_ >= reads))
      offersAr =
        offersAr || (readAt.length < count && (random.nextDouble() < arRate || needs.get(w).exists(_ >= reads)))
      offersAw = offersAw || (addressed < count && random.nextDouble() < awRate)
      offersW = offersW || (mayW && random.nextDouble() < wRate)
      quiesced = if (quiesced > 0) quiesced - 1 else if (random.nextInt(200) == 0) 30 else 0
      dut.io.quiesce.poke(quiesced > 0)
      dut.io.ar.valid.poke(offersAr)
      if (offersAr) {
        dut.io.ar.bits.addr.poke((readAt.length % 500) * 64)
        dut.io.ar.bits.id.poke(readAt.length % 4)
        dut.io.ar.bits.len.poke(readLens(readAt.length))
      }
      dut.io.aw.valid.poke(offersAw)
      if (offersAw) {
        dut.io.aw.bits.addr.poke((addressed % 500) * 64)
        dut.io.aw.bits.id.poke(addressed % 4)
        dut.io.aw.bits.len.poke(lens(addressed))
      }
      dut.io.w.valid.poke(offersW)
      if (offersW) {
        dut.io.w.bits.data.poke(w * 16 + writes(w).sent)
        dut.io.w.bits.last.poke(writes(w).sent == writes(w).len)
      }
      dut.io.beat.ready.poke(random.nextDouble() < taken)
      if (dut.io.beat.valid.peekBoolean() && dut.io.beat.ready.peekBoolean()) {
        idle = 0
        if (dut.io.beat.bits.write.peekBoolean()) {
          val write = writes.find(w => w.left <= w.len).get
          if (write.left == 0) begun += (write.address.max(write.data) -> 1)
          dut.io.data.data.expect(write.number * 16 + write.left)
          dut.io.beat.bits.line.expect(write.number % 500 + write.left)
          dut.io.beat.bits.last.expect(write.left == write.len)
          assert(write.address >= 0 && write.sent > write.left)
          write.left += 1
        } else {
          if (readLeft == 0) {
            begun += (readAt(reads) -> 0)
            readLeft = readLens(reads) + 1
          }
          readLeft -= 1
          dut.io.beat.bits.line.expect(reads % 500 + readLens(reads) - readLeft)
          dut.io.beat.bits.last.expect(readLeft == 0)
          if (readLeft == 0) reads += 1
        }
      }
      if (offersAr && dut.io.ar.ready.peekBoolean()) {
        readAt += cycle
        offersAr = false
      }
      if (offersAw && dut.io.aw.ready.peekBoolean()) {
        writes(addressed).address = cycle
        addressed += 1
        offersAw = false
      }
      if (offersW && dut.io.w.ready.peekBoolean()) {
        if (writes(w).sent == 0) writes(w).data = cycle
        writes(w).sent += 1
        if (writes(w).sent > writes(w).len) dataOf += 1
        offersW = false
      }
      dut.clock.step()
      cycle += 1
      idle += 1
      assert(idle < 1000, s"seed $seed: nothing moves: $reads reads, write $dataOf, address $addressed")
    }
    // A read may pass a write within its burst, and so the next write too.
    if (!bursts) assert(begun == begun.sortBy { case (at, write) => (at, write) }, s"seed $seed")
  }

  it should "make progress and keep the order of acceptance, whatever order AR, AW and W come in" in {
    test(new HostRequests(p)) { dut =>
      for (channel <- Seq(dut.io.ar.bits, dut.io.aw.bits)) {
        channel.size.poke(6)
        channel.burst.poke(1)
      }
      for (seed <- 0 until 60) runTraffic(dut, seed, if (seed % 3 == 0) 60 else 12)
    }
  }
}
