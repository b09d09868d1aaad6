# SPDX-License-Identifier: Apache-2.0
"""Policies of tiered memory as published, each with its constants and where they come from.

tiering.interfaces.Policy is what they all are. They see what a telemetry source tells of pages, and
nothing else.
"""
