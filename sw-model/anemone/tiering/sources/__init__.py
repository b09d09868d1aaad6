# SPDX-License-Identifier: Apache-2.0
"""Telemetry sources: the accesses that each can see, its costs, and its estimates for pages.

All derive from tiering.interfaces.Source. costs.toml has their constants with sources. Defaults of
parameters are the published values.
"""
