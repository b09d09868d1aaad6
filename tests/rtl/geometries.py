# SPDX-License-Identifier: Apache-2.0
"""Small engines, which build in seconds, at the limits of the configuration."""

from __future__ import annotations

from anemone.hardware.features import Features
from anemone.hardware.geometry import Geometry
from anemone.telemetry.rules import OPS

TYPICAL = Geometry(channels=2, pipelines=2, states=64, table=64, device_gib=1)
SMALLEST = Geometry(channels=1, pipelines=1, states=16, table=2, device_gib=1)
WIDE = Geometry(4, 3, states=16, table=16, device_gib=3, features=Features(OPS, hash=True))
ALL = (TYPICAL, SMALLEST, WIDE)
