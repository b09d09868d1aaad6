# SPDX-License-Identifier: Apache-2.0
"""The exception of the benches."""


class Difference(AssertionError):
    """The hardware is not what its reference says."""
