# SPDX-License-Identifier: Apache-2.0
"""What the hardware is: its parameters and its registers."""

from anemone.hardware.features import Features
from anemone.hardware.geometry import Geometry

__all__ = ["Features", "Geometry"]
