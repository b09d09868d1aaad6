// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.{Axi4, Axi4Params}
import chisel3._
import chiseltest._
import org.scalatest.flatspec.AnyFlatSpec
import scala.collection.mutable
import scala.util.Random

class HostResponsesSpec extends AnyFlatSpec with ChiselScalatestTester {
  behavior of "HostResponses"

  private val p = FlatParams(Axi4Params(idBits = 3), addressBits = 12, requests = 8)

  /** Cycles from a request's acceptance to its earliest answer. */
  private val known = 3

  /** A request in flight: `number` of the controller, and what its response must say. */
  private class Request(val number: Int, val id: Int, val write: Boolean, val last: Boolean, val since: Int) {
    var done = false
    var (data, poison, resp) = (BigInt(0), false, 0)
  }

  /** Drives the sides of requests and memory, and compares every response with the oldest of its id and kind. */
  private class Driver(dut: HostResponses) {
    var cycle = 0
    val inFlight = mutable.ArrayBuffer[Request]()

    /** Held numbers, and the cycle in which each is released. */
    val held = mutable.Map[Int, Int]()
    val leftAt = mutable.ArrayBuffer[(Request, Int)]()
    dut.reset.poke(true.B)
    dut.clock.step()
    dut.reset.poke(false.B)
    for (port <- Seq(dut.io.accept.valid, dut.io.answer.valid, dut.io.inject.valid, dut.io.leavingInject.valid))
      port.poke(false.B)
    for (port <- Seq(dut.io.held, dut.io.writes.done, dut.io.writes.failed, dut.io.writes.outside)) port.poke(0.U)
    dut.io.r.ready.poke(true.B)
    dut.io.b.ready.poke(true.B)

    def accept(id: Int, write: Boolean, last: Boolean): Boolean = {
      val taken = dut.io.available.peekBoolean()
      dut.io.accept.valid.poke(taken)
      if (taken) {
        val number = dut.io.request.peekInt().toInt
        val inUse = held.contains(number) || inFlight.exists(request => request.number == number && !request.done)
        assert(!inUse, s"number $number is in use")
        dut.io.accept.bits.id.poke(id)
        dut.io.accept.bits.write.poke(write)
        dut.io.accept.bits.last.poke(last)
        inFlight += new Request(number, id, write, last, cycle)
      }
      taken
    }

    /** Requests that may be answered. */
    def unanswered(write: Boolean): Seq[Request] =
      inFlight.filter(request => request.write == write && !request.done && cycle - request.since >= known).toSeq

    def answer(request: Request, data: BigInt, poison: Boolean = false, resp: Int = Axi4.Resp.Okay): Unit = {
      request.done = true
      request.data = data
      request.poison = poison
      request.resp = resp
      dut.io.answer.valid.poke(true.B)
      dut.io.answer.bits.request.poke(request.number)
      dut.io.answer.bits.data.poke(data)
      dut.io.answer.bits.poison.poke(poison)
      dut.io.answer.bits.resp.poke(resp)
    }

    def finish(requests: Seq[Request]): Unit = {
      for (request <- requests) request.done = true
      def mask(of: Request => Boolean): BigInt =
        requests.filter(of).map(request => BigInt(1) << request.number).sum
      dut.io.writes.done.poke(mask(_ => true))
      dut.io.writes.failed.poke(mask(_.resp == Axi4.Resp.SlvErr))
      dut.io.writes.outside.poke(mask(_.resp == Axi4.Resp.DecErr))
    }

    /** The requests that leave with a response of this id and kind: the oldest, and for a write its whole burst. */
    private def leaving(id: Int, write: Boolean): Seq[Request] = {
      val queue = inFlight.filter(request => request.write == write && request.id == id).toSeq
      val burst = if (write) queue.take(queue.indexWhere(_.last) + 1) else queue.take(1)
      assert(burst.nonEmpty && burst.forall(_.done), s"cycle $cycle: a response of id $id out of order")
      inFlight --= burst
      leftAt ++= burst.map(_ -> cycle)
      burst
    }

    def step(): Unit = {
      if (dut.io.r.valid.peekBoolean() && dut.io.r.ready.peekBoolean()) {
        val request = leaving(dut.io.r.bits.id.peekInt().toInt, write = false).head
        dut.io.r.bits.data.expect(request.data)
        dut.io.r.bits.user.expect(request.poison)
        dut.io.r.bits.resp.expect(request.resp)
        dut.io.r.bits.last.expect(request.last)
      }
      if (dut.io.b.valid.peekBoolean() && dut.io.b.ready.peekBoolean()) {
        val burst = leaving(dut.io.b.bits.id.peekInt().toInt, write = true)
        dut.io.b.bits.resp.expect(burst.map(_.resp).max)
      }
      dut.clock.step()
      cycle += 1
      dut.io.accept.valid.poke(false.B)
      dut.io.answer.valid.poke(false.B)
      finish(Nil)
      held.filterInPlace((_, until) => until > cycle)
      dut.io.held.poke(held.keys.map(BigInt(1) << _).sum)
    }

    /** Steps until nothing is in flight. */
    def drain(): Unit = {
      var left = 200
      while (inFlight.nonEmpty || held.nonEmpty) {
        assert(left > 0, s"${inFlight.length} requests never leave")
        left -= 1
        step()
      }
      for (_ <- 0 until 4) step()
      dut.io.busy.expect(false.B)
    }
  }

  it should "answer each id's requests in their order, whatever the order of memory" in {
    test(new HostResponses(p)).withAnnotations(Seq(VerilatorBackendAnnotation)) { dut =>
      for (seed <- 0 until 16) withClue(s"seed $seed: ") {
        val random = new Random(seed)
        val driver = fill(dut, Nil, write = false)
        val ids = 1 + random.nextInt(4)
        def rate(): Double = 0.2 + 0.8 * random.nextDouble()
        val (offered, answered, readReady, writeReady, kept) = (rate(), rate(), rate(), rate(), rate())
        val newest = random.nextBoolean() // memory prefers the newest request
        def resp(): Int = random.nextInt(8) match {
          case 0 => Axi4.Resp.SlvErr
          case 1 => Axi4.Resp.DecErr
          case _ => Axi4.Resp.Okay
        }
        var burst: Option[(Int, Boolean)] = None // id and kind of the burst whose beats are coming
        for (_ <- 0 until 500) {
          if (random.nextDouble() < offered) {
            val (id, write) = burst.getOrElse((random.nextInt(ids), random.nextBoolean()))
            val last = random.nextInt(3) > 0
            if (driver.accept(id, write, last)) burst = Option.when(!last)((id, write))
          }
          val reads = driver.unanswered(write = false)
          if (reads.nonEmpty && random.nextDouble() < answered) {
            val request = if (newest) reads.last else reads(random.nextInt(reads.length))
            driver.answer(request, BigInt(512, random), random.nextBoolean(), resp())
            if (random.nextDouble() < kept / 4) driver.held(request.number) = driver.cycle + 1 + random.nextInt(20)
          }
          val writes = driver.unanswered(write = true).filter(_ => random.nextInt(4) == 0)
          for (request <- writes) request.resp = resp()
          driver.finish(writes)
          dut.io.r.ready.poke(random.nextDouble() < readReady)
          dut.io.b.ready.poke(random.nextDouble() < writeReady)
          driver.step()
        }
        dut.io.r.ready.poke(true.B)
        dut.io.b.ready.poke(true.B)
        for ((id, write) <- burst) {
          while (!driver.accept(id, write, last = true)) finishAll(driver)
          finishAll(driver)
        }
        while (driver.inFlight.exists(!_.done)) finishAll(driver)
        driver.drain()
      }
    }
  }

  /** A step in which the oldest read, and all writes, are answered. */
  private def finishAll(driver: Driver): Unit = {
    assert(driver.cycle < 1000, "requests never leave")
    driver.unanswered(write = false).headOption.foreach(driver.answer(_, 0))
    driver.finish(driver.unanswered(write = true))
    driver.step()
  }

  /** After a reset, accepts a request of each id, and steps until they can be answered. */
  private def fill(dut: HostResponses, ids: Seq[Int], write: Boolean): Driver = {
    val driver = new Driver(dut)
    driver.step()
    for (id <- ids) {
      assert(driver.accept(id, write, last = true))
      driver.step()
    }
    for (_ <- 0 until known) driver.step()
    driver
  }

  it should "pass a read response in its cycle, take six for a stored one behind it, and send one per cycle" in {
    test(new HostResponses(p)).withAnnotations(Seq(VerilatorBackendAnnotation)) { dut =>
      val pair = fill(dut, Seq(1, 1), write = false)
      val reads = pair.inFlight.toSeq
      pair.answer(reads(1), 2)
      pair.step()
      pair.answer(reads(0), 1)
      val passed = pair.cycle
      pair.step()
      pair.drain()
      assert(pair.leftAt.map(_._2) == Seq(passed, passed + 7))

      val single = fill(dut, Seq(0), write = true)
      val finished = single.cycle
      single.finish(single.inFlight.toSeq)
      single.step()
      single.drain()
      assert(single.leftAt.map(_._2) == Seq(finished + 2))

      for (ids <- Seq(Seq.fill(8)(5), Seq.range(0, 8)); write <- Seq(false, true))
        withClue(s"${if (write) "writes" else "reads"} of ids $ids: ") {
          val driver = fill(dut, ids, write)
          val requests = driver.inFlight.toSeq
          dut.io.r.ready.poke(false.B)
          dut.io.b.ready.poke(false.B)
          for (request <- requests.reverse) {
            if (write) driver.finish(Seq(request)) else driver.answer(request, request.number)
            driver.step()
          }
          for (_ <- 0 until 12) driver.step()
          dut.io.r.ready.poke(true.B)
          dut.io.b.ready.poke(true.B)
          driver.drain()
          val cycles = driver.leftAt.map(_._2)
          assert(cycles == cycles.indices.map(cycles.head + _))
        }
    }
  }
}
