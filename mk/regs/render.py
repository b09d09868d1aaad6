# SPDX-License-Identifier: Apache-2.0
"""Fills the templates in the folder next to this file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jinja2

HEAD = "Generated from hw/regs/anemone.rdl by `make regs`; change that, not this."

_templates = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)


def render(template: str, **values: Any) -> str:
    """Fills templates/TEMPLATE.j2 with these values."""
    return _templates.get_template(f"{template}.j2").render(head=HEAD, **values)
