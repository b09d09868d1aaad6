# SPDX-License-Identifier: Apache-2.0
.PHONY: sim pictures memo libcaption traces bench studies soak mutate coverage mpi

sim: setup ## replay the sample traces through the RTL, compare with the model, write build/sim/report.html
	anemone sim

pictures: sim ## copy the report's pictures to docs/, and note their report in docs/pictures.json
	python -m tests.sim.pictures

memo: ## build memo, which measures a host's memory: build/memo/memo, a static program
	$(MAKE) -C sim/memo BUILD=$(CURDIR)/build/memo

libcaption: ## build the library that binds a program's new memory on kernels before 6.9: build/caption/libcaption.so
	@mkdir -p build/caption
	$(or $(CC),cc) -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -shared -fPIC -pthread -o build/caption/libcaption.so sim/caption/libcaption.c

traces: setup ## capture the traces of real programs again
	anemone capture

bench: sim ## compare all samples as `make sim` does, measure slots, latency and speed (build/bench.json), and the small configuration's cells and levels
	anemone bench
	python -m anemone.bench.memo
	python -m fpga.synth check

studies: setup ## run the papers' experiments; write docs/results (STUDIES="sweep" WORKERS=2)
	for name in $(or $(STUDIES),loaded-latency ranking tuning hemem hemem-values memtis noisy-neighbour sweep sketches camp camp-interleave camp-colocate caption memo-devices message-free flat-slowdown flat-interference flat-tpp memstrata memstrata-sensitivity memstrata-pages memstrata-check); do anemone study $$name --out docs/results/$$name --workers $(or $(WORKERS),2) || exit 1; done

soak: setup ## compare random traffic with the models until stopped; resumes where it was stopped (SEED=n CONFIG=name, SOAK="expander 5000000", SOAK="driver 200000", SOAK="churn 1000000")
	python -m tests.bench.soak $(SOAK)

# RANDOM=n MUTATE="--seed s flat" repeats the random mutants of one build, and resumes where it was stopped.
mutate: setup ## check that a bench detects each mutant of the RTL (RANDOM=200 adds random mutants, MUTATE="flat --left")
	python -m tests.bench.mutate $(if $(RANDOM),--random $(RANDOM)) $(MUTATE)

coverage: setup ## measure line and toggle coverage of the emitted RTL; the bar is 95 % of the lines of each build (COVERAGE="flat engine")
	python -m tests.bench.rtl_coverage $(COVERAGE)

mpi: setup ## build the tracer of MPI receives, libanemone_mpi.so, for Open MPI and for MPICH
	python -m anemone.models.msgfree.tracer
