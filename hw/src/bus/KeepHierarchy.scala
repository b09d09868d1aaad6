// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.experimental.{ChiselAnnotation, annotate}
import scala.annotation.nowarn

/** A module that synthesis must not merge with its surroundings (`keep_hierarchy`): for copies that must stay separate,
  * and for trees of look-ups that synthesis would make deeper.
  */
@nowarn("cat=deprecation")
trait KeepHierarchy { this: RawModule =>
  private val self = this
  annotate(new ChiselAnnotation {
    def toFirrtl = firrtl.AttributeAnnotation(self.toTarget, "keep_hierarchy = \"yes\"")
  })
}
