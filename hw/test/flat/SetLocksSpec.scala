// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.Axi4Params
import chisel3._
import chisel3.util._
import chiseltest._
import org.scalatest.flatspec.AnyFlatSpec
import scala.util.Random

/** [[SetLocks]] with any requests, decisions and idle sets, and a plain record of two locks of the test's choice. */
class SetLocksReference(p: FlatParams) extends Module {
  private val locks = Module(new SetLocks(p))
  val io = IO(new Bundle {
    val ask = Flipped(Decoupled(new LockRequest(p)))
    val decided = Flipped(Valid(new LockedOp(p)))
    val idle = Input(UInt(p.locks.W))
    val watched = Input(Vec(2, UInt(p.lockBits.W)))
  })
  private val watched = RegEnable(io.watched, reset.asBool)
  locks.io.powerOn := reset.asBool
  locks.io.kept := 0.U
  locks.io.touched := 0.U
  locks.io.of := 0.U
  locks.io.ask <> io.ask
  locks.io.idle := io.idle
  locks.io.decided.valid := io.decided.valid
  locks.io.decided.bits.lock := UIntToOH(io.decided.bits.lock, p.locks)
  locks.io.decided.bits.request := io.decided.bits.request

  // Which set each of the two has, from its grant until it is granted anew as another's.
  private val held = RegInit(VecInit(false.B, false.B))
  private val place = Reg(Vec(2, UInt(p.lineBits.W)))
  private val waits = RegInit(VecInit(false.B, false.B))
  private val last = Reg(Vec(2, UInt(p.requestBits.W)))
  for (w <- 0 until 2) {
    val granted = io.ask.fire && locks.io.grant.lock === watched(w)
    val ends = io.decided.valid && io.decided.bits.lock === watched(w) && io.decided.bits.request === last(w)
    when(ends) { waits(w) := false.B }
    when(granted) {
      held(w) := true.B
      place(w) := io.ask.bits.place
      waits(w) := true.B
      last(w) := io.ask.bits.request
      when(held(w) && waits(w)) {
        assert(
          locks.io.grant.shared && io.ask.bits.place === place(w),
          "a lock was given away that a request waits for"
        )
      }
      when(locks.io.grant.shared) { assert(io.ask.bits.place === place(w), "a lock is shared by two sets") }
    }
  }
  // While a request waits for a set, the set has one lock.
  when(watched(0) =/= watched(1) && waits(0) && waits(1)) {
    assert(place(0) =/= place(1), "a set has two locks")
  }
  when(io.ask.fire && waits(0) && io.ask.bits.place === place(0)) {
    assert(locks.io.grant.shared && locks.io.grant.lock === watched(0), "a set that is locked was locked anew")
  }
}

class SetLocksSpec extends AnyFlatSpec with ChiselScalatestTester {
  behavior of "SetLocks"

  it should "lock each set once, for as long as a request waits for it" in {
    val p = FlatParams(Axi4Params(idBits = 3), addressBits = 12, requests = 8)
    test(new SetLocksReference(p)) { dut =>
      var (granted, refused) = (0, 0)
      for (seed <- 0 until 60) withClue(s"seed $seed: ") {
        val random = new Random(seed)
        val (sets, asks, decides, idles) =
          (1 + random.nextInt(12), random.nextDouble(), random.nextDouble(), random.nextDouble())
        dut.reset.poke(true.B)
        dut.io.watched(0).poke(random.nextInt(8))
        dut.io.watched(1).poke(random.nextInt(8))
        dut.clock.step()
        dut.reset.poke(false.B)
        for (_ <- 0 until 200) {
          dut.io.ask.valid.poke(random.nextDouble() < asks)
          dut.io.ask.bits.request.poke(random.nextInt(8))
          dut.io.ask.bits.place.poke(random.nextInt(sets))
          dut.io.ask.bits.blind.poke(random.nextInt(8) == 0)
          dut.io.decided.valid.poke(random.nextDouble() < decides)
          dut.io.decided.bits.lock.poke(random.nextInt(8))
          dut.io.decided.bits.request.poke(random.nextInt(8))
          dut.io.idle.poke(if (random.nextDouble() < idles) random.nextInt(256) else 0)
          if (dut.io.ask.valid.peekBoolean()) { if (dut.io.ask.ready.peekBoolean()) granted += 1 else refused += 1 }
          dut.clock.step()
        }
      }
      assert(granted > 1000 && refused > 500, s"$granted granted, $refused refused")
    }
  }
}
