# SPDX-License-Identifier: Apache-2.0
"""A prediction's page has every call site and number, and its pictures show them."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

from anemone.cli import main
from anemone.models.msgfree.folder import read_folder
from anemone.models.msgfree.loads import read_loads
from anemone.models.msgfree.page import page
from anemone.models.msgfree.parameters import read_parameters
from anemone.models.msgfree.predict import frontier, predict
from anemone.models.msgfree.report import as_object
from tests.msgfree.test_predict import METRICS, A, B, folder, receive

ROWS = ((350, 0x10000, 6, "MEM"), (360, 0x10008, 5, "LFB"), (500, 0x27, 7, "L1"))


def made(path: Path, loads: bool = True) -> Path:
    """A page with one call site that gains by CXL, and one that does not."""
    at = folder(path, [receive(A, 100, 1 << 20), receive(B, 400, 8, 0x20)])
    if loads:
        (at / "loads.toml").write_text('how = "by <hand>"\nrate = 4\n' + METRICS)
        lines = "".join(f"0,{t},{a:#x},{lat},{source}\n" for t, a, lat, source in ROWS)
        (at / "loads.csv").write_text("rank,time_ns,address,latency_ns,source\n" + lines)
    return at


def drawn(text: str, key: str) -> str:
    """A figure of the page."""
    found = re.search(rf'data-picture="msgfree-{key}".*?</figure>', text, re.DOTALL)
    assert found, key
    return found[0]


@pytest.mark.parametrize("capacity", [None, 1 << 20, 100])
def test_every_site_is_on_the_page(tmp_path: Path, capacity: int | None) -> None:
    at = made(tmp_path / "run")
    ranks, loads = read_folder(at), read_loads(at)
    assert loads
    sites = predict(ranks, read_parameters(), (), capacity, loads)
    text = page(as_object(ranks, sites, capacity), sites, loads.how)
    use = "full" if capacity == 100 else "CXL"
    rows = re.findall(r"<tr><td><code>(.*?)</code>.*?</tr>", text, re.DOTALL)
    assert rows == [f"program+{A:#x}", f"program+{B:#x}"]
    assert re.findall(r'<span class="verdict ?(?:good)? ?">(\w+)</span>', text) == [use, "MPI"]
    assert "by &lt;hand&gt;" in text and f"{1 << 20:,}" in text
    # Two sites have two bars of two parts; three samples have three sources.
    assert drawn(text, "costs").count("µs of all messages") == 1
    assert len(re.findall(r'fill="var\(--t\d\)"', drawn(text, "costs"))) >= 8
    for source in ("L1", "LFB", "MEM"):
        assert source in drawn(text, "sources")
    assert "MLAT 100% of first loads, 100% of later ones; CBW 0% of later ones" in text
    gain = f"{sites[0].gain_ns / 1000:,.1f}"
    assert f"<td>{gain}</td>" in text
    assert ("no room" in text) == (capacity is not None)


def test_without_loads_it_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    at = made(tmp_path / "run", loads=False)
    out = tmp_path / "page.html"
    with pytest.raises(SystemExit) as ended:
        main(["msgfree", "predict", str(at), "--page", str(out)])
    assert not ended.value.code
    capsys.readouterr()
    text = out.read_text()
    assert "No loads were sampled" in text and 'data-picture="msgfree-sources"' not in text


def test_the_frontier_has_only_better_choices(tmp_path: Path) -> None:
    at = made(tmp_path / "run")
    best = frontier(predict(read_folder(at), read_parameters()))
    assert best[0] == (0, 0.0, ())
    assert all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(best))
    assert len(best) == 2
