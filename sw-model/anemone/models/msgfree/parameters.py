# SPDX-License-Identifier: Apache-2.0
"""The model's parameters (§V-B): latencies, bandwidths and thresholds of a machine, TOML."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from importlib.resources import as_file, files

from anemone.io.tables import Table, parse_toml, read_text, toml_place

PAPER = files("anemone.models.msgfree") / "paper.toml"

_LATENCIES = ("mpi_lat", "cxl_atomic_lat", "cxl_lat", "mem_lat")
_RATES = ("mpi_bw", "lpf_lat", "lpf_bw", "peak_mem_gb_per_s", "peak_l1_gb_per_s",
          "peak_l2_gb_per_s")  # fmt: skip
_CATEGORIES = ("mbw", "mlat", "cbw", "clat")


@dataclass(frozen=True)
class Parameters:
    """Latencies in ns, bandwidths in GB/s (10^9 bytes), the rest without a unit.

    lpf_lat, lpf_bw: how many loads are under way at a time where latency or bandwidth limits.
    *_thr_l, *_thr_u: Eq. 3's thresholds, as fractions.
    """

    mpi_lat: float
    cxl_atomic_lat: float
    cxl_lat: float
    mem_lat: float
    mpi_bw: float
    lpf_lat: float
    lpf_bw: float
    compute_max_weight: float
    mbw_thr_l: float
    mbw_thr_u: float
    mlat_thr_l: float
    mlat_thr_u: float
    cbw_thr_l: float
    cbw_thr_u: float
    clat_thr_l: float
    clat_thr_u: float
    peak_mem_gb_per_s: float
    peak_l1_gb_per_s: float
    peak_l2_gb_per_s: float


def read_parameters(path: str | os.PathLike | None = None) -> Parameters:
    """The parameters in a file, or the paper's. Raises InputError."""
    if path is None:
        with as_file(PAPER) as paper:
            return read_parameters(paper)
    text = read_text(path)
    content = parse_toml(text, path)
    table = Table(path, "", content, lambda field: toml_place(text, field))
    table.only(*(field.name for field in fields(Parameters)))
    found = {name: table.real(name, minimum=0) for name in _LATENCIES}
    found |= {name: table.real(name, minimum=0, above=True) for name in _RATES}
    found["compute_max_weight"] = table.real("compute_max_weight", minimum=0, maximum=1)
    for name in _CATEGORIES:
        lower = found[f"{name}_thr_l"] = table.real(f"{name}_thr_l", minimum=0)
        upper = found[f"{name}_thr_u"] = table.real(f"{name}_thr_u", minimum=0)
        if upper < lower:
            raise table.wrong(f"{name}_thr_u", f"at least {name}_thr_l, which is {lower:g}")
    return Parameters(**found)
