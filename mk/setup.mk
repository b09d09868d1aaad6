# SPDX-License-Identifier: Apache-2.0
.PHONY: setup lock

setup: ## install missing tools: system packages, .venv, Verilator, Mill
	@mk/setup.sh

lock: ## resolve requirements.in into requirements.lock again
	@mk/lock.sh
