# SPDX-License-Identifier: Apache-2.0
# `make help` lists what there is to make. The recipes are in mk/.
.DEFAULT_GOAL := help
SHELL := /bin/sh
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

# Everything runs with the tools of .venv first, and with none of the caller's Python or Verilator settings.
export PATH := $(CURDIR)/.venv/bin:$(PATH)
export PYTHONNOUSERSITE := 1
unexport PYTHONPATH PYTHONHOME VERILATOR_ROOT

include mk/sim.mk mk/cosim.mk mk/check.mk mk/hw.mk mk/board.mk mk/driver.mk mk/setup.mk

.PHONY: help clean
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s  %s\n", $$1, $$2 }' mk/sim.mk mk/cosim.mk mk/check.mk mk/hw.mk mk/board.mk mk/driver.mk mk/setup.mk Makefile

clean: ## remove what was built (.venv and the user's caches stay)
	rm -rf build out test_run_dir
