// SPDX-License-Identifier: Apache-2.0
package anemone.formal

import anemone.bus.Axi4Params
import anemone.expander.AdapterOrder
import anemone.flat.{FlatParams, SetLocksProof, SwapListsReference}
import chisel3.RawModule
import circt.stage.ChiselStage

/** Writes the SystemVerilog of proofs, a folder each: `EmitProof DIR NAME...` (tests/formal runs the checker on it). */
object EmitProof {
  private val flat = FlatParams(Axi4Params(idBits = 2), addressBits = 12, requests = 4)

  def emit(module: => RawModule, folder: String): Unit = ChiselStage.emitSystemVerilogFile(
    module,
    Array("--target-dir", folder),
    Array(
      "--disable-all-randomization",
      "--strip-debug-info",
      "--lowering-options=disallowLocalVariables,disallowPackedArrays"
    )
  )

  def main(args: Array[String]): Unit = for (name <- args.tail) {
    val folder = s"${args(0)}/$name"
    name match {
      case "AdapterOrder"       => emit(new AdapterOrder(4, 2), folder)
      case "SetLocksProof"      => emit(new SetLocksProof(flat), folder)
      case "SwapListsReference" => emit(new SwapListsReference(flat), folder)
    }
  }
}
