# SPDX-License-Identifier: Apache-2.0
"""What a bench raises."""


class Difference(AssertionError):
    """The hardware is not what its reference says."""
