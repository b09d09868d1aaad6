# SPDX-License-Identifier: Apache-2.0
"""The report of the samples: RTL equals the model on what they begin with, and the page in headless
Chromium, its layout, tooltips and themes.

`make sim` runs all of them on the RTL.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.sim.browser import Browser, needs_browser
from tests.sim.pictures import MANIFEST, ROOT, SAMPLES, digest, model_page, report

pytestmark = pytest.mark.xdist_group("report")  # the tests share two pages, made in one worker

PICTURES = (
    "hotness", "bandwidth", "hotset", "skewness", "basepages", "similarity", "hitrate", "misses",
)  # fmt: skip
TOLD = {  # tooltip of each kind of picture
    "hotness": "accesses in the poll", "bandwidth": "B/s", "hotset": "traffic kept",
    "skewness": "huge pages", "basepages": "accesses of one", "similarity": "cosine",
    "hitrate": "%", "misses": "accesses missed",
}  # fmt: skip
BEGINNING = 60_000  # accesses of each sample that run on the RTL
SCREENSHOT = ROOT / "build" / "sim" / "report.png"

# The colours of the page's background, of a picture's text and of a cell of a heat map.
COLOURS = """
[[document.body, "backgroundColor"], [document.querySelector("svg text"), "fill"],
 [document.querySelector("[class*=data_heat] path"), "fill"]]
  .map(([element, what]) => getComputedStyle(element)[what])
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of `anemone sim --engine model`: the whole samples."""
    return model_page(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of `anemone sim` on what each sample begins with: RTL and model."""
    folder = tmp_path_factory.mktemp("compared")
    traces = folder / "traces"
    traces.mkdir()
    for sample in SAMPLES.glob("*.parquet"):
        pq.write_table(pq.read_table(sample).slice(0, BEGINNING), traces / sample.name)
    return report(folder / "out", traces)


@pytest.fixture
def tab(tmp_path: Path) -> Iterator[Browser]:
    with Browser(tmp_path / "profile") as opened:
        yield opened


def test_the_rtl_equals_the_model_on_every_sample(compared: Path) -> None:
    text = compared.read_text(encoding="utf-8")
    traces = sorted(path.name.split(".")[0] for path in SAMPLES.glob("*.parquet"))
    assert f"<h1>RTL equals the golden model on {len(traces)} traces</h1>" in text
    for trace in traces:
        folder = compared.parent / trace
        for kind in ("states", "reads"):
            rtl, model = (folder / e / f"{kind}.parquet" for e in ("rtl", "model"))
            assert rtl.read_bytes() == model.read_bytes()
            assert rtl.stat().st_size > 1000
        for placed in sorted((folder / "flat").iterdir()):
            rtl, model = (placed / engine / "sets.parquet" for engine in ("rtl", "model"))
            assert rtl.read_bytes() == model.read_bytes()
            ran = json.loads((placed / "rtl" / "report.json").read_text())
            assert ran["mismatches"] == 0 and ran["swaps"] == ran["misses"] > 10_000
    assert len(traces) >= 4


def test_the_page_fetches_nothing(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text.count("<!doctype html>") == 1
    for outside in ("http:", "https:", "src=", "@import", "url("):
        assert outside not in text, outside
    assert len(text) < 3_000_000


def test_the_pictures_in_docs_are_of_this_page(page: Path) -> None:
    """The pictures are up to date, if the RTL equals the model; otherwise run `make pictures`."""
    manifest = json.loads(MANIFEST.read_text(encoding="utf-8"))
    assert manifest["page"] == digest(page.read_text(encoding="utf-8")), "stale: make pictures"


@needs_browser
def test_every_picture_is_drawn_and_the_console_is_silent(page: Path, tab: Browser) -> None:
    tab.open(page, 1280)
    found = tab.pictures()
    tab.screenshot(SCREENSHOT)
    traces = sorted(path.name.split(".")[0] for path in SAMPLES.glob("*.parquet"))
    assert len(traces) >= 4
    assert sorted(f["key"] for f in found) == sorted(f"{t}-{p}" for t in traces for p in PICTURES)
    for picture in found:
        key = picture["key"]
        assert picture["width"] > 400, key
        assert picture["height"] > 150, key
        assert picture["marks"] >= 1, key
        minimum = {"bandwidth": 1, "skewness": 1, "hotset": 20, "hitrate": 1}.get(
            key.split("-")[1], 8
        )
        assert picture["drawn"] >= minimum, key
        assert picture["labels"] >= 6, key
        assert picture["outside"] == [], key
        assert picture["clashes"] == [], key
    assert not tab.scrolls_sideways(), "the page scrolls sideways"
    assert tab.console == []
    assert tab.requests == []
    assert SCREENSHOT.stat().st_size > 100_000


@needs_browser
def test_the_check_sees_an_empty_picture_and_a_noisy_console(page: Path, tab: Browser) -> None:
    """The two checks above can fail: they do for a page with an emptied picture and an error."""
    broken = page.with_name("broken.html")
    text = page.read_text(encoding="utf-8")
    spoilt = (
        "<script>document.querySelectorAll('[class*=data_]').forEach((m) => m.remove());"
        "const [one, two, three] = document.querySelectorAll('svg text');"
        "one.textContent = 'x'.repeat(400);"
        "three.setAttribute('transform', two.getAttribute('transform'));"
        "console.warn('heard'); throw new Error('thrown');</script></body>"
    )
    broken.write_text(text.replace("</body>", spoilt), encoding="utf-8")
    tab.open(broken, 1280)
    found = tab.pictures()
    assert all(picture["marks"] == 0 and picture["drawn"] == 0 for picture in found)
    assert found[0]["outside"]
    assert found[0]["clashes"]
    assert any("heard" in line for line in tab.console)
    assert any("thrown" in line for line in tab.console)


@needs_browser
@pytest.mark.parametrize("width", [390, 820, 1920])
def test_it_fits_every_window(width: int, page: Path, compared: Path, tab: Browser) -> None:
    tab.open(compared, width)  # with RTL and model the tables are wider
    assert not tab.scrolls_sideways()
    tab.open(page, width)
    assert not tab.scrolls_sideways()
    assert all(picture["clashes"] == [] for picture in tab.pictures())


@needs_browser
def test_hovering_tells_and_the_theme_switches(page: Path, tab: Browser) -> None:
    tab.open(page, 1280)
    tip = "((t) => t.hidden ? '' : t.textContent)(document.getElementById('tip'))"
    for key, words in TOLD.items():
        place = tab.run(
            f"(() => {{ const f = document.querySelector('[data-picture$={key}] svg');"
            "f.scrollIntoView({block: 'center'}); const b = f.getBoundingClientRect();"
            "return [b.left + b.width / 3, b.top + b.height / 2]; })()"
        )
        tab.move_to(*place)
        assert words in tab.run(tip), key
        assert tab.run("document.querySelectorAll('svg .spot').length") == 1, key
        tab.move_to(2, 2)
        assert tab.run(tip) == "", key
        assert tab.run("document.querySelectorAll('svg .spot').length") == 0, key
    before = tab.run(COLOURS)
    tab.run("document.getElementById('theme').click()")
    assert all(a != b for a, b in zip(before, tab.run(COLOURS), strict=True))
    assert tab.console == []


@needs_browser
def test_it_follows_the_systems_theme(page: Path, tmp_path: Path) -> None:
    seen = []
    for dark in (False, True):
        with Browser(tmp_path / f"dark-{dark}", dark) as tab:
            tab.open(page)
            seen.append(tab.run(COLOURS))
            assert tab.console == []
    assert all(light != dark for light, dark in zip(*seen, strict=True))
