// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import chisel3._
import chiseltest._
import org.scalatest.flatspec.AnyFlatSpec

/** Pins for [[Permutation]]. */
class PermutationPins(p: FlatParams) extends Module {
  val in = IO(Input(UInt((new Permutation(p)).getWidth.W)))
  val tag = IO(Input(UInt(p.tagBits.W)))
  val tags = IO(Output(Vec(p.ratio + 1, UInt(p.tagBits.W))))
  val farSlot = IO(Output(UInt(p.tagBits.W)))
  val exchanged = IO(Output(UInt((new Permutation(p)).getWidth.W)))
  private val permutation = in.asTypeOf(new Permutation(p))
  tags := VecInit((0 to p.ratio).map(permutation.tag))
  farSlot := permutation.farSlot(tag)
  exchanged := permutation.exchanged(tag).asUInt
}

class PermutationSpec extends AnyFlatSpec with ChiselScalatestTester {
  behavior of "Permutation"

  for (ratio <- 1 to 4) it should s"follow any swaps of a set with $ratio far lines: every permutation, every line" in {
    test(new PermutationPins(FlatParams(ratio = ratio))) { dut =>
      // All words that swaps reach from zero, each with the tags that plain swaps give.
      val tagsOf = collection.mutable.Map(BigInt(0) -> (0 to ratio).toVector)
      val todo = collection.mutable.Queue(BigInt(0))
      while (todo.nonEmpty) {
        val word = todo.dequeue()
        val tags = tagsOf(word)
        dut.in.poke(word)
        tags.zipWithIndex.foreach { case (tag, slot) => dut.tags(slot).expect(tag) }
        for (slot <- 1 to ratio) {
          dut.tag.poke(tags(slot))
          dut.farSlot.expect(slot - 1)
          val next = dut.exchanged.peek().litValue
          val swapped = tags.updated(0, tags(slot)).updated(slot, tags(0))
          if (!tagsOf.contains(next)) todo.enqueue(next)
          assert(tagsOf.getOrElseUpdate(next, swapped) == swapped)
        }
      }
      assert(tagsOf.values.toSet == (0 to ratio).permutations.toSet, "every permutation has one word")
      assert(tagsOf.size == (1 to ratio + 1).product)
    }
  }
}
