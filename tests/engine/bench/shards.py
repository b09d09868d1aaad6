# SPDX-License-Identifier: Apache-2.0
"""The seeds of the engine's bench that `make test` runs: 270, about 1.3 M events."""

from tests.bench.bench import Bench
from tests.engine.bench.build import WORK, built
from tests.engine.bench.sizes import SIZES

BENCH = Bench(
    package="tests.engine.bench",
    work=WORK,
    builds=SIZES,
    simulator=built,
    seeds={
        "p3c4": [(first, 20) for first in range(0, 80, 20)],
        "p2c2": [(0, 50), (50, 50)],
        "p1c1": [(0, 60)],
        "lean": [(0, 15)],
        "some": [(0, 15)],
    },
    quick=("p1c1", 6),
)
