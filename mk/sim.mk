# SPDX-License-Identifier: Apache-2.0
.PHONY: sim pictures memo libcaption traces bench studies soak mutate coverage mpi

sim: setup ## replay the sample traces through the RTL, compare with the model, write build/sim/report.html
	anemone sim

pictures: sim ## the report's pictures in docs/, and of which report they are (docs/pictures.json)
	python -m tests.sim.pictures

memo: ## build memo, which measures the memory of a host: build/memo/memo, one static file
	$(MAKE) -C sim/memo BUILD=$(CURDIR)/build/memo

libcaption: ## build what binds a program's new memory on kernels before 6.9: build/caption/libcaption.so
	@mkdir -p build/caption
	$(or $(CC),cc) -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -shared -fPIC -pthread -o build/caption/libcaption.so sim/caption/libcaption.c

traces: setup ## capture traces of real programs anew
	anemone capture

bench: setup ## measure slots, latency and speed into build/bench.json, and the small configuration's cells and levels
	anemone bench
	python -m anemone.bench.memo
	python -m fpga.synth check

studies: setup ## run the papers' experiments into docs/results (STUDIES="sweep" WORKERS=2)
	for name in $(or $(STUDIES),loaded-latency ranking tuning hemem hemem-values memtis noisy-neighbour sweep sketches camp camp-interleave camp-colocate caption memo-devices message-free flat-slowdown flat-interference flat-tpp memstrata memstrata-sensitivity memstrata-pages memstrata-check); do anemone study $$name --out docs/results/$$name --workers $(or $(WORKERS),2) || exit 1; done

soak: setup ## random traffic against the models until stopped (SEED=n CONFIG=name, SOAK="expander 5000000", SOAK="driver 200000", SOAK="churn 1000000"); it goes on where it was stopped
	python -m tests.bench.soak $(SOAK)

# RANDOM=n MUTATE="--seed s flat": the draw, again, of one build; it goes on where it was stopped.
mutate: setup ## break the RTL in many ways and see that a bench notices each (RANDOM=200 also draws so many, MUTATE="flat --left")
	python -m tests.bench.mutate $(if $(RANDOM),--random $(RANDOM)) $(MUTATE)

coverage: setup ## which lines of the emitted RTL the benches execute and which bits they toggle: 95 % of the lines of each build (COVERAGE="flat engine")
	python -m tests.bench.rtl_coverage $(COVERAGE)

mpi: setup ## build the tracer of MPI receives, libanemone_mpi.so, for Open MPI and for MPICH
	python -m anemone.models.msgfree.tracer
