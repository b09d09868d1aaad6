// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{Axi4, Axi4Address}
import chiseltest._
import scala.util.Random

/** An AXI request in plain numbers. */
case class Request(id: Int, addr: Int, beats: Int = 1, size: Int = 6, burst: Int = Axi4.Burst.Incr) {

  /** The address of each beat. */
  def addresses: Seq[Int] = {
    val bytes = 1 << size
    burst match {
      case Axi4.Burst.Fixed => Seq.fill(beats)(addr)
      case Axi4.Burst.Wrap =>
        val low = addr / (bytes * beats) * (bytes * beats)
        Seq.tabulate(beats)(beat => low + (addr - low + beat * bytes) % (bytes * beats))
      case _ => addr +: Seq.tabulate(beats - 1)(beat => (addr / bytes + beat + 1) * bytes)
    }
  }

  /** Its beats, with the windows at its acceptance. A write into the region is one beat. */
  def beats(windows: WindowBases, write: Boolean, p: ExpanderParams): Seq[Beat] = {
    val region = windows.find(addr, p).nonEmpty
    val taken = if (write && region) addresses.take(1) else addresses
    for ((at, i) <- taken.zipWithIndex)
      yield Beat(
        this,
        at,
        i == 0,
        i == taken.length - 1,
        region,
        windows.find(addr, p).exists(_._2),
        windows.acknowledges(addr, p),
        at / p.windowBytes.toInt != addr / p.windowBytes.toInt
      )
  }
  def poke(to: Axi4Address): Unit = {
    to.id.poke(id)
    to.addr.poke(addr)
    to.len.poke(beats - 1)
    to.size.poke(size)
    to.burst.poke(burst)
  }
}

object Request {
  def peek(from: Axi4Address): Request = Request(
    from.id.peekInt().toInt,
    from.addr.peekInt().toInt,
    from.len.peekInt().toInt + 1,
    from.size.peekInt().toInt,
    from.burst.peekInt().toInt
  )

  /** A legal AXI request at or after `base`. */
  def random(random: Random, p: ExpanderParams, base: Int): Request = {
    val size = if (random.nextInt(4) > 0) 6 else random.nextInt(6)
    val burst = random.nextInt(5) match {
      case 0 => Axi4.Burst.Fixed
      case 1 => Axi4.Burst.Wrap
      case _ => Axi4.Burst.Incr
    }
    val beats =
      if (burst == Axi4.Burst.Wrap) 2 << random.nextInt(4)
      else if (random.nextInt(3) > 0) 1
      else 1 + random.nextInt(6)
    val target = base + random.nextInt(4096)
    val aligned = burst == Axi4.Burst.Wrap || random.nextInt(4) > 0
    // The last burst must not leave the address space.
    val addr = target.min((1 << p.memory.addressBits) - 1024) & (if (aligned) ~((1 << size) - 1) else -1)
    Request(random.nextInt(1 << p.memory.idBits), addr, beats, size, burst)
  }
}

/** One beat of a request, with the fields of [[RequestBeat]]. */
case class Beat(
    request: Request,
    addr: Int,
    first: Boolean,
    last: Boolean,
    region: Boolean,
    effect: Boolean,
    inAcknowledge: Boolean,
    past: Boolean
) {

  /** The beat is a full line and may have an effect. */
  def acknowledges: Boolean = inAcknowledge && request.beats == 1 && request.size == 6

  /** The response to a telemetry read beat, and its request to the engine. */
  def answer(windows: WindowBases, channel: Int, p: ExpanderParams): (Int, Option[(Int, Int, Boolean)]) =
    if (past) (Axi4.Resp.DecErr, None) else windows.answer(request, addr, channel, p)

  def poke(to: RequestBeat): Unit = {
    request.copy(addr = addr).poke(to.transfer)
    to.first.poke(first)
    to.last.poke(last)
    to.region.hit.poke(region)
    to.region.effect.poke(effect)
    to.region.acknowledge.poke(inAcknowledge)
    to.pastWindow.poke(past)
  }
  def expect(from: RequestBeat): Unit = {
    assert(Request.peek(from.transfer) == request.copy(addr = addr))
    from.first.expect(first)
    from.last.expect(last)
    from.region.hit.expect(region)
    if (region) from.region.effect.expect(effect)
    from.region.acknowledge.expect(inAcknowledge)
    if (region) from.pastWindow.expect(past)
  }
}

/** The telemetry windows in plain numbers; a window without a base is disabled. */
case class WindowBases(effect: Option[Int], snapshot: Option[Int], acknowledge: Option[Int] = None) {
  def bases: Seq[Int] = effect.toSeq ++ snapshot ++ acknowledge
  private def at(base: Option[Int], addr: Int, p: ExpanderParams): Option[Int] = {
    val size = p.windowBytes.toInt
    base.map(addr - _ / size * size).filter(offset => offset >= 0 && offset < size)
  }

  /** The offset in a window, and whether that window applies the read effect. */
  def find(addr: Int, p: ExpanderParams): Option[(Int, Boolean)] =
    at(snapshot, addr, p).orElse(at(acknowledge, addr, p)).map((_, false)).orElse(at(effect, addr, p).map((_, true)))

  /** A write to this address acknowledges a line. */
  def acknowledges(addr: Int, p: ExpanderParams): Boolean =
    at(acknowledge, addr, p).nonEmpty && at(snapshot, addr, p).isEmpty

  /** The response to a telemetry read beat, and the pipeline, line and effect of its request to the engine. */
  def answer(request: Request, addr: Int, channel: Int, p: ExpanderParams): (Int, Option[(Int, Int, Boolean)]) = {
    val n = p.nemo
    val line = find(addr, p).map { case (offset, applies) => (offset / 64, applies) }
    line.filter { case (line, _) => line % n.channels == channel && line / n.channels / n.lines < n.pipelines } match {
      case None                                       => (Axi4.Resp.DecErr, None)
      case _ if request.beats > 1 && request.size < 6 => (Axi4.Resp.SlvErr, None)
      case Some((line, applies)) =>
        (Axi4.Resp.Okay, Some((line / n.channels / n.lines, line / n.channels % n.lines, applies)))
    }
  }
  def poke(to: Windows): Unit =
    for ((base, window) <- Seq(effect -> to.effect, snapshot -> to.snapshot, acknowledge -> to.acknowledge)) {
      window.enable.poke(base.nonEmpty)
      base.foreach(window.base.poke(_))
    }
}
