// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import chisel3._
import chisel3.util._

/** The first set whose sideband could not be believed, for software to know; and what it may have done about it. */
class UntrustedSet(p: FlatParams) extends Bundle {
  val valid = Bool()
  val set = UInt(p.lineBits.W)

  /** It is being repaired. */
  val repairing = Bool()
}

/** Keeps the first set that is not believed, until software has seen it, or has it repaired: then nobody knows any more
  * which line is where, so all places of the set are poisoned, far's first, and near's with the sideband of power-up. From
  * then on its lines read as poison until they are written.
  *
  * While it repairs, requests wait; it begins when those that were taken before are done. A write at a time, which takes
  * what memory takes to answer R + 1 of them. When one is refused it ends there, and the set stays as untrusted as it was,
  * and known here: near is written last.
  *
  * Latency: a set that is found is told in the next cycle.
  */
class SetRepair(p: FlatParams) extends Module {
  val io = IO(new Bundle {
    val nearLines = Input(UInt((p.lineBits + 1).W))

    /** A set was not believed. */
    val found = Flipped(Valid(UInt(p.lineBits.W)))

    /** Forget the set, for the next one to be kept; repair it. */
    val rearm = Input(Bool())
    val repair = Input(Bool())
    val untrusted = Output(new UntrustedSet(p))

    /** Nothing is in flight. From then on all writes of near and far, and their answers, are the repair's. */
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

  /** The far slot that is poisoned, or past them near; and its line in far. */
  private val slot = Reg(UInt(log2Ceil(p.ratio + 1).W))
  private val line = Reg(UInt((p.lineBits + 3).W))
  private val near = slot === p.ratio.U

  private val kept = valid && !(io.rearm && state === idle)
  when(io.found.valid && !kept) { set := io.found.bits }
  valid := kept || io.found.valid
  io.untrusted.valid := valid
  io.untrusted.set := set
  io.untrusted.repairing := state =/= idle
  io.writing := state === writes || state === waits

  private val ways = Seq[(DecoupledIO[LineWrite], Bool)](io.nearWrite -> near, io.farWrite -> !near)
  for ((way, mine) <- ways) {
    way.valid := state === writes && mine
    way.bits := 0.U.asTypeOf(way.bits)
    way.bits.line := line
    way.bits.stored.strobe := Fill(p.memory.strbBits, 1.U)
    way.bits.stored.poison := true.B
  }
  io.nearWrite.bits.line := set
  io.nearWrite.bits.beside := code.word(0.U.asTypeOf(new Sideband(p)), code.seal(set))

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
