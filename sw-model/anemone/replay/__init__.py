# SPDX-License-Identifier: Apache-2.0
"""Replays traces with telemetry rules on either backend."""

from anemone.replay.run import Progress, replay

__all__ = ["Progress", "replay"]
