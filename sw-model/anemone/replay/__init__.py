# SPDX-License-Identifier: Apache-2.0
"""A trace through telemetry rules, on either backend, and what that gives."""

from anemone.replay.run import Progress, replay

__all__ = ["Progress", "replay"]
