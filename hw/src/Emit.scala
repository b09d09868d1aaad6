// SPDX-License-Identifier: Apache-2.0
package anemone

import chisel3.RawModule
import circt.stage.ChiselStage

/** Writes a module's SystemVerilog, with the same options whoever asks. `plain`: no packed arrays, which not every tool
  * reads.
  */
object Emit {

  /** A file for each module, filelist.f, and the parameters as params.json. */
  def split(module: => RawModule, folder: String, parameters: ujson.Obj, plain: Boolean = false): Unit = {
    val path = os.Path(folder, os.pwd)
    os.makeDir.all(path)
    emit(module, folder, plain, "--split-verilog")
    os.write.over(path / "params.json", ujson.write(parameters, indent = 2) + "\n")
  }

  /** One file, of the module's name. */
  def whole(module: => RawModule, folder: String, plain: Boolean = false): Unit = emit(module, folder, plain)

  private def emit(module: => RawModule, folder: String, plain: Boolean, more: String*): Unit = {
    val lowering = "disallowLocalVariables" + (if (plain) ",disallowPackedArrays" else "")
    ChiselStage.emitSystemVerilogFile(
      module,
      Array("--target-dir", folder) ++ more,
      Array(
        "--disable-all-randomization",
        "--strip-debug-info",
        "--verify-each=false", // firtool's check of itself after each pass, half of its time
        s"--lowering-options=$lowering"
      )
    ): Unit
  }
}
