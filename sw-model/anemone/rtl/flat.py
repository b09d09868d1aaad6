# SPDX-License-Identifier: Apache-2.0
"""Flat memory mode's controller as an engine."""

from __future__ import annotations

from anemone.flat.config import FlatConfig
from anemone.flat.result import FlatResult
from anemone.geometry import Geometry
from anemone.rtl.builder import EngineError
from anemone.traces import Trace


def run(config: FlatConfig, trace: Trace, geometry: Geometry, progress: object) -> FlatResult:
    """Raises EngineError: this version has no hardware of flat memory mode."""
    raise EngineError("flat memory mode's hardware is not built in yet: use --engine model")
