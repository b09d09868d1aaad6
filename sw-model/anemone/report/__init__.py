# SPDX-License-Identifier: Apache-2.0
"""What `anemone sim` makes of two replays: the comparison, the analysis, the page of pictures."""
