# SPDX-License-Identifier: Apache-2.0
"""Traces: their columns, readers, and pages by tenant."""

from anemone.trace.columns import COLUMNS, KINDS, Trace, concatenate, rebatch
from anemone.trace.reader import batches, read_trace

__all__ = ["COLUMNS", "KINDS", "Trace", "batches", "concatenate", "read_trace", "rebatch"]
