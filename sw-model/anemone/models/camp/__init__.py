# SPDX-License-Identifier: Apache-2.0
"""CAMP: predicts from counters how much CXL slows a workload, and the best DRAM to CXL ratio.

counters.py has the counters and platforms, events.py the events for perf, perf.py the parser of
perf's output, record.py the runs under perf. slowdown.py is the model of §4, interleave.py that of
§5 and colocate.py that of §6.3. calibrate.py and fit.py find the constants. command.py is the
command line.
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
