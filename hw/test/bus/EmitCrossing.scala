// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import circt.stage.ChiselStage

/** Writes the SystemVerilog of an [[AvalonCrossing]] for tests/fpga: `EmitCrossing DIR`. */
object EmitCrossing {
  def main(args: Array[String]): Unit = {
    ChiselStage.emitSystemVerilogFile(
      new AvalonCrossing(addressBits = 22, dataBits = 64),
      Array("--target-dir", args(0), "--split-verilog"),
      Array("--disable-all-randomization", "--strip-debug-info", "--lowering-options=disallowLocalVariables")
    )
    os.write.over(os.Path(args(0), os.pwd) / "params.json", "{}\n")
  }
}
