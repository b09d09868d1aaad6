// SPDX-License-Identifier: Apache-2.0
package anemone.formal

import chisel3._

/** For properties that a model checker takes as outputs, a bit for each thing that is wrong.
  *
  * Registers that have no reset start at zero in the checker. Only a run that begins with one cycle of reset is judged;
  * that keeps the time of everything after it fixed, and the search short.
  */
object JudgedRun {

  /** In this cycle the caller's outputs count. */
  def apply(): Bool = {
    val reset = Module.reset.asBool
    val begun = Reg(Bool())
    begun := begun || reset
    val other = Reg(Bool())
    other := other || begun === reset
    begun && !reset && !other
  }
}
