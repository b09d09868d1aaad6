# SPDX-License-Identifier: Apache-2.0
"""Published policies of tiered memory, with their constants and sources.

All derive from tiering.interfaces.Policy. They only see the telemetry source's estimates.
"""
