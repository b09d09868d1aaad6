# SPDX-License-Identifier: Apache-2.0
"""The control plane: telemetries in the style of NEMO's listings, on a model, the RTL or a device.

controller = ModelController(Geometry())    # or RtlController(), DeviceController("/dev/anemone0")
hot = controller.register(Spec(primary=Field(ALL_MEMORY, 21), read_effect=("reset", 0)))
for region, page in enumerate(pages):
    hot.set_translation(page >> 21, region)
counts = hot.read()
"""

from anemone.control.device import DeviceController
from anemone.control.model import ModelController, RtlController
from anemone.control.plane import ALL_MEMORY, Controller, Event, Field, Registered, Spec, sweep_s
from anemone.control.sketch import CountMin

__all__ = [
    "ALL_MEMORY", "Controller", "CountMin", "DeviceController", "Event", "Field", "ModelController",
    "Registered", "RtlController", "Spec", "sweep_s",
]  # fmt: skip
