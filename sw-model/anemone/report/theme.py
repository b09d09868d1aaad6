# SPDX-License-Identifier: Apache-2.0
"""The house style of pages and pictures: colours of both themes, type, and Vega-Lite's settings.

A picture is drawn once and serves both themes: its colours are the names of CSS variables, which
Vega passes through, and the page (or the style inside an SVG file) says what they are. Series
colours are Okabe and Ito's, which stay apart for colour-blind readers; the heat ramp runs from the
ground colour away, monotone in lightness, in both themes.
"""

from __future__ import annotations

import re

COLOURS: dict[str, tuple[str, str]] = {  # name: in the light theme, in the dark one
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
SERIES = 6  # colours of series, t0 to t5; a seventh series has the first one's
LIGHT, DARK = 0, 1

FONT = (
    'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", "Liberation Sans", '
    "sans-serif"
)
# Where labels go is worked out with this one: wider than most that a reader's browser may take for
# FONT, so that what does not overlap here overlaps nowhere.
MEASURED = "DejaVu Sans, Liberation Sans, sans-serif"
TEXT, SMALL = 13, 12.5  # type sizes in pictures, px


def colour(name: str) -> str:
    """A colour of COLOURS as pictures and style sheets name it."""
    if name not in COLOURS:
        raise KeyError(name)
    return f"var(--{name})"


def series(number: int) -> str:
    """The colour of a series (a tenant, a policy), by number."""
    return colour(f"t{number % SERIES}")


def heat(level: int) -> str:
    """The colour of a heat level, 1 to LEVELS."""
    return colour(f"h{level}")


def variables() -> str:
    """CSS declarations of all colours, for an element whose color-scheme chooses the theme."""
    return "\n".join(f"  --{n}: light-dark({a}, {b});" for n, (a, b) in COLOURS.items())


def resolved(picture: str, theme: int = LIGHT) -> str:
    """A picture with the colours of one theme for their names: for readers without CSS."""
    return re.sub(r"var\(--([\w-]+)\)", lambda name: COLOURS[name[1]][theme], picture)


def file_style() -> str:
    """The style inside an SVG file: the system's theme, without light-dark(), as few viewers know
    it."""
    light, dark = (
        "".join(f"--{n}:{both[theme]};" for n, both in COLOURS.items()) for theme in (LIGHT, DARK)
    )
    return (
        f"svg{{{light}background:var(--card);font-family:{FONT}}}"
        f"@media(prefers-color-scheme:dark){{svg{{{dark}}}}}"
    )


def config() -> dict:
    """Vega-Lite's settings for every picture: see `charts.svg`, which applies them."""
    muted = colour("muted")
    words = {"labelColor": muted, "titleColor": muted, "labelFontSize": SMALL}
    words |= {"titleFontSize": SMALL, "titleFontWeight": "normal"}
    axis = {"domainColor": muted, "tickColor": muted, "gridColor": colour("grid")}
    return {
        "background": None,
        "font": MEASURED,
        # A picture's margins are given, not measured, so that the time axes of several line up.
        "autosize": {"type": "none"},
        "aria": False,  # the whole picture has a label; its hover tells more
        "view": {"fill": None, "stroke": None},
        "axis": {**words, **axis, "labelPadding": 5, "titlePadding": 8},
        "axisX": {"grid": False, "labelFlush": False},
        "axisY": {"domain": False, "ticks": False},
        "legend": {**words, "orient": "right", "symbolStrokeWidth": 0, "titlePadding": 8},
        "text": {"fontSize": TEXT, "fill": colour("ink"), "baseline": "middle"},
        "line": {"strokeWidth": 2, "strokeJoin": "round"},
        "rule": {"stroke": muted},
    }
