# SPDX-License-Identifier: Apache-2.0
"""Times libcachesim's LRU on a file of pages and prints JSON; runs in libcachesim's environment.

Arguments: a trace in libcachesim's binary format (oracleGeneral), the cache's pages, repetitions.
"""

from __future__ import annotations

import json
import sys
import time

import libcachesim


def main(path: str, pages: int, repeats: int) -> None:
    settings = libcachesim.ReaderInitParam(ignore_obj_size=True)
    kind = libcachesim.TraceType.ORACLE_GENERAL_TRACE
    reader = libcachesim.TraceReader(path, kind, settings)
    seconds, cpu = [], []
    for _ in range(repeats):
        reader.reset()
        cache = libcachesim.LRU(cache_size=pages)
        started, spent = time.perf_counter(), time.thread_time()
        missed, _ = cache.process_trace(reader)
        seconds.append(time.perf_counter() - started)
        cpu.append(time.thread_time() - spent)
    print(json.dumps({"seconds": min(seconds), "cpu": min(cpu), "missed": missed}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
