# SPDX-License-Identifier: Apache-2.0
"""The hardware's parameters and registers."""

from anemone.hardware.features import Features
from anemone.hardware.geometry import Geometry

__all__ = ["Features", "Geometry"]
