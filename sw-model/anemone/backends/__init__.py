# SPDX-License-Identifier: Apache-2.0
"""What `--engine` chooses: the Verilated RTL here, the golden models in `anemone.golden`."""

BACKENDS = ("rtl", "model")
NAMES = {"rtl": "RTL", "model": "model"}  # for people
