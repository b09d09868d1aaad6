# SPDX-License-Identifier: Apache-2.0
"""The exception of the benches."""


class Difference(AssertionError):
    """The hardware differs from its reference."""
