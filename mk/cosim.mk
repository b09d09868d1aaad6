# SPDX-License-Identifier: Apache-2.0
.PHONY: cosim cosim-cxl cosim-shell

cosim: setup ## a Linux guest in QEMU with the Verilated expander as its PCI function: tests/cosim
	@mk/cosim-tools.sh >/dev/null
	python -m pytest tests/cosim

cosim-cxl: setup ## only its programs that run on the expander's memory, and which of their pages are hot
	@mk/cosim-tools.sh >/dev/null
	python -m pytest -s tests/cosim/test_cxl.py

cosim-shell: setup ## a shell in such a guest
	@mk/cosim-tools.sh >/dev/null
	@python -m anemone.cosim shell
