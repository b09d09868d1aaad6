# SPDX-License-Identifier: Apache-2.0
"""The swap controller's bench, and the seeds of it that `make test` plays."""

from tests.bench.bench import Bench
from tests.flat.bench.build import BUILDS, WORK, built

BENCH = Bench(
    package="tests.flat.bench",
    work=WORK,
    builds=BUILDS,
    simulator=built,
    seeds={"flat1": [(0, 160)], "flat2": [(0, 200)], "flat3": [(0, 160)], "flat4": [(0, 200)]},
    quick=("flat2", 12),
)
