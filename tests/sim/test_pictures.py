# SPDX-License-Identifier: Apache-2.0
"""Pictures: their parts, their files, and pictures of traces unlike the samples."""

from __future__ import annotations

import re
import struct
import xml.etree.ElementTree as ET
from pathlib import Path

import altair as alt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from anemone.cli import main
from anemone.report import charts, theme
from anemone.report.charts import Frame, Hover
from anemone.trace import Trace
from tests.sim import synthetic
from tests.sim.browser import Browser, needs_browser

FRAME = Frame(400, 200, left=60, right=20)


def bars(colour: str = "t1", heights: tuple[int, ...] = (3, 5)) -> alt.Chart:
    rows = charts.table(x=range(len(heights)), x2=np.arange(1, len(heights) + 1), y=heights)
    chart = alt.Chart(rows).mark_rect(fill=theme.colour(colour))
    return chart.encode(x="x:Q", x2="x2:Q", y="y:Q", y2=alt.Y2Datum(0))


@given(
    arrays(np.int64, st.tuples(st.integers(1, 6), st.integers(1, 9)), elements=st.integers(0, 8))
)
def test_the_boxes_of_a_heat_map_are_its_cells(level: np.ndarray) -> None:
    rows, columns = level.shape
    ys = np.arange(rows + 1.0)
    boxes = charts.cells(level, np.arange(columns + 1.0), ys[:-1], ys[1:]).to_pylist()
    seen = np.zeros_like(level)
    for box in boxes:
        at = slice(int(box["y"]), int(box["y2"])), slice(int(box["x"]), int(box["x2"]))
        assert not seen[at].any()
        seen[at] = box["level"]
    assert (seen == level).all()
    assert [box["level"] for box in boxes] == sorted(box["level"] for box in boxes)


@given(st.lists(st.floats(-50, 250), min_size=1, max_size=9))
def test_labels_are_moved_apart_and_keep_their_order(heights: list[float]) -> None:
    placed = charts.move_apart([(y, str(i), "") for i, y in enumerate(heights)], 17, 4, 180)
    gaps = np.diff([y for y, _, _ in placed])
    assert (gaps >= 17 - 1e-9).all()
    assert [float(heights[int(i)]) for _, i, _ in placed] == sorted(heights)


def test_a_picture_has_the_pages_colours_and_is_named() -> None:
    picture = charts.svg(FRAME, "Bars & more", charts.data(bars(), "bars"))
    root = ET.fromstring(picture)
    assert root.get("aria-label") == "Bars & more"
    assert root.get("viewBox") == "0 0 400 200"
    drawn = root.findall(".//*[@class='mark-rect role-mark data_bars_marks']/path")
    assert [path.get("fill") for path in drawn] == ["var(--t1)"]  # two bars, one path
    assert drawn[0].get("d").count("M") == 2
    assert "#" not in picture, "a colour of one theme only"
    assert "http" not in picture


def test_files_follow_the_theme_or_have_the_light_one(tmp_path: Path) -> None:
    picture = charts.svg(FRAME, "Bars", bars())
    charts.save(picture, tmp_path / "bars.svg")
    text = (tmp_path / "bars.svg").read_text(encoding="utf-8")
    assert ET.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"
    light, dark = theme.COLOURS["t1"]
    before, after = text.split("@media(prefers-color-scheme:dark)")
    assert f"--t1:{light}" in before
    assert f"--t1:{dark}" in after
    charts.save(picture, tmp_path / "bars.png")
    png = (tmp_path / "bars.png").read_bytes()
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", png[16:24]) == (800, 400)
    with pytest.raises(ValueError, match=r"neither \.svg nor \.png"):
        charts.save(picture, tmp_path / "bars.gif")


def test_a_colour_that_is_none_is_refused() -> None:
    with pytest.raises(KeyError):
        theme.colour("purple")


def test_hover_is_told_in_the_pictures_coordinates() -> None:
    hover = Hover([0, 160, 320], [140, 0], ["a", "b"], ["r"], [[1], [2]], "{row} {value}")
    data = hover.data(FRAME)
    assert data["x"] == [60, 220, 380]
    assert data["y"] == [154, 14]
    assert data["values"] == [[1], [2]]


def odd_traces(folder: Path) -> list[Path]:
    """Traces that are unlike the samples, as Parquet."""
    rng = np.random.default_rng(5)
    many = synthetic.moving(60_000, pages=700)
    crowd = synthetic.neighbours(20_000)
    who = rng.integers(0, 9, len(crowd)).astype(np.uint16)
    bare = synthetic.skewed(20_000)
    still = np.zeros(5_000, np.uint64)
    made = {
        "many": many,
        "crowd": Trace(crowd.addr, crowd.write, crowd.time_ns, who),
        "bare": Trace(bare.addr, bare.write, None, None),
        "single": synthetic.trace(np.array([64 * 7]), np.array([True]), 1),
        "still": Trace(still, still.astype(bool), still, None),
    }
    return [synthetic.save(trace, folder / f"{name}.parquet") for name, trace in made.items()]


@needs_browser
def test_a_page_of_odd_traces_is_drawn_too(tmp_path: Path) -> None:
    """No clock, no tenants, nine tenants, one poll, hundreds of huge pages, no time passing."""
    traces = odd_traces(tmp_path)
    given = [word for path in traces for word in ("--traces", str(path))]
    with pytest.raises(SystemExit) as stop:
        main(["sim", "--engine", "model", *given, "--out", str(tmp_path / "out")])
    assert stop.value.code == 0
    page = tmp_path / "out" / "report.html"
    text = page.read_text(encoding="utf-8")
    assert "Each row is 5 huge pages together" in text
    assert not re.search(r"NaN|undefined", text)
    with Browser(tmp_path / "profile") as tab:
        tab.open(page)
        found = {picture["key"]: picture for picture in tab.pictures()}
        assert len(found) == 8 * len(traces)
        for key, picture in found.items():
            assert picture["clashes"] == [], key
            assert picture["outside"] == [], key
            # A single poll has none before it, of which a hot set would be known.
            assert picture["marks"] >= 1 or key == "single-hotset", key
        assert tab.console == []
        assert not tab.scrolls_sideways()
        tab.screenshot(tmp_path / "odd.png")
