// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import anemone.Emit

/** Writes the SystemVerilog of an [[AvalonCrossing]] for tests/fpga: `EmitCrossing DIR`. */
object EmitCrossing {
  def main(args: Array[String]): Unit =
    Emit.split(new AvalonCrossing(addressBits = 22, dataBits = 64), args(0), ujson.Obj())
}
