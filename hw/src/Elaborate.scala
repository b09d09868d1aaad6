// SPDX-License-Identifier: Apache-2.0
package anemone

import anemone.board.BoardExpander
import anemone.bus.Axi4Params
import anemone.expander.{ExpanderParams, MemoryExpander}
import anemone.flat.{FlatMemory, FlatParams}
import anemone.nemo.{AcknowledgeUnit, Features, NemoParams, OperandSource, ReadEffect, TelemetryEngine, UpdateOp}
import chisel3.RawModule
import chisel3.util.log2Ceil
import mainargs.{Flag, ParserForMethods, arg, main}

/** Writes the SystemVerilog of a configuration, and the configuration itself as JSON for everyone downstream. */
object Elaborate {
  private val default = NemoParams()
  private val all = default.features

  private def names(of: Seq[Any]): String = of.mkString(",")

  /** What a list of names with commas stands for, in the order of `known`. */
  private def chosen[T](what: String, list: String, known: Seq[(String, T)]): Seq[T] = {
    val words = list.split(",").toSeq
    for (word <- words)
      require(known.map(_._1).contains(word), s"$what: ${names(known.map(_._1))}, not $word")
    known.collect { case (name, value) if words.contains(name) => value }
  }

  @main
  def elaborate(
      @arg(doc =
        "engine: the telemetry by itself; expander: all of it, on AXI4 memory channels; board: that between " +
          "a CXL IP and a board's memory controller; flat: near and far memory as one, swapped by the cacheline"
      ) top: String = "engine",
      @arg(doc = "rules that run side by side") pipelines: Int = default.pipelines,
      @arg(doc = "memory channels: 1, 2 or 4") channels: Int = default.channels,
      @arg(doc = "state words of a pipeline on a channel") states: Int = default.states,
      @arg(doc = "translation table entries of a pipeline") table: Int = default.table,
      @arg(name = "address-bits", doc = "bits of a device byte address") addressBits: Int = default.addressBits,
      @arg(doc = "update ops that are built in") ops: String = names(all.ops.map(_.name)),
      @arg(doc = "counter widths that are built in, in bits") widths: String = names(all.widths),
      @arg(doc = "false: no predicates") notify: Boolean = all.notifies,
      @arg(doc = "read effects that are built in") effects: String = names(ReadEffect.names),
      @arg(doc = "operands of an update that are built in") operands: String = names(OperandSource.names),
      @arg(doc = "false: no acknowledge window") acknowledge: Boolean = all.acknowledges,
      @arg(doc = "true: rules may hash their offsets, for sketches") hash: Boolean = all.hash,
      @arg(
        name = "id-bits",
        doc = "bits of an AXI4 id of the memory channels; board in flat memory mode: of its ports"
      ) idBits: Int = Axi4Params().idBits,
      @arg(doc =
        "expander, board: hosts that share each channel, 1, 2 or 4; the upper bits of an id are the host's number"
      ) hosts: Int =
        ExpanderParams().hosts,
      @arg(
        name = "flat",
        doc = "expander, board: with flat memory mode, a near and a far memory a channel"
      ) tiered: Flag,
      @arg(
        name = "near-bits",
        doc = "board in flat memory mode: bits of a byte address of near memory, whose last sixteenth has the sidebands"
      ) nearBits: Int = ExpanderParams().nearBits,
      @arg(doc = "flat memory mode: far lines for each near line, 1 to 4") ratio: Int = FlatParams().ratio,
      @arg(doc = "flat memory mode: requests of a channel in flight") requests: Int = FlatParams().requests,
      @arg(doc = "flat memory mode: cycles until a memory has forgotten what a reset cut") drain: Int =
        FlatParams().drain,
      @arg(
        name = "clock-gates",
        doc = "units with nothing to do have no clock: for simulators and ASICs, not for FPGAs"
      ) clockGates: Flag,
      @arg(name = "plain", doc = "no packed arrays, which not every synthesis tool reads") plain: Flag,
      @arg(doc = "folder to write to") out: String
  ): Unit =
    try {
      val features = Features(
        chosen("op", ops, UpdateOp.ofRules.map(op => op.name -> op)),
        chosen("width", widths, all.widths.map(bits => bits.toString -> bits)),
        notify,
        chosen("effect", effects, ReadEffect.names.zipWithIndex),
        chosen("operand", operands, OperandSource.names.zipWithIndex),
        acknowledge,
        hash
      )
      val params = NemoParams(
        pipelines,
        channels,
        states,
        table,
        addressBits,
        features,
        outcomes = tiered.value,
        clockGates = clockGates.value
      )
      val flatBoard = top == "board" && tiered.value
      val memory = Axi4Params(idBits = if (flatBoard) idBits + log2Ceil(hosts) else idBits)
      // Only where it is asked for: a board of four ids is no place for 32 requests in flight.
      def flat =
        FlatParams(memory, ratio, addressBits, requests = requests, drain = drain, clockGates = clockGates.value)
      def tiers = flat.copy(channels = channels, events = true)
      def expander = ExpanderParams(
        params,
        memory,
        hosts,
        adapter = top == "board",
        flat = Option.when(tiered.value)(tiers),
        nearBits = nearBits
      )
      val module: () => RawModule = top match {
        case "engine"   => () => new TelemetryEngine(params)
        case "expander" => () => new MemoryExpander(expander)
        case "board"    => () => new BoardExpander(expander)
        case "flat"     => () => new FlatMemory(flat)
        case _          => throw new IllegalArgumentException(s"top: engine, expander, board or flat, not $top")
      }
      Emit.split(module(), out, if (top == "flat") json(flat) else json(expander), plain.value)
    } catch { case e: IllegalArgumentException => refuse(e.getMessage.stripPrefix("requirement failed: ")) }

  /** Parameters, and the sizes of the memory ports with them. */
  private def withPorts(memory: Axi4Params)(parameters: (String, ujson.Value)*): ujson.Obj = ujson.Obj.from(
    parameters ++ Seq[(String, ujson.Value)](
      "memory_address_bits" -> memory.addressBits,
      "memory_data_bits" -> memory.dataBits,
      "memory_id_bits" -> memory.idBits,
      "memory_len_bits" -> memory.lenBits
    )
  )

  private def json(p: ExpanderParams): ujson.Obj = {
    val all = withPorts(p.memoryPort)(
      "hosts" -> p.hosts,
      "pipelines" -> p.nemo.pipelines,
      "channels" -> p.nemo.channels,
      "states" -> p.nemo.states,
      "table" -> p.nemo.table,
      "address_bits" -> p.nemo.addressBits,
      "word_bits" -> p.nemo.wordBits,
      "line_words" -> p.nemo.lineWords,
      "index_bits" -> p.nemo.indexBits,
      "event_latency" -> TelemetryEngine.eventLatency(p.nemo),
      "read_latency" -> TelemetryEngine.readLatency(p.nemo),
      "acknowledge_latency" -> AcknowledgeUnit.latency(p.nemo),
      "ops" -> p.nemo.features.ops.map(op => op.name -> ujson.Num(op.code)),
      "widths" -> p.nemo.features.widths,
      "notify" -> p.nemo.features.notifies,
      "effects" -> p.nemo.features.effects.map(ReadEffect.names),
      "operands" -> p.nemo.features.operandSources.map(OperandSource.names),
      "acknowledge" -> p.nemo.features.acknowledges,
      "hash" -> p.nemo.features.hash,
      "telemetry_reads" -> p.telemetryReads,
      "reads_in_flight" -> p.readsInFlight,
      "window_bytes" -> ujson.Num(p.windowBytes.toDouble),
      "control_address_bits" -> p.controlAddressBits,
      "telemetry_latency" -> MemoryExpander.telemetryLatency,
      "interrupt_latency" -> MemoryExpander.interruptLatency
    )
    p.flat.foreach(flat => all("flat") = json(flat))
    for ((nearLines, farLines) <- p.tierLines) {
      all("near_lines") = ujson.Num(nearLines.toDouble)
      all("far_lines") = ujson.Num(farLines.toDouble)
    }
    all
  }

  private def json(p: FlatParams): ujson.Obj = withPorts(p.memory)(
    "ratio" -> p.ratio,
    "requests" -> p.requests,
    "address_bits" -> p.addressBits,
    "tag_bits" -> p.tagBits,
    "count_bits" -> p.countBits,
    "sideband_bits" -> p.sidebandBits,
    "hit_latency" -> FlatMemory.hitLatency,
    "busy_hit_latency" -> FlatMemory.busyHitLatency
  )

  /** Exits with 2, and one line that says why, when there is no such configuration. */
  def main(args: Array[String]): Unit =
    ParserForMethods(this).runEither(args.toSeq).left.foreach(refuse)

  private def refuse(why: String): Unit = {
    Console.err.println(why)
    sys.exit(2)
  }
}
