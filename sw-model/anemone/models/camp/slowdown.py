# SPDX-License-Identifier: Apache-2.0
"""Predicts a workload's slowdown on CXL from its counters on DRAM: the final model of §4.4.3."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import Any

from anemone.io.errors import Bare, InputError
from anemone.io.tables import Table, parse_toml, read_text
from anemone.models.camp.counters import Counters

_MAX_CONSTANT = 1e9  # largest constant: above it predictions may overflow
CONSTANTS = ("k_drd", "p", "q", "k_cache", "k_store")


@dataclass(frozen=True)
class Calibration:
    """A platform's constants, as in the final model. `file`: their name in error messages."""

    k_drd: float
    p: float
    q: float
    k_cache: float
    k_store: float
    file: str = "calibration"


@dataclass(frozen=True)
class Slowdown:
    """The slowdown by cause, as fractions of the run time on DRAM; negative for a speedup."""

    drd: float
    cache: float
    store: float

    @property
    def total(self) -> float:
        return self.drd + self.cache + self.store

    def named(self) -> dict[str, float]:
        """The components by the paper's names."""
        return {
            "S_DRd": self.drd,
            "S_Cache": self.cache,
            "S_Store": self.store,
            "S": self.total,
        }


@dataclass(frozen=True)
class Stalls:
    """Stall cycles by component (§4)."""

    s_llc: float
    s_cache: float
    s_sb: float

    def __iter__(self):
        return iter(asdict(self).values())


def stalls(counters: Counters, platform: str) -> Stalls:
    """s_LLC, s_Cache and s_SB from checked counters."""
    p = counters
    cache = p["P1"] - p["P2"] if platform == "skx" else p["P2"] - p["P3"]
    return Stalls(p["P3"], cache, p["P6"])


def predict(counters: Counters, calibration: Calibration, platform: str) -> Slowdown:
    """Predict the slowdown on CXL of a workload that ran on DRAM.

    counters: checked for the platform (counters.check). Raises InputError if the calibration gives
    these counters a scaling factor that is not above 0.
    """
    p, k = counters, calibration
    s = stalls(counters, platform)
    tolerance = k.p * p["P12"] / p["P13"] + k.q  # MLP / L is P12 / P13
    if not tolerance > 0:
        raise InputError(
            k.file,
            "constants",
            "p * P12 / P13 + q",
            Bare(f"{tolerance:g}, where P12 / P13 is {p['P12'] / p['P13']:g}"),
            "p and q that make it above 0",
        )
    return Slowdown(
        drd=k.k_drd * s.s_llc / p["c"] / tolerance,
        cache=k.k_cache * s.s_cache / p["c"] * _lfb_hits(p) * _from_memory(p, platform),
        store=k.k_store * s.s_sb / p["c"],
    )


def _lfb_hits(p: Counters) -> float:
    """R_LFB-hit of §4.2.2; 0 if no load missed L1."""
    missed = p["P4"] + p["P5"]
    return p["P5"] / missed if missed else 0.0


def _from_memory(p: Counters, platform: str) -> float:
    """R_Mem, approximated with the available counters (§4.4.3); 0 if nothing was prefetched."""
    if platform == "skx":
        return (p["P7"] - p["P8"]) / p["P7"] if p["P7"] else 0.0
    looked_up = p["P16"] + p["P17"]
    return p["P14"] / p["P15"] * p["P16"] / looked_up if looked_up else 0.0


def calibration_of(content: dict[str, Any], file: object) -> Calibration:
    """The constants in a table, which may also describe the measurement (`measured`)."""
    table = Table(file, "constants", content)
    table.only(*CONSTANTS, optional=("measured",))
    factors = {
        name: table.real(name, minimum=0, maximum=_MAX_CONSTANT)
        for name in CONSTANTS
        if name.startswith("k_")
    }
    line = {
        name: table.real(name, minimum=-_MAX_CONSTANT, maximum=_MAX_CONSTANT) for name in ("p", "q")
    }
    return Calibration(**factors, **line, file=str(file))


def read_calibration(path: str | os.PathLike) -> Calibration:
    """Read CAL.toml, which `camp calibrate` writes. Raises InputError."""
    return calibration_of(parse_toml(read_text(path), path), path)
