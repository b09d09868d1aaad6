# SPDX-License-Identifier: Apache-2.0
"""Input and output: errors in one line, TOML and JSON files, folders of results, built files."""

from anemone.io.errors import InputError

__all__ = ["InputError"]
