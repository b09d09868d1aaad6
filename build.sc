// SPDX-License-Identifier: Apache-2.0
import mill._
import mill.scalalib._
import mill.scalalib.scalafmt.ScalafmtModule

/** Pins that have to move together: Chisel's plugin wants one exact Scala, chiseltest one Chisel. */
object pins {
  val scala = "2.13.15"
  val chisel = "6.7.0"
  val chiseltest = "6.0.0"
  val mainargs = "0.7.6"
  val oslib = "0.10.7"
  val ujson = "4.0.2"
}

/** A module whose main classes mk/scala.sh runs. */
trait Programs extends ScalaModule {

  /** A file of options for java. One that elaborates ends before the optimising compiler has paid for itself. */
  def java = T {
    val path = runClasspath().map(_.path).mkString(":")
    os.write(T.dest / "options", s"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp \"$path\"\n")
    PathRef(T.dest / "options")
  }
}

/** The hardware: what becomes silicon (hw/src) and its chiseltest suite (hw/test). */
object hw extends Programs with ScalafmtModule {
  def scalaVersion = pins.scala
  def ivyDeps = Agg(
    ivy"org.chipsalliance::chisel:${pins.chisel}",
    ivy"com.lihaoyi::mainargs:${pins.mainargs}",
    ivy"com.lihaoyi::os-lib:${pins.oslib}",
    ivy"com.lihaoyi::ujson:${pins.ujson}"
  )
  def scalacPluginIvyDeps = Agg(ivy"org.chipsalliance:::chisel-plugin:${pins.chisel}")
  def scalacOptions = Seq(
    "-deprecation",
    "-feature",
    "-unchecked",
    "-language:reflectiveCalls",
    "-Xlint:-unused,_",
    "-Wunused:imports,privates,locals,implicits",
    "-Wdead-code",
    "-Xfatal-warnings"
  )

  object test extends ScalaTests with TestModule.ScalaTest with Programs with ScalafmtModule {
    def sources = T.sources(millSourcePath)
    def ivyDeps = Agg(ivy"edu.berkeley.cs::chiseltest:${pins.chiseltest}")
    // The Mill server may have been started by a shell that does not have Verilator's folder on its path. testCached runs
    // again when this differs, so it says which tools there are, too.
    def forkEnv = T.input {
      val tools = T.workspace / ".venv" / "bin"
      val pins = os.read(T.workspace / "requirements.lock").hashCode
      val solver = scala.util.Try(os.proc("z3", "--version").call().out.trim()).getOrElse("no z3")
      Map("PATH" -> s"$tools:${T.env.getOrElse("PATH", "")}", "ANEMONE_TOOLS" -> s"$pins, $solver")
    }
    // Asserting on Unit-returning pokes and comparing with == is the normal style of a bench.
    def scalacOptions = hw.scalacOptions().filterNot(_ == "-Wdead-code")
  }
}
