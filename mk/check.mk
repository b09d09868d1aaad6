# SPDX-License-Identifier: Apache-2.0
.PHONY: test check lint format prove

test: setup ## run all of CI: linters, chiseltest, formal, cocotb, model and end-to-end tests
	@python -m mk.check

check: setup ## run the fast tier: linters of changed files, models, parsers, a few seeds of each bench
	@python -m mk.check fast

lint: setup ## run only linters and format checks
	@python -m mk.check lint

prove: setup ## run the proofs that take minutes: a read of flat memory returns what was last written (FRAMES=60 for more cycles), the ALU on the counters that `make test` leaves out
	@python -m pytest -q tests/formal/prove_*.py

format: setup ## format the sources
	./mill hw.reformat + hw.test.reformat
	ruff check --fix-only --quiet . && ruff format .
	git ls-files '*.c' '*.cpp' '*.h' '*.hpp' | xargs -r clang-format -i
