# SPDX-License-Identifier: Apache-2.0
"""Caches results that take minutes and depend only on their inputs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from anemone.io.build_cache import built, digest
from tests.bench.build import ROOT

WORK = ROOT / "build" / "test" / "cached"


def cached(inputs: Iterable[str | Path], find: Callable[[], Any]) -> Any:
    """The result of `find`, as JSON gives it back; `find` is called again only if an input changed.

    inputs: texts, and paths of files.
    """
    inputs = list(inputs)

    def keep(fresh: Path) -> None:
        fresh.write_text(json.dumps(find()))

    return json.loads(built(WORK / f"{digest(inputs)[:32]}.json", inputs, keep).read_text())
