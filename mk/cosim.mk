# SPDX-License-Identifier: Apache-2.0
.PHONY: cosim cosim-cxl cosim-kasan cosim-shell

cosim: setup ## run tests/cosim: a Linux guest in QEMU with the Verilated expander as a PCI function
	@mk/cosim-tools.sh >/dev/null
	python -m pytest -n 2 --dist worksteal tests/cosim

cosim-cxl: setup ## only the test of programs on the expander's memory; shows their hot pages
	@mk/cosim-tools.sh >/dev/null
	python -m pytest -s tests/cosim/test_cxl.py

cosim-kasan: setup ## test the driver under KASAN, lockdep and kmemleak (the first run builds a kernel, minutes)
	@mk/cosim-tools.sh >/dev/null
	@mk/kasan-kernel.sh >/dev/null
	ANEMONE_KERNEL=kasan python -m pytest -n 2 --dist worksteal tests/cosim/test_probe.py tests/cosim/test_lifecycle.py tests/cosim/test_watched.py tests/cosim/test_pages.py tests/cosim/test_fuzz.py

cosim-shell: setup ## open a shell in such a guest
	@mk/cosim-tools.sh >/dev/null
	@python -m anemone.cosim shell
