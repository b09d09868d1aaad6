// SPDX-License-Identifier: Apache-2.0
package anemone

import anemone.expander.{ExpanderParams, MemoryExpander}
import anemone.nemo.{NemoParams, TelemetryEngine, UpdateOp}
import circt.stage.ChiselStage
import mainargs.{Flag, ParserForMethods, arg, main}

/** Writes the SystemVerilog of a configuration, and the configuration itself as JSON for everyone downstream. */
object Elaborate {
  private val default = NemoParams()

  @main
  def elaborate(
      @arg(doc = "engine: the telemetry by itself; expander: all of it, on AXI4 memory channels") top: String =
        "engine",
      @arg(doc = "rules that run side by side") pipelines: Int = default.pipelines,
      @arg(doc = "memory channels: 1, 2 or 4") channels: Int = default.channels,
      @arg(doc = "state words of a pipeline on a channel") states: Int = default.states,
      @arg(doc = "translation table entries of a pipeline") table: Int = default.table,
      @arg(name = "address-bits", doc = "bits of a device byte address") addressBits: Int = default.addressBits,
      @arg(name = "plain", doc = "no packed arrays, which not every synthesis tool reads") plain: Flag,
      @arg(doc = "folder to write to") out: String
  ): Unit = {
    val params = NemoParams(pipelines, channels, states, table, addressBits)
    def module = top match {
      case "engine"   => new TelemetryEngine(params)
      case "expander" => new MemoryExpander(ExpanderParams(params))
      case _          => throw new IllegalArgumentException(s"top: engine or expander, not $top")
    }
    val folder = os.Path(out, os.pwd)
    os.makeDir.all(folder)
    val lowering = "disallowLocalVariables" + (if (plain.value) ",disallowPackedArrays" else "")
    ChiselStage.emitSystemVerilogFile(
      module,
      Array("--target-dir", folder.toString, "--split-verilog"),
      Array("--disable-all-randomization", "--strip-debug-info", s"--lowering-options=$lowering")
    )
    os.write.over(folder / "params.json", json(params))
  }

  private def json(p: NemoParams): String = ujson.write(
    ujson.Obj(
      "pipelines" -> p.pipelines,
      "channels" -> p.channels,
      "states" -> p.states,
      "table" -> p.table,
      "address_bits" -> p.addressBits,
      "word_bits" -> p.wordBits,
      "line_words" -> p.lineWords,
      "index_bits" -> p.indexBits,
      "event_latency" -> TelemetryEngine.eventLatency,
      "read_latency" -> TelemetryEngine.readLatency,
      "ops" -> UpdateOp.ofRules.map(op => op.name -> ujson.Num(op.code))
    ),
    indent = 2
  ) + "\n"

  def main(args: Array[String]): Unit = ParserForMethods(this).runOrExit(args.toSeq): Unit
}
