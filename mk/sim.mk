# SPDX-License-Identifier: Apache-2.0
.PHONY: sim traces bench soak mutate

sim: setup ## replay the sample traces through the RTL, compare with the model, write build/sim/report.html
	anemone sim

traces: setup ## capture traces of real programs anew
	anemone capture

bench: setup ## measure slots, latency and speed into build/bench.json
	anemone bench

soak: setup ## random traffic against the models until stopped (SEED=n CONFIG=name, SOAK="expander 5000000", SOAK="driver 200000")
	python -m tests.bench.soak $(SOAK)

mutate: setup ## break the RTL in many ways and see that the cocotb bench notices each
	python -m tests.bench.mutate
	python -m tests.bench.mutate expander
	python -m tests.bench.mutate tiered
	python -m tests.bench.mutate flat
