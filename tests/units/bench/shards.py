# SPDX-License-Identifier: Apache-2.0
"""The bench of single units; it has directed tests only."""

from tests.bench.alone import Alone
from tests.bench.bench import Bench
from tests.units.bench.build import BUILDS, TOP, VISIBLE, WORK, Build, built, emit

BENCH = Bench(
    package="tests.units.bench", work=WORK, builds=BUILDS, simulator=built, seeds={},
    quick=("x2", 0),
)  # fmt: skip


def alone(build: Build) -> Alone:
    """This bench on a build."""
    return Alone(
        lambda: emit(build), TOP, VISIBLE,
        lambda simulator, folder, chosen: BENCH.run(build, "directed", folder, simulator, chosen),
    )  # fmt: skip
