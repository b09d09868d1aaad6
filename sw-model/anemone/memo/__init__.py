# SPDX-License-Identifier: Apache-2.0
"""What `memo --json` (sim/memo) printed: read, and drawn."""
