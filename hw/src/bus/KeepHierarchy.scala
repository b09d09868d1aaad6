// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.experimental.{ChiselAnnotation, annotate}
import org.json4s.JsonDSL._
import scala.annotation.nowarn

/** A module that synthesis must not merge with its surroundings (`keep_hierarchy`): for copies that must stay
  * separate.
  */
@nowarn("cat=deprecation")
trait KeepHierarchy { this: RawModule =>
  private val self = this
  // firtool's annotation for Verilog attributes, by its name, since Chisel has no class for it.
  annotate(new ChiselAnnotation {
    def toFirrtl = firrtl.annotations.UnrecognizedAnnotation(
      ("class" -> "firrtl.AttributeAnnotation") ~
        ("target" -> self.toTarget.serialize) ~
        ("description" -> "keep_hierarchy = \"yes\"")
    )
  })
}
