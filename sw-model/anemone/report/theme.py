# SPDX-License-Identifier: Apache-2.0
"""The style of pages and pictures: colours of both themes, fonts, and Vega-Lite's settings.

One picture serves both themes: its colours are CSS variables, which Vega passes through and which
the page (or the style inside an SVG file) defines. Series colours are Okabe and Ito's, which
colour-blind readers can distinguish. In both themes the lightness of the heat ramp changes
monotonically, starting near the background colour.
"""

from __future__ import annotations

import re

COLOURS: dict[str, tuple[str, str]] = {  # name: (light theme, dark theme)
    "page": ("#f6f7f6", "#0e1217"),
    "card": ("#ffffff", "#161b22"),
    "ink": ("#1a2027", "#e7ebef"),
    "muted": ("#57616c", "#9aa6b3"),
    "line": ("#dfe4e8", "#2b333d"),
    "grid": ("#eaeef1", "#242b34"),
    "ground": ("#f1f4f5", "#10161d"),
    "good": ("#00694f", "#3fc79a"),
    "good-wash": ("#e2f3ec", "#12302a"),
    "bad": ("#b33c00", "#ff9153"),
    "bad-wash": ("#fdebe1", "#3a2116"),
    "move": ("#b8325e", "#ff8fb4"),
    "h1": ("#d5ebe6", "#17304a"),
    "h2": ("#aedbd8", "#1b446a"),
    "h3": ("#80c6cb", "#1f5b85"),
    "h4": ("#52acbd", "#28749a"),
    "h5": ("#328dad", "#3a90a8"),
    "h6": ("#266d97", "#5cadb2"),
    "h7": ("#234c7a", "#93cbbf"),
    "h8": ("#1d2b52", "#dcf3e2"),
    "t0": ("#0072b2", "#4db2ec"),
    "t1": ("#d55e00", "#ff8a3d"),
    "t2": ("#00875f", "#2fc796"),
    "t3": ("#b4578d", "#e49ac4"),
    "t4": ("#a97800", "#f0c24b"),
    "t5": ("#4c5a68", "#b3bec9"),
}
LEVELS = 8  # colours of the heat ramp, h1 to h8
SERIES = 6  # colours of series, t0 to t5; the seventh series uses t0 again
LIGHT, DARK = 0, 1

FONT = (
    'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", "Liberation Sans", '
    "sans-serif"
)
# Label positions are computed with this font. It is wider than most fonts that a browser may use
# for FONT, so that labels that do not overlap here do not overlap there.
MEASURED = "DejaVu Sans, Liberation Sans, sans-serif"
TEXT, SMALL = 13, 12.5  # font sizes in pictures, px


def colour(name: str) -> str:
    """The CSS variable of a colour of COLOURS, for pictures and style sheets."""
    if name not in COLOURS:
        raise KeyError(name)
    return f"var(--{name})"


def series(number: int) -> str:
    """The colour of a series (such as a tenant or a policy), by number."""
    return colour(f"t{number % SERIES}")


def heat(level: int) -> str:
    """The colour of a heat level, 1 to LEVELS."""
    return colour(f"h{level}")


def variables() -> str:
    """CSS declarations of all colours; the element's color-scheme selects the theme."""
    return "\n".join(f"  --{n}: light-dark({a}, {b});" for n, (a, b) in COLOURS.items())


def resolved(picture: str, theme: int = LIGHT) -> str:
    """Replace colour names in a picture by one theme's colours, for renderers without CSS."""
    return re.sub(r"var\(--([\w-]+)\)", lambda name: COLOURS[name[1]][theme], picture)


def file_style() -> str:
    """The style inside an SVG file, which follows the system's theme. It does not use light-dark(),
    because few viewers support it.
    """
    light, dark = (
        "".join(f"--{n}:{both[theme]};" for n, both in COLOURS.items()) for theme in (LIGHT, DARK)
    )
    return (
        f"svg{{{light}background:var(--card);font-family:{FONT}}}"
        f"@media(prefers-color-scheme:dark){{svg{{{dark}}}}}"
    )


def config() -> dict:
    """Vega-Lite's settings for every picture; `charts.svg` applies them."""
    muted = colour("muted")
    words = {"labelColor": muted, "titleColor": muted, "labelFontSize": SMALL}
    words |= {"titleFontSize": SMALL, "titleFontWeight": "normal"}
    axis = {"domainColor": muted, "tickColor": muted, "gridColor": colour("grid")}
    return {
        "background": None,
        "font": MEASURED,
        # Margins are fixed, not computed from the labels, so that the time axes of pictures align.
        "autosize": {"type": "none"},
        "aria": False,  # the picture has one label as a whole; tooltips have the details
        "view": {"fill": None, "stroke": None},
        "axis": {**words, **axis, "labelPadding": 5, "titlePadding": 8},
        "axisX": {"grid": False, "labelFlush": False},
        "axisY": {"domain": False, "ticks": False},
        "legend": {**words, "orient": "right", "symbolStrokeWidth": 0, "titlePadding": 8},
        "text": {"fontSize": TEXT, "fill": colour("ink"), "baseline": "middle"},
        "line": {"strokeWidth": 2, "strokeJoin": "round"},
        "rule": {"stroke": muted},
    }
