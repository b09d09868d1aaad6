// SPDX-License-Identifier: Apache-2.0
package anemone.formal

import anemone.Emit
import anemone.bus.{Axi4Params, IdCounterReference, RegisterSliceOrder}
import anemone.expander.{AdapterOrder, ReadResponseArbiterProof, ReadResponseOrder, SameIdTrackerReference}
import anemone.flat.{FlatMemoryProof, FlatParams, MshrAllocatorProof, MshrOpListsReference}
import anemone.nemo.{Features, NemoParams, SlotOrder}

/** Writes the SystemVerilog of proofs, a folder each: `EmitProof DIR NAME...` (tests/formal runs the checker on it). */
object EmitProof {
  private val flat = FlatParams(Axi4Params(idBits = 2), addressBits = 12, requests = 4)

  private val slots = NemoParams(
    pipelines = 2,
    channels = 1,
    states = 8,
    table = 2,
    addressBits = 8,
    features = Features(widths = Seq(2, 4)),
    wordBits = 4,
    lineWords = 4
  )

  def main(args: Array[String]): Unit = for (name <- args.tail) {
    def module = name match {
      case "AdapterOrder"             => new AdapterOrder(4, 2)
      case "ReadResponseArbiterProof" => new ReadResponseArbiterProof(5)
      case "ReadResponseOrder"        => new ReadResponseOrder
      case "RegisterSliceOrder"       => new RegisterSliceOrder
      case "FlatMemoryProof"          => new FlatMemoryProof(flat, requests = 3)
      case "IdCounterReference"       => new IdCounterReference(idBits = 1, countBits = 2)
      case "SameIdTrackerReference"   => new SameIdTrackerReference(idBits = 1, inFlight = 4)
      case "MshrAllocatorProof"       => new MshrAllocatorProof(flat)
      case "SlotOrder"                => new SlotOrder(slots)
      case "MshrOpListsReference"     => new MshrOpListsReference(flat)
    }
    Emit.whole(module, s"${args(0)}/$name", plain = true)
  }
}
