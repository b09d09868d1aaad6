// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util._

/** The sizes and features of a telemetry engine. Rules are set at run time.
  *
  * @param pipelines   rules that run side by side, each on every channel
  * @param channels    memory channels; the address bits above the 64 B line choose one
  * @param states      state words of one pipeline on one channel
  * @param table       entries of a pipeline's translation table
  * @param addressBits bits of a device byte address
  * @param features    features that rules may use
  * @param wordBits    bits of a state word: 64, or less to keep a formal proof small
  * @param lineWords   state words of a telemetry line: 8, or less to keep a formal proof small
  * @param outcomes    events have a [[NearOutcome]], which rules may filter by (flat memory mode)
  * @param clockGates  units with nothing to do have no clock ([[anemone.bus.ClockGate]]): for simulators and ASICs; an
  *                    FPGA has no gates in its logic
  */
case class NemoParams(
    pipelines: Int = 8,
    channels: Int = 2,
    states: Int = 8192,
    table: Int = 8192,
    addressBits: Int = 34,
    features: Features = Features(),
    wordBits: Int = 64,
    lineWords: Int = 8,
    outcomes: Boolean = false,
    clockGates: Boolean = false
) {
  require(pipelines >= 1 && pipelines <= 64, s"pipelines: 1 to 64, not $pipelines")
  require(Seq(1, 2, 4).contains(channels), s"channels: 1, 2 or 4, not $channels")
  require(isPow2(wordBits) && wordBits >= 4 && wordBits <= 64, s"wordBits: a power of two, 4 to 64, not $wordBits")
  require(features.widths.max <= wordBits, s"features.widths: at most $wordBits, not ${features.widths}")
  require(Seq(2, 4, 8).contains(lineWords), s"lineWords: 2, 4 or 8, not $lineWords")
  require(isPow2(states) && states >= 2 * lineWords, s"states: a power of two, two lines or more, not $states")
  require(isPow2(table) && table >= 2, s"table: a power of two, 2 or more, not $table")
  require(addressBits >= 8 && addressBits <= 52, s"addressBits: 8 to 52, not $addressBits")

  /** Bits of the narrowest counter, called a byte here, and the number of them in a state word. */
  val byteBits: Int = features.widths.min
  val wordBytes: Int = wordBits / byteBits
  require(states * wordBytes <= (1 << 24), s"states: at most 2^24 counters a channel, not ${states * wordBytes}")

  val lines: Int = states / lineWords
  val lineBits: Int = log2Ceil(lines)
  val wordIndexBits: Int = log2Ceil(lineWords)

  /** Bits of a counter's place in its word, counted in counters. */
  val subBits: Int = log2Ceil(wordBytes)

  /** Widths as they are encoded inside: how often a byte is doubled. */
  val levels: Seq[Int] = features.widths.map(bits => log2Ceil(bits / byteBits)).sorted
  require(levels.max <= 3, s"features.widths: at most eight times the narrowest, not ${features.widths}")
  def counterBits(level: Int): Int = byteBits << level

  /** The level of width code 0. Codes count from 8 bits, whether these are built in or not. */
  val firstLevel: Int = log2Ceil(8.min(byteBits)) - log2Ceil(byteBits)
  val widthCodes: Seq[Int] = levels.map(_ - firstLevel)

  /** The values of a rule's `near`. */
  val nearCodes: Seq[Int] =
    NearOutcome.Any +: (if (outcomes) Seq(NearOutcome.Hit, NearOutcome.Miss) else Seq())

  /** Bits of a counter's index. The narrowest width has the most counters. */
  val indexBits: Int = log2Ceil(states) + subBits
  val keyBits: Int = log2Ceil(table)

  /** Bits of an offset that can be of use. */
  val offsetBits: Int = if (features.hash) HashStage.bits.min(addressBits) else indexBits
  val pipelineBits: Int = 1.max(log2Ceil(pipelines))
  val channelBits: Int = 1.max(log2Ceil(channels))

  /** Bits of the address of a 64 B line, the request field `line`. */
  val lineAddressBits: Int = addressBits - 6
}

object NemoParams {

  /** The element with this number; a vector of one needs no index. */
  def pick[T <: Data](all: Vec[T], number: UInt): T = if (all.length == 1) all.head else all(number)
}
