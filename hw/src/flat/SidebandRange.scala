// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.{Axi4, Axi4Params, Axi4Port, OneHot}
import chisel3._
import chisel3.util._

/** Near memory with sidebands on a controller that stores none: the last sixteenth of near memory has a word of 32 bits
  * for each line, at the line's number. So a near access is two requests of one id to the controller.
  *
  *   - A read asks for the beat of the line's word, then for the line. The line's answer goes to near's port with the
  *     word. A refused word refuses the line; a poisoned one becomes zero, which no set's code accepts.
  *   - A write writes the line, then the bytes of its word. The second answer goes to near's port, and is an error if
  *     either was.
  *
  * After `powerOn` it first zeroes the range in whole beats: writing a word is a partial write, which needs a beat with
  * good ECC. Refused zeroes are written again. After a warm reset it makes no request until the controller has given no
  * answer for [[FlatParams.drain]] cycles. Until then, and when none of its id is outstanding, an answer is dropped and
  * reported.
  *
  * Latency: one cycle for a line's read, as the word's goes first. No state but `cleared` survives a reset.
  *
  * @param nearBits   bits of a byte address of near memory
  * @param below      the controller's port: its ids may be shorter than near's, but not than an MSHR number
  * @param reads      most lines that are read at a time
  */
class SidebandRange(p: FlatParams, nearBits: Int, below: Axi4Params, reads: Int = 32) extends Module {
  require(p.sidebandBits <= SidebandRange.wordBits, s"sidebandBits: a word of 32 bits, not ${p.sidebandBits}")
  require(below.idBits >= p.mshrBits, s"below.idBits: ${p.mshrBits} or more, not ${below.idBits}")
  require(
    nearBits >= 12 && nearBits <= below.addressBits,
    s"nearBits: 12 to the ports' ${below.addressBits}, not $nearBits"
  )
  require(isPow2(reads), s"reads: a power of two, not $reads")
  val io = IO(new Bundle {
    val powerOn = Input(Bool())
    val near = Flipped(new Axi4Port(p.memory))

    /** Sideband of near's write data and read data. */
    val wsideband = Input(UInt(p.sidebandBits.W))
    val rsideband = Output(UInt(p.sidebandBits.W))
    val controller = new Axi4Port(below)

    /** An answer was dropped. */
    val stray = Output(Bool())

    /** No request is outstanding at the controller. */
    val quiet = Output(Bool())
  })
  private val (ar, aw, w, r, b) =
    (io.controller.ar, io.controller.aw, io.controller.w, io.controller.r, io.controller.b)

  // The word of line i is at byte 4 i of the range. The lines end where the range begins, so 4 i is within it.
  private val rangeBits = nearBits - 4
  private def range(offset: UInt): UInt = Cat(15.U(4.W), offset(rangeBits - 1, 0))
  private def beatOf(address: UInt): UInt = range(Cat(address(nearBits - 1, 10), 0.U(6.W)))
  private def placeOf(address: UInt): UInt = address(9, 6)

  // After a reset: late answers, then after power-up the zeroes.
  private val silent = RegInit(Mux(io.powerOn, p.drain.U, 0.U(log2Ceil(p.drain + 1).W)))
  private val drained = RegInit(false.B)
  when(silent === p.drain.U) { drained := true.B }.otherwise { silent := Mux(r.valid || b.valid, 0.U, silent + 1.U) }
  private val beats = (BigInt(1) << (rangeBits - 6)).U
  private val asked, zeroed, refusedZeroes = RegInit(0.U((rangeBits - 5).W))
  private val cleared = withReset(io.powerOn) { RegInit(false.B) }
  when(zeroed === beats) { cleared := true.B }
  private val open = drained && cleared
  private val again = refusedZeroes =/= 0.U
  private val zeroing = drained && !cleared && asked =/= beats && !again

  // Reads: the places of the words in their beats, by age.
  private val places = RegInit(0.U((4 * reads).W))
  private val reading = RegInit(0.U(log2Ceil(reads + 1).W))
  private val lineNext, wordCame = RegInit(false.B)
  private val asking = open && io.near.ar.valid
  ar.valid := asking && (lineNext || reading =/= reads.U)
  ar.bits := io.near.ar.bits
  ar.bits.addr := Mux(lineNext, io.near.ar.bits.addr, beatOf(io.near.ar.bits.addr))
  io.near.ar.ready := open && lineNext && ar.ready
  assert(!asking || io.near.ar.bits.id === 0.U, "near's reads have id 0, so that their answers keep their order")
  when(ar.fire) { lineNext := !lineNext }
  private val (begins, ends) = (ar.fire && !lineNext, io.near.r.fire)
  private val left = reading - ends
  private val older = Mux(ends, places >> 4, places)
  reading := left + begins
  places := older | OneHot.onlyIf(begins, (placeOf(io.near.ar.bits.addr) << Cat(left, 0.U(2.W)))(4 * reads - 1, 0))

  private val expected = open && reading =/= 0.U && r.bits.id === 0.U
  private val word = Reg(UInt(p.sidebandBits.W))
  private val wordRefused = Reg(Bool())
  private val words = r.bits.data.asTypeOf(Vec(16, UInt(SidebandRange.wordBits.W)))
  when(r.fire && expected) { wordCame := !wordCame }
  when(!wordCame) {
    word := Mux(r.bits.user, 0.U, words(places(3, 0)))
    wordRefused := r.bits.resp.orR
  }
  io.near.r.valid := r.valid && expected && wordCame
  io.near.r.bits := r.bits
  when(wordRefused) { io.near.r.bits.resp := Axi4.Resp.SlvErr.U }
  io.rsideband := word
  r.ready := !io.near.r.valid || io.near.r.ready

  // Writes: whether the first of the two answers of an id has come, and whether it was an error.
  private val wordNext = RegInit(false.B)
  private val writes = Module(new OutstandingRequests(p, 2 * p.requests))
  private val writing = open && io.near.aw.valid && io.near.w.valid && (wordNext || writes.io.available)
  aw.valid := writing || zeroing
  w.valid := writing || zeroing
  aw.bits := io.near.aw.bits
  w.bits := io.near.w.bits
  w.bits.last := true.B
  when(wordNext) {
    aw.bits.addr := beatOf(io.near.aw.bits.addr)
    w.bits.data := Fill(16, io.wsideband.pad(SidebandRange.wordBits))
    w.bits.strb := 15.U << Cat(placeOf(io.near.aw.bits.addr), 0.U(2.W))
    w.bits.user := false.B
  }
  when(!cleared) {
    aw.bits.id := 0.U
    aw.bits.addr := range(Cat(asked, 0.U(6.W)))
    aw.bits.len := 0.U
    aw.bits.size := 6.U
    aw.bits.burst := Axi4.Burst.Incr.U
    w.bits.data := 0.U
    w.bits.strb := Fill(p.memory.strbBits, 1.U)
    w.bits.user := false.B
  }
  assert(aw.fire === w.fire, "the controller takes a write's address and data together")
  when(aw.fire && writing) { wordNext := !wordNext }
  for (channel <- Seq(io.near.aw, io.near.w)) channel.ready := writing && wordNext && aw.ready

  private val first = RegInit(VecInit(Seq.fill(p.mshrs)(true.B)))
  private val refused = Reg(Vec(p.mshrs, Bool()))
  private val mshr = b.bits.id(p.mshrBits - 1, 0)
  writes.io.powerOn := reset.asBool
  writes.io.forget := false.B
  writes.io.issued.valid := aw.fire && writing && !wordNext
  writes.io.issued.bits := io.near.aw.bits.id
  writes.io.id := b.bits.id
  writes.io.arrives := io.near.b.fire
  private val awaited = open && writes.io.expected
  io.near.b.valid := b.valid && awaited && !first(mshr)
  io.near.b.bits := b.bits
  when(refused(mshr)) { io.near.b.bits.resp := Axi4.Resp.SlvErr.U }
  b.ready := !io.near.b.valid || io.near.b.ready
  when(b.fire && awaited) {
    first(mshr) := !first(mshr)
    refused(mshr) := b.bits.resp.orR
  }
  // The controller answers the zeroes in their order, as they have one id. Once it has refused one, the range is zeroed
  // from there on again when all are answered.
  private val zeroesLeft = asked - zeroed - refusedZeroes
  private val zeroedOne = drained && !cleared && b.valid && zeroesLeft =/= 0.U
  when(aw.fire && zeroing) { asked := asked + 1.U }
  when(zeroedOne) {
    when(again || b.bits.resp.orR) { refusedZeroes := refusedZeroes + 1.U }.otherwise { zeroed := zeroed + 1.U }
  }
  when(again && zeroesLeft === 0.U) {
    asked := zeroed
    refusedZeroes := 0.U
  }
  io.quiet := RegNext(Mux(cleared, reading === 0.U && !writes.io.busy, zeroesLeft === 0.U && !zeroing), false.B)
  io.stray := RegNext((r.fire && !expected) || (b.fire && !awaited && !zeroedOne), false.B)
}

object SidebandRange {

  /** Bits of a line's word. */
  val wordBits: Int = 32

  /** Lines of a near memory that has the range. */
  def lines(nearBits: Int): BigInt = (BigInt(1) << (nearBits - 6)) / 16 * 15
}
