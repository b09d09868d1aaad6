// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.Axi4Pins
import anemone.formal.JudgedRun
import chisel3._
import chisel3.reflect.DataMirror
import chisel3.util._

/** The whole swap controller at its smallest: one set of a near and a far line. Each of the host's first requests is any
  * read or write of either line by either of two ids, asked for at once or when all before it were answered; a write is
  * of the first byte, of all others, of both or of none. The memories answer each access at once or late, and what a late
  * read returns was there when it was asked for or is there when it is answered.
  *
  * A read, any one, of a line that no write is under way to, returns what was last written to bit 0 of it. The other bits
  * are always zero: what they hold decides nothing.
  *
  * @param requests of the host
  */
class FlatMemoryProof(p: FlatParams, requests: Int) extends Module {
  import FlatMemoryProof._
  require(p.ratio == 1, "the memories below have a line each")
  private val dut = Module(new FlatMemory(p))
  val io = IO(new Bundle {
    val policy = Input(UInt(2.W))
    val n = Input(UInt(2.W))
    val watched = Input(UInt(1.W))
    val request = Input(new FreeRequest)

    /** The read taken now is the one to be followed, if none is. */
    val mark = Input(Bool())
    val near = Input(new FreeMemory)
    val far = Input(new FreeMemory)

    /** The read returned something else, an error or poison. */
    val wrong = Output(Bool())

    /** An answer to nothing. */
    val unasked = Output(Bool())
  })
  private val judged = JudgedRun()
  private def constant[T <: Data](free: T): T = RegEnable(free, reset.asBool)
  private val watched = constant(io.watched)

  // What has to do with anything else is off.
  for ((name, port) <- DataMirror.modulePorts(dut) if name != "clock" && name != "reset") port := DontCare
  dut.powerOn := reset.asBool
  dut.config.nearLines := 1.U
  dut.config.policy := constant(io.policy)
  dut.config.n := constant(io.n)

  // The host offers one request at a time, and takes every answer.
  private val host = dut.host
  private val left = RegInit(requests.U)
  private val present = RegInit(false.B)
  private val now = Reg(new FreeRequest)
  private val reads, writes = RegInit(VecInit.fill(ids)(0.U(log2Ceil(requests + 1).W)))
  private val idle = !(reads ++ writes).map(_.orR).reduce(_ || _)
  private val offers = present && (idle || !now.waits)
  private val addressTaken, dataTaken = RegInit(false.B)
  host.arvalid := offers && !now.write
  host.awvalid := offers && now.write && !addressTaken
  host.wvalid := offers && now.write && !dataTaken
  for (
    (id, addr, size, burst) <- Seq(
      (host.arid, host.araddr, host.arsize, host.arburst),
      (host.awid, host.awaddr, host.awsize, host.awburst)
    )
  ) {
    id := now.id
    addr := now.line << 6
    size := 6.U
    burst := 1.U
  }
  host.wdata := now.data
  host.wstrb := Cat(Fill(p.memory.strbBits - 1, now.others), now.lowest)
  host.wlast := true.B
  host.rready := true.B
  host.bready := true.B
  private val readTaken = host.arvalid && host.arready
  private val addressGone = addressTaken || (host.awvalid && host.awready)
  private val dataGone = dataTaken || (host.wvalid && host.wready)
  private val writeTaken = addressGone && dataGone
  addressTaken := addressGone && !writeTaken
  dataTaken := dataGone && !writeTaken
  private val taken = readTaken || writeTaken
  when((!present || taken) && dut.initialised) {
    present := left =/= 0.U
    left := Mux(left === 0.U, 0.U, left - 1.U)
    now := io.request
  }
  for (id <- 0 until ids) {
    reads(id) := reads(id) + (readTaken && now.id === id.U) - (host.rvalid && host.rid === id.U)
    writes(id) := writes(id) + (writeTaken && now.id === id.U) - (host.bvalid && host.bid === id.U)
  }
  private def none(counts: Vec[UInt], valid: Bool, id: UInt): Bool = valid && (id >= ids.U || counts(id(0)) === 0.U)
  io.unasked := judged && (none(reads, host.rvalid, host.rid) || none(writes, host.bvalid, host.bid))

  // The line: what was last written, and by which id writes of it may be under way.
  private val value, written = RegInit(false.B)
  private val writing = RegInit(VecInit.fill(ids)(false.B))
  private val mine = now.line === watched
  when(writeTaken && mine && now.lowest) {
    value := now.data
    written := true.B
  }
  for (id <- 0 until ids) {
    when(host.bvalid && host.bid === id.U && writes(id) === 1.U) { writing(id) := false.B }
    when(writeTaken && mine && now.id === id.U) { writing(id) := true.B }
  }

  // The read that is followed, until the line is to be written again; how many of its id are answered before it.
  private val follows = RegInit(false.B)
  private val ahead = Reg(chiselTypeOf(reads.head))
  private val followed = Reg(chiselTypeOf(now.id))
  private val comes = host.rvalid && host.rid === followed
  when(comes) { ahead := ahead - 1.U }
  when(io.mark && readTaken && mine && written && !writing.asUInt.orR && !follows) {
    follows := true.B
    followed := now.id
    ahead := reads(now.id) - (host.rvalid && host.rid === now.id)
  }.elsewhen((comes && ahead === 0.U) || (present && now.write && mine)) { follows := false.B }
  private val sound = host.rdata(0) === value && host.rresp === 0.U && !host.ruser && host.rlast
  io.wrong := judged && follows && comes && ahead === 0.U && !sound && !(present && now.write && mine)

  private val besideNear = memory(dut.near, io.near, dut.near_wsideband)
  dut.near_rsideband := besideNear
  memory(dut.far, io.far, 0.U(1.W))

  /** One line behind a port, with what is stored beside it, which is returned as it is read. It has so many reads and
    * writes under way, of different ids.
    */
  private def memory(port: Axi4Pins, free: FreeMemory, beside: UInt): UInt = {
    val line = RegInit(0.U((beside.getWidth + 1).W))

    // AW and W are taken together, stored when the answer is due.
    val stores = RegInit(VecInit.fill(slots)(0.U.asTypeOf(new Slot(p, line.getWidth))))
    val stored = Wire(Bool())
    port.awready := stored
    port.wready := stored
    stored := begins(
      stores,
      port.awvalid && port.wvalid,
      port.awid,
      free.late,
      port.wstrb(0) ## beside ## port.wdata(0)
    )
    val storing = due(stores, true.B)
    port.bvalid := storing.orR
    port.bid := Mux1H(storing, stores.map(_.id))
    val in = Mux1H(storing, stores.map(_.word))
    when(storing.orR) { line := in(line.getWidth - 1, 1) ## Mux(in(line.getWidth), in(0), line(0)) }

    val loads = RegInit(VecInit.fill(slots)(0.U.asTypeOf(new Slot(p, line.getWidth))))
    port.arready := begins(loads, port.arvalid, port.arid, free.late, free.early ## line)
    val loading = due(loads, port.rready)
    val out = Mux1H(loading, loads.map(_.word))
    val word = Mux(out(line.getWidth), out, line)
    port.rvalid := loading.orR
    port.rid := Mux1H(loading, loads.map(_.id))
    port.rdata := word(0)
    port.rlast := true.B
    word(line.getWidth - 1, 1)
  }

  /** An access takes a slot, if there is one and none has its id. */
  private def begins(of: Vec[Slot], valid: Bool, id: UInt, late: Bool, word: UInt): Bool = {
    val room = !of.map(_.valid).reduce(_ && _) && !of.map(s => s.valid && s.id === id).reduce(_ || _)
    val chosen = PriorityEncoderOH(of.map(!_.valid))
    for ((slot, here) <- of.zip(chosen)) {
      when(slot.left =/= 0.U) { slot.left := slot.left - 1.U }
      when(valid && room && here) {
        slot.valid := true.B
        slot.left := Mux(late, latency.U, 0.U)
        slot.id := id
        slot.word := word
      }
    }
    room && valid
  }

  /** The access whose answer is due, which ends with it when it is taken. */
  private def due(of: Vec[Slot], takes: Bool): UInt = {
    val chosen = VecInit(PriorityEncoderOH(of.map(s => s.valid && s.left === 0.U))).asUInt
    for ((slot, here) <- of.zip(chosen.asBools)) when(here && takes) { slot.valid := false.B }
    chosen
  }
}

object FlatMemoryProof {

  /** Reads, or writes, that a memory has under way; cycles until a late one is answered. */
  private val slots = 2
  private val latency = 7

  /** Of the host. */
  private val ids = 2

  /** A request of the host's. `waits`: for all before it. `data`, `lowest`, `others`: bit 0 and the bytes of a write. */
  class FreeRequest extends Bundle {
    val write, waits, data, lowest, others = Bool()
    val id, line = UInt(1.W)
  }

  /** Of an access that a memory takes: its answer is late; a read returns what is there now. */
  class FreeMemory extends Bundle {
    val late, early = Bool()
  }

  /** `word`: of a write the strobe of bit 0, what goes beside the line and bit 0; of a read whether it has what it returns. */
  private class Slot(p: FlatParams, bits: Int) extends Bundle {
    val valid = Bool()
    val left = UInt(log2Ceil(latency + 1).W)
    val id = UInt(p.memory.idBits.W)
    val word = UInt((bits + 1).W)
  }
}
