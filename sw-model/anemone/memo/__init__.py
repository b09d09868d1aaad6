# SPDX-License-Identifier: Apache-2.0
"""Reads and draws the output of `memo --json` (sim/memo)."""
