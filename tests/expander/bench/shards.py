# SPDX-License-Identifier: Apache-2.0
"""The seeds of the expander's bench that `make test` runs."""

from tests.bench.bench import Bench
from tests.expander.bench.build import WORK, built
from tests.expander.bench.sizes import BUILDS

BENCH = Bench(
    package="tests.expander.bench",
    work=WORK,
    builds=BUILDS,
    simulator=built,
    seeds={
        "x2": [(0, 30)],
        "x1": [(0, 40)],
        "board": [(0, 15)],
        # The second powers up with requests in the board's registers.
        "agilex": [(0, 4), (3696857083820, 1)],
        "tiered": [(0, 40)],
        "flatboard": [(0, 2)],
    },
    quick=("x1", 4),
)
