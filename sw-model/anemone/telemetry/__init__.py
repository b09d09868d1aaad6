# SPDX-License-Identifier: Apache-2.0
"""The rules of telemetry pipelines."""

from anemone.telemetry.rules import Rule, identity_map, load_rules, parse_rules

__all__ = ["Rule", "identity_map", "load_rules", "parse_rules"]
