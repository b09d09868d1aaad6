# SPDX-License-Identifier: Apache-2.0
"""Traces: what they are, how they are read, and whose pages are in them."""

from anemone.trace.reader import COLUMNS, Trace, read_trace

__all__ = ["COLUMNS", "Trace", "read_trace"]
