# SPDX-License-Identifier: Apache-2.0
.PHONY: verilog regs FORCE

verilog: build/rtl/filelist.f build/rtl-flat/filelist.f build/rtl-tiered/filelist.f ## emit the expander to build/rtl (ENGINE="--pipelines 4 --channels 1"), flat memory mode to build/rtl-flat, both together to build/rtl-tiered

# mk/setup.sh and not the target setup: a phony prerequisite would emit every time.
build/rtl/filelist.f: $(shell find hw/src -name '*.scala') build.sc .mill-version build/rtl.options
	@mk/setup.sh
	rm -rf $(@D)
	mk/scala.sh hw anemone.Elaborate --top expander $(ENGINE) --out $(@D)

# The largest ratio: it has every signal.
build/rtl-flat/filelist.f: $(shell find hw/src -name '*.scala') build.sc .mill-version
	@mk/setup.sh
	rm -rf $(@D)
	mk/scala.sh hw anemone.Elaborate --top flat --ratio 4 --out $(@D)

# Few pipelines, for they are all alike.
build/rtl-tiered/filelist.f: $(shell find hw/src -name '*.scala') build.sc .mill-version
	@mk/setup.sh
	rm -rf $(@D)
	mk/scala.sh hw anemone.Elaborate --top expander --flat --ratio 2 --pipelines 2 --out $(@D)

regs: setup ## write all that is generated from hw/regs/anemone.rdl
	python -m mk.regs

# Changes only when ENGINE does.
build/rtl.options: FORCE
	@mkdir -p $(@D) && { echo '$(ENGINE)' | cmp -s - $@ || echo '$(ENGINE)' >$@; }

.PHONY: synth ip

synth: setup ## what the hardware costs, with open tools, into docs/cost.md
	python -m fpga.synth

ip: setup ## a top as a package for another flow: SystemVerilog, IP-XACT, SDC, FuseSoC (IP=expander)
	python -m fpga.ip $(or $(IP),expander)
