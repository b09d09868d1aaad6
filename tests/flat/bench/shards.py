# SPDX-License-Identifier: Apache-2.0
"""The swap controller's bench, and the seeds of it that `make test` runs."""

from tests.bench.bench import Bench
from tests.flat.bench.build import BUILDS, WORK, built

BENCH = Bench(
    package="tests.flat.bench",
    work=WORK,
    builds=BUILDS,
    simulator=built,
    # Builds with a higher throughput run more beats.
    seeds={
        "flat1": [(0, 135), (135, 135)],
        "flat2": [(0, 215)],
        "flat3": [(0, 125)],
        "flat4": [(0, 50)],
    },
    quick=("flat2", 12),
)
