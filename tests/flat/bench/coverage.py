# SPDX-License-Identifier: Apache-2.0
"""The functional coverage of the swap controller's campaign."""

POLICIES = {
    "every": ("hit", "swap"),
    "nth": ("hit", "miss", "swap"),
    "one_in": ("hit", "miss", "swap"),
    "never": ("hit", "miss"),
}


def required() -> set[str]:
    """All bins: every outcome of every policy for every kind of access, and other situations."""
    ways = ("read", "line", "part")
    bins = {f"{p}/{o}/{w}" for p, os_ in POLICIES.items() for o in os_ for w in ways}
    bins |= {f"{p}/dedicated/{w}" for p in POLICIES for w in ways}
    return bins | {"outside", "forwarded", "restart/traffic"}
