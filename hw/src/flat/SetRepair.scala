// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import chisel3._
import chisel3.util._

/** The first set whose sideband failed its check, for software to read. */
class UntrustedSet(p: FlatParams) extends Bundle {
  val valid = Bool()
  val set = UInt(p.lineBits.W)

  /** A repair is running. */
  val repairing = Bool()
}

/** Keeps the first set whose sideband failed its check until software rearms or repairs it. The lines' locations are
  * unknown then, so a repair poisons every slot of the set: far slots first, then near with the sideband of power-up.
  * The lines then read as poison until they are written.
  *
  * A repair waits until accepted requests are done, and blocks new ones while it runs. It writes one line at a time, so
  * it takes the latency of R + 1 writes. An error ends the repair; the set then stays untrusted and recorded here,
  * because near is written last.
  *
  * Latency: one cycle from `found` to `untrusted`.
  */
class SetRepair(p: FlatParams) extends Module {
  val io = IO(new Bundle {
    val nearLines = Input(UInt((p.lineBits + 1).W))

    /** The sideband of this set failed its check. */
    val found = Flipped(Valid(UInt(p.lineBits.W)))

    /** `rearm`: forget the set, so that the next one is recorded. `repair`: repair it. */
    val rearm = Input(Bool())
    val repair = Input(Bool())
    val untrusted = Output(new UntrustedSet(p))

    /** Nothing is in flight, so from now on all writes of near and far, and their responses, belong to the repair. */
    val quiet = Input(Bool())
    val writing = Output(Bool())
    val nearWrite = Decoupled(new LineWrite(p, p.sidebandBits))
    val farWrite = Decoupled(new LineWrite(p, 0))
    val nearAnswer = Flipped(Valid(new LineWriteAnswer(p)))
    val farAnswer = Flipped(Valid(new LineWriteAnswer(p)))
  })
  private val code = new SidebandCode(p)
  private object State extends ChiselEnum {
    val idle, drains, writes, waits = Value
  }
  import State._
  private val state = RegInit(idle)
  private val valid = RegInit(false.B)
  private val set = RegInit(0.U(p.lineBits.W))

  /** Slot being poisoned (far slots first, then R for near), and its line in far. */
  private val slot = Reg(UInt(log2Ceil(p.ratio + 1).W))
  private val line = Reg(UInt((p.lineBits + 3).W))
  private val near = slot === p.ratio.U

  private val recorded = valid && !(io.rearm && state === idle)
  when(io.found.valid && !recorded) { set := io.found.bits }
  valid := recorded || io.found.valid
  io.untrusted.valid := valid
  io.untrusted.set := set
  io.untrusted.repairing := state =/= idle
  io.writing := state === writes || state === waits

  private val ports = Seq[(DecoupledIO[LineWrite], Bool)](io.nearWrite -> near, io.farWrite -> !near)
  for ((port, selected) <- ports) {
    port.valid := state === writes && selected
    port.bits := 0.U.asTypeOf(port.bits)
    port.bits.line := line
    port.bits.stored.strobe := Fill(p.memory.strbBits, 1.U)
    port.bits.stored.poison := true.B
  }
  io.nearWrite.bits.line := set
  io.nearWrite.bits.sideband := code.word(0.U.asTypeOf(new Sideband(p)), code.seal(set))

  private val answer = Mux(near, io.nearAnswer, io.farAnswer)
  switch(state) {
    is(idle) {
      when(io.repair && valid) { state := drains }
    }
    is(drains) {
      slot := 0.U
      line := set
      when(io.quiet) { state := writes }
    }
    is(writes) {
      when(Mux(near, io.nearWrite.ready, io.farWrite.ready)) { state := waits }
    }
    is(waits) {
      when(answer.valid) {
        slot := slot + 1.U
        line := line + io.nearLines
        state := Mux(answer.bits.error || near, idle, writes)
        when(near && !answer.bits.error) { valid := false.B }
      }
    }
  }
}
