# SPDX-License-Identifier: Apache-2.0
.PHONY: verilog regs FORCE

verilog: build/rtl/filelist.f build/rtl-flat/filelist.f build/rtl-tiered/filelist.f ## emit the expander to build/rtl (ENGINE="--pipelines 4 --channels 1"), flat memory mode to build/rtl-flat, both together to build/rtl-tiered

# Runs mk/setup.sh instead of depending on the phony target setup, which would emit every time.
build/rtl/filelist.f: $(shell find hw/src -name '*.scala') build.sc .mill-version build/rtl.options
	@mk/setup.sh
	rm -rf $(@D)
	mk/scala.sh hw anemone.Elaborate --top expander $(ENGINE) --out $(@D)

# The largest ratio, because it has every signal.
build/rtl-flat/filelist.f: $(shell find hw/src -name '*.scala') build.sc .mill-version
	@mk/setup.sh
	rm -rf $(@D)
	mk/scala.sh hw anemone.Elaborate --top flat --ratio 4 --out $(@D)

# Few pipelines, because they are all alike.
build/rtl-tiered/filelist.f: $(shell find hw/src -name '*.scala') build.sc .mill-version
	@mk/setup.sh
	rm -rf $(@D)
	mk/scala.sh hw anemone.Elaborate --top expander --flat --ratio 2 --pipelines 2 --out $(@D)

regs: setup ## write the files that are generated from hw/regs/anemone.rdl
	python -m mk.regs

# Changes only when ENGINE does.
build/rtl.options: FORCE
	@mkdir -p $(@D) && { echo '$(ENGINE)' | cmp -s - $@ || echo '$(ENGINE)' >$@; }

.PHONY: synth ip

synth: setup ## measure the hardware's cost with open tools; write docs/cost.md
	python -m fpga.synth

ip: setup ## package a top for another flow: SystemVerilog, IP-XACT, SDC, FuseSoC (IP=expander)
	python -m fpga.ip $(or $(IP),expander)
