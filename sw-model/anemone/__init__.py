# SPDX-License-Identifier: Apache-2.0
"""Anemone: memory telemetry (NEMO) for a CXL memory expander, its golden models and tools."""

__version__ = "0.1.0"
