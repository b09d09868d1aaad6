# SPDX-License-Identifier: Apache-2.0
"""Runs a study's points in dask processes, on this machine or on a cluster.

Answers arrive one by one. If a worker dies, another one runs its point again; a point that kills
four workers ends the study.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import Any

from anemone.io.errors import InputError
from anemone.studies.study import Point, Study

_CONNECTS_WITHIN = "30s"
_HAS_WORKERS_WITHIN = "60s"


def spread(
    study: Study, points: Mapping[int, Point], workers: int, scheduler: str | None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (number of the point, its answer) as points finish.

    workers: number of local processes, used without a scheduler. scheduler: its address; its
    workers need this package. Raises InputError if it does not answer or has no worker, and any
    exception of a point.
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
            client = _connected(scheduler)
        stack.enter_context(client)
        asked = {client.submit(study.run, point, pure=False): i for i, point in points.items()}
        for one in as_completed(asked):
            yield asked[one], one.result()


def _connected(scheduler: str) -> Any:
    """A client of the scheduler, once it has a worker."""
    from distributed import Client

    try:
        client = Client(scheduler, timeout=_CONNECTS_WITHIN)
    except (OSError, ValueError) as e:
        raise _refused(scheduler, f"the address of a dask scheduler ({e})") from e
    if not client.scheduler_info()["workers"]:
        print(f"{scheduler} has no worker yet: dask worker {scheduler}", file=sys.stderr)
        try:
            client.wait_for_workers(1, timeout=_HAS_WORKERS_WITHIN)
        except TimeoutError as e:
            client.close()
            allowed = f"a scheduler with a worker within {_HAS_WORKERS_WITHIN}"
            raise _refused(scheduler, allowed) from e
    return client


def _refused(scheduler: str, allowed: str) -> InputError:
    return InputError("command line", "options", "--scheduler", scheduler, allowed)
