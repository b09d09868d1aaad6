# SPDX-License-Identifier: Apache-2.0
.PHONY: test lint format

test: setup ## all that CI runs: linters, chiseltest, formal, cocotb, model and end-to-end tests
	@python mk/check.py

lint: setup ## only the linters and formatters' checks
	@python mk/check.py lint

format: setup ## let the formatters rewrite the sources
	./mill hw.reformat + hw.test.reformat
	ruff check --fix-only --quiet . && ruff format .
	git ls-files '*.c' '*.cpp' '*.h' '*.hpp' | xargs -r clang-format -i
