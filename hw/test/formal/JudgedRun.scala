// SPDX-License-Identifier: Apache-2.0
package anemone.formal

import chisel3._

/** For properties that a model checker reads as outputs, one bit per kind of error.
  *
  * Registers without a reset start at zero in the checker. Only runs that begin with exactly one cycle of reset are
  * judged, so all later times are fixed and the search is short.
  */
object JudgedRun {

  /** The caller's outputs count in this cycle. */
  def apply(): Bool = {
    val reset = Module.reset.asBool
    val begun = Reg(Bool())
    begun := begun || reset
    val other = Reg(Bool())
    other := other || begun === reset
    begun && !reset && !other
  }
}
