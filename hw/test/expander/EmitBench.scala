// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.Emit
import anemone.board.BoardExpander
import anemone.bus.Axi4Params
import anemone.flat.FlatParams
import anemone.nemo.{Features, NemoParams, TelemetryEngine}

/** Writes the SystemVerilog of an expander for tests/expander: `EmitBench DIR TOP` and sizes in the order of `params`.
  */
object EmitBench {
  private def params(n: Seq[Int]): ExpanderParams = {
    val memory = Axi4Params(addressBits = n(5), idBits = n(6), lenBits = n(7))
    val ratio = n(10) // 0: no flat memory mode
    val adapter = n(12) // 1: a ControllerAdapter above each memory
    ExpanderParams(
      NemoParams(
        pipelines = n(0),
        channels = n(1),
        states = n(2),
        table = n(3),
        addressBits = n(4),
        features = Features(hash = n(13) > 0),
        outcomes = ratio > 0,
        clockGates = n(16) > 0
      ),
      memory,
      n(14),
      telemetryReads = n(8),
      readsInFlight = n(9),
      lateCycles = 512,
      adapter = adapter > 0,
      flat = Option.when(ratio > 0)(FlatParams(
        memory,
        ratio,
        addressBits = n(4),
        channels = n(1),
        requests = n(11),
        events = true,
        clockGates = n(16) > 0
      )),
      nearBits = n(15)
    )
  }

  def main(args: Array[String]): Unit = {
    val p = params(args.drop(2).toSeq.map(_.toInt))
    def module = args(1) match {
      case "BoardExpander" => new BoardExpander(p)
      case _               => new MemoryExpander(p)
    }
    Emit.split(module, args(0), ujson.Obj("read_latency" -> TelemetryEngine.readLatency(p.nemo)))
  }
}
