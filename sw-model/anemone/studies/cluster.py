# SPDX-License-Identifier: Apache-2.0
"""Points of a study on the processes of dask: of this machine, or of a cluster.

Answers come to this process one by one. A worker that dies loses its own point, which another one
runs again; a point that kills four workers ends the study.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import Any

from anemone.io.errors import InputError
from anemone.studies.study import Point, Study

_CONNECTS_WITHIN = "30s"


def spread(
    study: Study, points: Mapping[int, Point], workers: int, scheduler: str | None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """(number of the point, its answer) as they come. workers: processes, where no scheduler is.

    scheduler: the address of one, whose workers have this package. Raises InputError where it does
    not answer, and what a point raises.
    """
    from distributed import Client, LocalCluster, as_completed

    with ExitStack() as stack:
        if scheduler is None:
            cluster = LocalCluster(
                n_workers=min(workers, len(points)), threads_per_worker=1, memory_limit=None,
                dashboard_address=None, silence_logs=logging.CRITICAL,
            )  # fmt: skip
            stack.enter_context(cluster)
            client = Client(cluster)
        else:
            try:
                client = Client(scheduler, timeout=_CONNECTS_WITHIN)
            except (OSError, ValueError) as e:
                allowed = f"the address of a dask scheduler ({e})"
                raise InputError(
                    "command line", "options", "--scheduler", scheduler, allowed
                ) from e
        stack.enter_context(client)
        asked = {client.submit(study.run, point, pure=False): i for i, point in points.items()}
        for one in as_completed(asked):
            yield asked[one], one.result()
