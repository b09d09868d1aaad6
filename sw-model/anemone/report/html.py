# SPDX-License-Identifier: Apache-2.0
"""Renders pages from the templates of this folder; style and script are inlined."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from anemone.report import theme

HERE = Path(__file__).parent


def render(template: str, **facts: object) -> str:
    """Render a template that extends base.html.

    All facts are escaped except Markup (pictures and captions).
    """
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "ensure_ascii": False}
    style = (HERE / "style.css").read_text(encoding="utf-8")
    script = (HERE / "page.js").read_text(encoding="utf-8")
    root = (
        f":root {{\n  color-scheme: light dark;\n  --font: {theme.FONT};\n{theme.variables()}\n}}\n"
    )
    return environment.get_template(template).render(
        style=Markup(root + style), script=Markup(script), **facts
    )
