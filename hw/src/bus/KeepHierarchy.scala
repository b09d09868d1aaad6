// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.experimental.{ChiselAnnotation, annotate}
import scala.annotation.nowarn

/** A unit that a synthesis tool is asked not to merge with what is around it (`keep_hierarchy`): copies that have to
  * stay apart, and trees of look-ups that it would make deeper.
  */
@nowarn("cat=deprecation")
trait KeepHierarchy { this: RawModule =>
  private val self = this
  annotate(new ChiselAnnotation {
    def toFirrtl = firrtl.AttributeAnnotation(self.toTarget, "keep_hierarchy = \"yes\"")
  })
}
