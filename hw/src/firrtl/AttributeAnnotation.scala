// SPDX-License-Identifier: Apache-2.0
package firrtl

import scala.annotation.nowarn

/** A Verilog attribute of a module: firtool knows it by the name of this class, which Chisel no longer has. */
@nowarn("cat=deprecation")
case class AttributeAnnotation(target: annotations.ModuleTarget, description: String)
    extends annotations.SingleTargetAnnotation[annotations.ModuleTarget] {
  def duplicate(target: annotations.ModuleTarget): AttributeAnnotation = copy(target = target)
}
