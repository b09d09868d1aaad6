# SPDX-License-Identifier: Apache-2.0
"""The choices of `--engine`: the Verilated RTL here, the golden models in `anemone.golden`."""

BACKENDS = ("rtl", "model")
NAMES = {"rtl": "RTL", "model": "model"}  # display names
