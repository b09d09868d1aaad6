# SPDX-License-Identifier: Apache-2.0
"""Telemetry sources: what each can see, what it costs, and what it so tells of pages.

tiering.interfaces.Source is what they all are; costs.toml has their constants and where they come
from. A source whose parameters are not given has the published ones.
"""
