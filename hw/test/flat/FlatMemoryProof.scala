// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.Axi4Pins
import anemone.formal.JudgedRun
import chisel3._
import chisel3.reflect.DataMirror
import chisel3.util._

/** The whole swap controller at its smallest: one set of a near and a far line. Each of the host's first requests is any
  * read or write of either line, with either of two ids. It is sent at once, or when all earlier ones are answered. A
  * write has the strobe of the first byte, of all others, of both or of none. The memories answer each access at once or
  * late; a late read returns the line as it was at the request or as it is at the answer.
  *
  * Property: a read of a line without an outstanding write returns what was last written to its bit 0. The other bits
  * are always zero, because nothing depends on them.
  *
  * @param requests requests that the host sends
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

    /** Follow the read accepted in this cycle, unless one is already followed. */
    val follow = Input(Bool())
    val near = Input(new FreeMemory)
    val far = Input(new FreeMemory)

    /** The followed read returned other data, an error or poison. */
    val wrong = Output(Bool())

    /** A response that matches no request. */
    val unexpected = Output(Bool())
  })
  private val judged = JudgedRun()
  private def constant[T <: Data](free: T): T = RegEnable(free, reset.asBool)
  private val watched = constant(io.watched)

  // All other inputs are off.
  for ((name, port) <- DataMirror.modulePorts(dut) if name != "clock" && name != "reset") port := DontCare
  dut.powerOn := reset.asBool
  dut.config.nearLines := 1.U
  dut.config.policy := constant(io.policy)
  dut.config.n := constant(io.n)

  // The host offers one request at a time, and accepts every response.
  private val host = dut.host
  private val left = RegInit(requests.U)
  private val present = RegInit(false.B)
  private val now = Reg(new FreeRequest)
  private val reads, writes = RegInit(VecInit.fill(ids)(0.U(log2Ceil(requests + 1).W)))
  private val idle = !(reads ++ writes).map(_.orR).reduce(_ || _)
  private val offers = present && (idle || !now.waits)
  private val addressAccepted, dataAccepted = RegInit(false.B)
  host.arvalid := offers && !now.write
  host.awvalid := offers && now.write && !addressAccepted
  host.wvalid := offers && now.write && !dataAccepted
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
  private val readAccepted = host.arvalid && host.arready
  private val addressDone = addressAccepted || (host.awvalid && host.awready)
  private val dataDone = dataAccepted || (host.wvalid && host.wready)
  private val writeAccepted = addressDone && dataDone
  addressAccepted := addressDone && !writeAccepted
  dataAccepted := dataDone && !writeAccepted
  private val accepted = readAccepted || writeAccepted
  when((!present || accepted) && dut.initialised) {
    present := left =/= 0.U
    left := Mux(left === 0.U, 0.U, left - 1.U)
    now := io.request
  }
  for (id <- 0 until ids) {
    reads(id) := reads(id) + (readAccepted && now.id === id.U) - (host.rvalid && host.rid === id.U)
    writes(id) := writes(id) + (writeAccepted && now.id === id.U) - (host.bvalid && host.bid === id.U)
  }
  private def none(counts: Vec[UInt], valid: Bool, id: UInt): Bool = valid && (id >= ids.U || counts(id(0)) === 0.U)
  io.unexpected := judged && (none(reads, host.rvalid, host.rid) || none(writes, host.bvalid, host.bid))

  // The watched line: what was last written, and the ids that may have outstanding writes to it.
  private val value, written = RegInit(false.B)
  private val writing = RegInit(VecInit.fill(ids)(false.B))
  private val sameLine = now.line === watched
  when(writeAccepted && sameLine && now.lowest) {
    value := now.data
    written := true.B
  }
  for (id <- 0 until ids) {
    when(host.bvalid && host.bid === id.U && writes(id) === 1.U) { writing(id) := false.B }
    when(writeAccepted && sameLine && now.id === id.U) { writing(id) := true.B }
  }

  // The followed read, until the line is to be written again, and the number of responses of its id before it.
  private val follows = RegInit(false.B)
  private val ahead = Reg(chiselTypeOf(reads.head))
  private val followed = Reg(chiselTypeOf(now.id))
  private val answered = host.rvalid && host.rid === followed
  when(answered) { ahead := ahead - 1.U }
  when(io.follow && readAccepted && sameLine && written && !writing.asUInt.orR && !follows) {
    follows := true.B
    followed := now.id
    ahead := reads(now.id) - (host.rvalid && host.rid === now.id)
  }.elsewhen((answered && ahead === 0.U) || (present && now.write && sameLine)) { follows := false.B }
  private val sound = host.rdata(0) === value && host.rresp === 0.U && !host.ruser && host.rlast
  io.wrong := judged && follows && answered && ahead === 0.U && !sound && !(present && now.write && sameLine)

  private val nearSideband = memory(dut.near, io.near, dut.near_wsideband)
  dut.near_rsideband := nearSideband
  memory(dut.far, io.far, 0.U(1.W))

  /** A memory of one line and its sideband, which is returned with read data. It has up to `slots` reads and as many
    * writes outstanding, of different ids.
    */
  private def memory(port: Axi4Pins, free: FreeMemory, sideband: UInt): UInt = {
    val line = RegInit(0.U((sideband.getWidth + 1).W))

    // AW and W are accepted together; the data are stored when the response is due.
    val stores = RegInit(VecInit.fill(slots)(0.U.asTypeOf(new Slot(p, line.getWidth))))
    val stored = Wire(Bool())
    port.awready := stored
    port.wready := stored
    stored := begins(
      stores,
      port.awvalid && port.wvalid,
      port.awid,
      free.late,
      port.wstrb(0) ## sideband ## port.wdata(0)
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

  /** An access takes a slot, if one is free and no other access has its id. */
  private def begins(of: Vec[Slot], valid: Bool, id: UInt, late: Bool, word: UInt): Bool = {
    val free = !of.map(_.valid).reduce(_ && _) && !of.map(s => s.valid && s.id === id).reduce(_ || _)
    val chosen = PriorityEncoderOH(of.map(!_.valid))
    for ((slot, here) <- of.zip(chosen)) {
      when(slot.left =/= 0.U) { slot.left := slot.left - 1.U }
      when(valid && free && here) {
        slot.valid := true.B
        slot.left := Mux(late, latency.U, 0.U)
        slot.id := id
        slot.word := word
      }
    }
    free && valid
  }

  /** The access whose response is due. Its slot is freed when the response is accepted. */
  private def due(of: Vec[Slot], takes: Bool): UInt = {
    val chosen = VecInit(PriorityEncoderOH(of.map(s => s.valid && s.left === 0.U))).asUInt
    for ((slot, here) <- of.zip(chosen.asBools)) when(here && takes) { slot.valid := false.B }
    chosen
  }
}

object FlatMemoryProof {

  /** Most outstanding reads, or writes, of a memory; cycles until a late one is answered. */
  private val slots = 2
  private val latency = 7

  /** Ids of the host. */
  private val ids = 2

  /** A request of the host. `waits`: for the responses of all earlier ones. `data`: bit 0 of a write. `lowest`,
    * `others`: the strobes of its first byte and of the others.
    */
  class FreeRequest extends Bundle {
    val write, waits, data, lowest, others = Bool()
    val id, line = UInt(1.W)
  }

  /** How a memory serves an access. `late`: it answers late. `early`: a read returns the line as it is now. */
  class FreeMemory extends Bundle {
    val late, early = Bool()
  }

  /** `word` of a write: the strobe of bit 0, the sideband and bit 0. `word` of a read: whether it is sampled already,
    * and the line.
    */
  private class Slot(p: FlatParams, bits: Int) extends Bundle {
    val valid = Bool()
    val left = UInt(log2Ceil(latency + 1).W)
    val id = UInt(p.memory.idBits.W)
    val word = UInt((bits + 1).W)
  }
}
