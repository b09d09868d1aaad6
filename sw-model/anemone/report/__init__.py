# SPDX-License-Identifier: Apache-2.0
"""What `anemone sim` makes of two replays: the comparison, the analysis, and the page with pictures."""
