# SPDX-License-Identifier: Apache-2.0
"""The bench of the memories that correct flipped bits; it has directed tests only."""

from tests.bench.bench import Bench
from tests.codes.bench.build import BUILDS, WORK, built

BENCH = Bench(
    package="tests.codes.bench", work=WORK, builds=BUILDS, simulator=built, seeds={},
    quick=("x2", 0),
)  # fmt: skip
