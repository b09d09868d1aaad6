// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.experimental.{ChiselAnnotation, annotate}
import scala.annotation.nowarn

/** A unit that a synthesis tool is asked not to mix with what is around it (`keep_hierarchy`).
  *
  * For wide choices that are one row of look-ups each. A mapper that sees more than them trades each of the largest for two
  * smaller ones, and has twice the cells; or puts more than one behind the other.
  */
@nowarn("cat=deprecation")
trait MappedAlone { this: RawModule =>
  private val self = this
  annotate(new ChiselAnnotation {
    def toFirrtl = firrtl.AttributeAnnotation(self.toTarget, "keep_hierarchy = \"yes\"")
  })
}
