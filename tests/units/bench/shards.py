# SPDX-License-Identifier: Apache-2.0
"""The bench of single units; it has directed tests only."""

from tests.bench.bench import Bench
from tests.units.bench.build import BUILDS, WORK, built

BENCH = Bench(
    package="tests.units.bench", work=WORK, builds=BUILDS, simulator=built, seeds={},
    quick=("x2", 0),
)  # fmt: skip
