# SPDX-License-Identifier: Apache-2.0
"""CAMP: how much slower a workload runs on CXL, and the best ratio of DRAM to CXL, from counters.

counters.py values and platforms; events.py and perf.py what perf counts; record.py runs it;
slowdown.py §4's model, interleave.py §5's, colocate.py §6.3's; calibrate.py the constants;
command.py the command line.
"""

from anemone.models.camp.counters import Run, check_counters, read
from anemone.models.camp.interleave import Endpoints, Tier, read_endpoints, weights
from anemone.models.camp.slowdown import Calibration, Slowdown, Stalls, predict, read_calibration

__all__ = [
    "Calibration",
    "Endpoints",
    "Run",
    "Slowdown",
    "Stalls",
    "Tier",
    "check_counters",
    "predict",
    "read",
    "read_calibration",
    "read_endpoints",
    "weights",
]
