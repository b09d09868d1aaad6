// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.util._

/** A clock that runs only in cycles of `enable`: `gated` rises with `clock` at the end of such a cycle.
  *
  * `enable` is taken at the falling edge of `clock`, so `gated` has no short pulse. A library's clock gate has the same
  * ports and replaces this file.
  */
class ClockGate extends RawModule {
  val clock = IO(Input(Clock()))
  val enable = IO(Input(Bool()))
  val gated = IO(Output(Clock()))

  private val falling = (!clock.asBool).asClock
  private val on = withClock(falling)(Reg(Bool()))
  on := enable
  gated := (clock.asBool && on).asClock
}

object ClockGate {

  /** Cycles for which a clock runs on. What a unit does on its own ends within them. */
  val runOn: Int = 24

  /** The clock of a unit that holds its state and its outputs while it has nothing to do: it runs in a reset, in cycles
    * of `busy`, and for [[runOn]] cycles more. Without gates it is the clock of the module around it.
    *
    * @param gates build the gate
    * @param busy  the unit has something to do in this cycle, at its inputs or on its own
    */
  def apply(gates: Boolean, busy: => Bool): Clock =
    if (!gates) Module.clock
    else {
      val left = RegInit(runOn.U(log2Ceil(runOn + 1).W))
      left := Mux(busy, runOn.U, left - left.orR)
      during(gates, busy || left.orR)
    }

  /** The clock of registers that change at the end of cycles of `changes` alone, and in a reset.
    *
    * @param gates build the gate
    */
  def during(gates: Boolean, changes: => Bool): Clock =
    if (!gates) Module.clock
    else {
      val gate = Module(new ClockGate)
      gate.clock := Module.clock
      gate.enable := Module.reset.asBool || changes
      gate.gated
    }
}
