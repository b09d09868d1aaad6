# SPDX-License-Identifier: Apache-2.0
"""The report as a person meets it: opened in headless Chromium, looked at, hovered over."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from anemone.cli import main
from tests.sim import browser
from tests.sim.browser import Browser

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "sim" / "traces"
PICTURES = (
    "hotness", "bandwidth", "hotset", "skewness", "basepages", "similarity", "hitrate", "misses",
)  # fmt: skip
SCREENSHOT = ROOT / "build" / "sim" / "report.png"

# All that is drawn, as the page lays it out: for each picture the size of its SVG, its data marks
# with an area or a length, labels outside their card, and pairs of labels that overlap.
INSPECT = """
[...document.querySelectorAll("[data-picture]")].map((figure) => {
  const svg = figure.querySelector("svg");
  const box = svg.getBoundingClientRect();
  const card = figure.getBoundingClientRect();
  const marks = [...svg.querySelectorAll(".mark")].filter((mark) => {
    const b = mark.getBBox();
    const style = getComputedStyle(mark);
    const ink = [style.fill, style.stroke].some((c) => c !== "none" && !/, 0\\)$/.test(c));
    return b.width + b.height > 0 && ink;
  });
  const labels = [...svg.querySelectorAll("text")].map((t) => [t, t.getBoundingClientRect()]);
  const outside = labels.filter(([, b]) => b.left < card.left || b.right > card.right
    || b.top < card.top || b.bottom > card.bottom).map(([t]) => t.textContent);
  const clashes = [];
  labels.forEach(([one, a], i) => labels.slice(i + 1).forEach(([two, b]) => {
    const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (wide > 1 && high > 3) clashes.push(`${one.textContent} / ${two.textContent}`);
  }));
  const drawn = marks.map((m) => (m.getAttribute("d") || "M").split("M").length - 1)
    .reduce((a, b) => a + b, 0);
  return {key: figure.dataset.picture, width: box.width, height: box.height, marks: marks.length,
          drawn, labels: labels.length, outside, clashes};
})
"""
TALL = "document.documentElement.scrollWidth > innerWidth"

needs_browser = pytest.mark.skipif(
    browser.installed() is None and "ubuntu" in Path("/etc/os-release").read_text().lower(),
    reason="no Chromium: Ubuntu has it as a snap only, which does not work everywhere",
)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the main job: the samples on both engines. Made once for all workers."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    out = shared / "sim"
    with (shared / "sim.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (out / "report.html").exists():
            with pytest.raises(SystemExit) as stop:
                main(["sim", "--traces", str(SAMPLES), "--out", str(out)])
            assert stop.value.code == 0, "the engines differ"
    return out / "report.html"


@pytest.fixture
def tab(tmp_path: Path) -> Iterator[Browser]:
    with Browser(tmp_path / "profile") as opened:
        yield opened


def test_the_rtl_equals_the_model_on_every_sample(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    traces = sorted(path.name.split(".")[0] for path in SAMPLES.glob("*.parquet"))
    assert f"<h1>RTL equals the golden model on {len(traces)} traces</h1>" in text
    for trace in traces:
        folder = page.parent / trace
        for kind in ("states", "reads"):
            rtl, model = (folder / e / f"{kind}.parquet" for e in ("rtl", "model"))
            assert rtl.read_bytes() == model.read_bytes()
            assert rtl.stat().st_size > 1000
        for placed in sorted((folder / "flat").iterdir()):
            rtl, model = (placed / engine / "sets.parquet" for engine in ("rtl", "model"))
            assert rtl.read_bytes() == model.read_bytes()
            report = json.loads((placed / "rtl" / "report.json").read_text())
            assert report["mismatches"] == 0 and report["swaps"] == report["misses"] > 100_000
    assert len(traces) >= 4


def test_the_page_fetches_nothing(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text.count("<!doctype html>") == 1
    for outside in ("http:", "https:", "src=", "@import", "url("):
        assert outside not in text, outside
    assert len(text) < 3_000_000


@needs_browser
def test_every_picture_is_drawn_and_the_console_is_silent(page: Path, tab: Browser) -> None:
    tab.open(page, 1280)
    found = tab.run(INSPECT)
    tab.screenshot(SCREENSHOT)
    traces = sorted(path.name.split(".")[0] for path in SAMPLES.glob("*.parquet"))
    assert len(traces) >= 4
    assert sorted(f["key"] for f in found) == sorted(f"{t}-{p}" for t in traces for p in PICTURES)
    for picture in found:
        key = picture["key"]
        assert picture["width"] > 400, key
        assert picture["height"] > 150, key
        assert picture["marks"] >= 1, key
        least = {"bandwidth": 1, "skewness": 1, "hotset": 20, "hitrate": 1}.get(
            key.split("-")[1], 8
        )
        assert picture["drawn"] >= least, key
        assert picture["labels"] >= 6, key
        assert picture["outside"] == [], key
        assert picture["clashes"] == [], key
    assert tab.run(TALL) is False, "the page scrolls sideways"
    assert tab.console == []
    assert tab.requests == []
    assert SCREENSHOT.stat().st_size > 100_000


@needs_browser
def test_the_check_sees_an_empty_picture_and_a_noisy_console(page: Path, tab: Browser) -> None:
    """The two checks above can fail: a page with a picture emptied and an error does."""
    broken = page.with_name("broken.html")
    text = page.read_text(encoding="utf-8")
    spoilt = (
        "<script>document.querySelectorAll('.mark').forEach((m) => m.remove());"
        "const [one, two, three] = document.querySelectorAll('svg .tick');"
        "one.textContent = 'x'.repeat(400); three.setAttribute('y', two.getAttribute('y'));"
        "console.warn('heard'); throw new Error('thrown');</script></body>"
    )
    broken.write_text(text.replace("</body>", spoilt), encoding="utf-8")
    tab.open(broken, 1280)
    found = tab.run(INSPECT)
    assert all(picture["marks"] == 0 and picture["drawn"] == 0 for picture in found)
    assert found[0]["outside"]
    assert found[0]["clashes"]
    assert any("heard" in said for said in tab.console)
    assert any("thrown" in said for said in tab.console)


@needs_browser
@pytest.mark.parametrize("width", [390, 820, 1920])
def test_it_fits_every_window(width: int, page: Path, tab: Browser) -> None:
    tab.open(page, width)
    assert tab.run(TALL) is False
    assert all(picture["clashes"] == [] for picture in tab.run(INSPECT))


@needs_browser
def test_hovering_tells_and_the_theme_switches(page: Path, tab: Browser) -> None:
    tab.open(page, 1280)
    place = tab.run(
        "(() => { const f = document.querySelector('[data-picture$=hotness] svg .ground');"
        "f.scrollIntoView({block: 'center'}); const b = f.getBoundingClientRect();"
        "return [b.left + b.width / 3, b.top + b.height / 3]; })()"
    )
    tab.move_to(*place)
    tip = "((t) => t.hidden ? '' : t.textContent)(document.getElementById('tip'))"
    assert "accesses in the poll" in tab.run(tip)
    tab.move_to(2, 2)
    assert tab.run(tip) == ""
    ground = "getComputedStyle(document.body).backgroundColor"
    before = tab.run(ground)
    tab.run("document.getElementById('theme').click()")
    assert tab.run(ground) != before
    assert tab.console == []
