// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.nemo.LineWordRead
import chiseltest._

import scala.collection.mutable

/** The engine's side of [[LineWordRead]]: reads all words of a line that is offered, one a cycle, again and again. */
class OfferedWords(port: LineWordRead) {
  private val count = 1 << port.index.getWidth
  private val asked = mutable.Queue[Int]()
  private var next = 0

  /** By index, the words of this line so far. */
  val words: mutable.Map[Int, BigInt] = mutable.Map()

  /** A word cannot be corrected. */
  var lost = false

  /** All words of this line are known. */
  def whole: Boolean = words.size == count

  /** A cycle in which a line is offered, or none. */
  def cycle(offered: Boolean): Unit = if (!offered) forget()
  else {
    if (asked.length == LineWordRead.latency) {
      val index = asked.dequeue()
      if (!whole) lost ||= port.lost.peekBoolean()
      val word = port.word.peekInt()
      assert(words.getOrElseUpdate(index, word) == word, "a word is another when it is read again")
    }
    port.index.poke(next % count)
    port.first.poke(next < count)
    asked.enqueue(next % count)
    next += 1
  }

  /** The line is done. */
  def forget(): Unit = {
    asked.clear()
    words.clear()
    next = 0
    lost = false
    port.first.poke(false)
  }
}
