# SPDX-License-Identifier: Apache-2.0
.PHONY: verilog

HW_SOURCES := $(shell find hw/src -name '*.scala') build.sc .mill-version

verilog: build/rtl/filelist.f ## emit the engine's SystemVerilog to build/rtl (ENGINE="--pipelines 4 --channels 1")

# mk/setup.sh and not the target setup: a phony prerequisite would emit every time.
build/rtl/filelist.f: $(HW_SOURCES) mk/hw.mk
	@mk/setup.sh
	rm -rf $(@D)
	./mill hw.run $(ENGINE) --out $(@D)
