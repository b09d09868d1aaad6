// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import chisel3._
import chiseltest._
import org.scalatest.flatspec.AnyFlatSpec
import scala.util.Random

/** Encodes a word for one set, changes it, and checks it for another set. */
class SidebandCodePins(p: FlatParams) extends Module {
  private val code = new SidebandCode(p)
  val payload = IO(Input(UInt(code.payloadBits.W)))
  val written = IO(Input(UInt(p.lineBits.W)))
  val read = IO(Input(UInt(p.lineBits.W)))
  val keep = IO(Input(UInt(code.bits.W)))
  val flips = IO(Input(UInt(code.bits.W)))
  val poison = IO(Input(Bool()))
  val sideband = IO(Output(UInt(code.payloadBits.W)))
  val trusted = IO(Output(Bool()))
  val corrected = IO(Output(Bool()))

  /** The payload that is encoded has a legal permutation. */
  val legal = IO(Output(Bool()))
  private val check = Module(new SidebandCheck(p))
  private val word = code.word(payload.asTypeOf(new Sideband(p)), code.seal(written))
  check.io.predecoded := code.predecoded((word & keep) ^ flips)
  check.io.seal := code.seal(read)
  check.io.poison := poison
  sideband := check.io.sideband.asUInt
  trusted := check.io.trusted
  corrected := check.io.corrected
  legal := payload.asTypeOf(new Sideband(p)).permutation.legal
}

class SidebandCodeSpec extends AnyFlatSpec with ChiselScalatestTester {
  behavior of "SidebandCode"

  private val random = new Random(1)

  /** The stored words of all permutations of a set. */
  private def permutations(p: FlatParams): Seq[BigInt] =
    (0 to p.ratio).permutations
      .map(_.zipWithIndex.take(p.ratio).map { case (tag, slot) => BigInt(tag ^ slot) << (slot * p.tagBits) }.sum)
      .toSeq

  for (ratio <- 1 to 4) {
    val p = FlatParams(ratio = ratio, addressBits = 34)
    val code = new SidebandCode(p)
    val all = (BigInt(1) << code.bits) - 1
    val low = ratio * p.tagBits // bits of the permutation
    def any(): BigInt = {
      val legal = permutations(p)
      legal(random.nextInt(legal.length)) | BigInt(code.payloadBits - low, random) << low
    }
    def set(): BigInt = BigInt(p.lineBits, random)

    /** Reads the word. Returns whether it is trusted, was corrected, and equals what was written. */
    def read(dut: SidebandCodePins, flips: BigInt, poison: Boolean = false): (Boolean, Boolean, Boolean) = {
      dut.flips.poke(flips)
      dut.poison.poke(poison)
      (
        dut.trusted.peekBoolean(),
        dut.corrected.peekBoolean(),
        dut.sideband.peek().litValue == dut.payload.peek().litValue
      )
    }
    def write(dut: SidebandCodePins, payload: BigInt, set: BigInt): Unit = {
      dut.payload.poke(payload)
      dut.written.poke(set)
      dut.read.poke(set)
      dut.keep.poke(all)
    }

    it should s"give back what was written, poisoned or not, with $ratio far lines a set" in {
      test(new SidebandCodePins(p)) { dut =>
        for (permutation <- permutations(p)) {
          write(dut, permutation | BigInt(code.payloadBits - low, random) << low, set())
          for (poison <- Seq(false, true)) assert(read(dut, 0, poison) == ((true, false, true)))
        }
      }
    }

    it should s"correct every flipped bit, but of a poisoned word, with $ratio far lines a set" in {
      test(new SidebandCodePins(p)) { dut =>
        for (_ <- 0 until 4; bit <- 0 until code.bits) {
          write(dut, any(), set())
          assert(read(dut, BigInt(1) << bit) == ((true, true, true)), s"bit $bit")
          assert(!read(dut, BigInt(1) << bit, poison = true)._1, s"bit $bit, poisoned")
        }
      }
    }

    it should s"trust no word with any two flipped bits, with $ratio far lines a set" in {
      test(new SidebandCodePins(p)) { dut =>
        for (first <- 0 until code.bits; second <- 0 until first) {
          write(dut, any(), set())
          for (poison <- Seq(false, true))
            assert(!read(dut, (BigInt(1) << first) | (BigInt(1) << second), poison)._1, s"bits $first, $second")
        }
      }
    }

    it should s"trust no word of a set whose number differs in up to three bits, with $ratio far lines a set" in {
      test(new SidebandCodePins(p)) { dut =>
        val bits = 0 until p.lineBits
        for (count <- 1 to 3; wrong <- bits.combinations(count)) {
          val number = set()
          write(dut, any(), number)
          dut.read.poke(wrong.foldLeft(number)(_ flipBit _))
          assert(!read(dut, 0)._1, s"bits $wrong of the set")
        }
      }
    }

    it should s"never take a word of another set for one with a flipped bit, with $ratio far lines a set" in {
      test(new SidebandCodePins(p)) { dut =>
        var trusted = 0
        for (_ <- 0 until 4000) {
          write(dut, any(), set())
          dut.read.poke(set())
          val (trusts, corrects, _) = read(dut, 0)
          assert(!corrects)
          if (trusts) trusted += 1
        }
        assert(trusted < 4000 / (1 << (code.checkBits - 2)) * 2, s"$trusted of 4000 words of other sets")
      }
    }

    it should s"have no word of zeros or of ones, nor one flipped bit away, with $ratio far lines a set" in {
      test(new SidebandCodePins(p)) { dut =>
        dut.payload.poke(0)
        dut.written.poke(0)
        dut.keep.poke(0)
        for (number <- (0 until 512).map(BigInt(_)) ++ Seq.fill(512)(set()); word <- Seq(BigInt(0), all)) {
          dut.read.poke(number)
          assert(!read(dut, word)._1, s"${word.toString(2)} for set $number")
        }
      }
    }

    it should s"trust no payload that has no permutation, with $ratio far lines a set" in {
      test(new SidebandCodePins(p)) { dut =>
        val legal = permutations(p).toSet
        for (permutation <- (0 until 1 << low).map(BigInt(_))) {
          write(dut, permutation, set())
          dut.legal.expect(legal(permutation))
          assert(read(dut, 0) == ((legal(permutation), false, true)))
        }
      }
    }
  }

  it should "have different columns, of odd weight for what is stored and of even weight for the set's number" in {
    for (ratio <- 1 to 4) {
      val code = new SidebandCode(FlatParams(ratio = ratio))
      val stored = code.payloadColumns ++ (0 until code.checkBits).map(1 << _)
      assert(stored.distinct.length == code.bits && stored.forall(Integer.bitCount(_) % 2 == 1))
      assert(code.setColumns.distinct == code.setColumns && code.setColumns.forall(Integer.bitCount(_) % 2 == 0))
      assert(code.bits % 2 == 0)
    }
  }
}
