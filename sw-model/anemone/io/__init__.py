# SPDX-License-Identifier: Apache-2.0
"""What people write and what they get: errors in one line, tables of TOML, folders of results."""

from anemone.io.errors import InputError

__all__ = ["InputError"]
