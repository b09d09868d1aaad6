# SPDX-License-Identifier: Apache-2.0
"""Traces: what they are, how they are read, and whose pages are in them."""

from anemone.trace.columns import COLUMNS, KINDS, Trace, concatenate, rebatch
from anemone.trace.reader import batches, read_trace

__all__ = ["COLUMNS", "KINDS", "Trace", "batches", "concatenate", "read_trace", "rebatch"]
