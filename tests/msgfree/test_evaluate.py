# SPDX-License-Identifier: Apache-2.0
"""`anemone msgfree evaluate`: compared with Eq. 1 to 10 sample by sample, and by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anemone.cli import main
from anemone.models.msgfree import Metrics, Parameters, Site, evaluate, read_parameters
from anemone.models.msgfree.parameters import PAPER
from anemone.models.msgfree.weights import between, normalised, weights

MACHINE = read_parameters()
QUIET = Metrics(0.0, 0.0, 0.0, 0.0, 0.0)
BUSY = Metrics(73.0, 0.0, 0.0, 0.0, 0.0)


def site(*samples: tuple[float, str], **more: Any) -> Site:
    fields = {"messages": (), "rate": 1.0, "loads_per_element": 1.0, "element_bytes": 64.0,
              "unpack": False, "metrics": QUIET}  # fmt: skip
    return Site(samples=samples, **(fields | more))


def plain(of: Site, by: Parameters) -> tuple[float, float]:
    """T_access of MPI and of CXL, summed over samples and categories as in the paper."""
    first, later = weights(of.metrics, by)
    hits = [s for s in of.samples if s[1] in ("L1", "L2", "L3")]
    h = len(hits) / len(of.samples) if of.samples else 0.0
    d = max(0.0, 1 - of.element_bytes / 64)
    prefetch = max(0.0, h - d) / h if h else 0.0
    slower = by.cxl_lat - by.mem_lat

    def on_cxl(category: str, lat: float, source: str) -> float:
        worst = max(by.cxl_lat, lat + slower)
        if source == "MEM":
            return worst if category in ("MBW", "CBW") else by.cxl_lat
        if source == "LFB":
            more = {"MLAT": slower, "Compute": slower / 2, "CBW": 0.0, "CLAT": 0.0}
            return worst if category == "MBW" else lat + more[category]
        if category in ("MBW", "CBW"):
            return (1 - prefetch) * lat + prefetch * (lat + slower)
        return lat

    mpi = cxl = 0.0
    n = of.loads_per_element
    for lat, source in of.samples:
        for share, these, unpacked in ((1 / n, first, False), (1 - 1 / n, later, of.unpack)):
            for category, weight in these.items():
                lpf = by.lpf_lat if category in ("MLAT", "CLAT") else by.lpf_bw
                part = share * weight * of.rate / lpf
                mpi += part * lat
                cxl += part * (lat if unpacked else on_cxl(category, lat, source))
    return mpi, cxl


shares = st.floats(0, 1)
rates = st.floats(0, 400)
sites = st.builds(
    Site,
    messages=st.lists(st.floats(0, 1e6), max_size=4).map(tuple),
    samples=st.lists(
        st.tuples(st.floats(0, 2000), st.sampled_from(["L1", "L2", "L3", "LFB", "MEM"])),
        max_size=8,
    ).map(tuple),
    rate=st.floats(1, 1e5),
    loads_per_element=st.floats(1, 50),
    element_bytes=st.sampled_from([1.0, 4.0, 8.0, 63.0, 64.0, 200.0]),
    unpack=st.booleans(),
    metrics=st.builds(Metrics, rates, shares, rates, rates, shares),
)


@given(sites)
def test_the_equations(of: Site) -> None:
    found = evaluate(of, MACHINE)
    mpi, cxl = plain(of, MACHINE)
    assert found.access.mpi_ns == pytest.approx(mpi, rel=1e-9, abs=1e-6)
    assert found.access.cxl_ns == pytest.approx(cxl, rel=1e-9, abs=1e-6)
    sent = sum(650 + size / 4.09 for size in of.messages)
    assert found.transfer.mpi_ns == pytest.approx(sent)
    assert found.transfer.cxl_ns == pytest.approx(len(of.messages) * 2 * 653)
    gain = sent + mpi - len(of.messages) * 2 * 653 - cxl
    assert found.gain_ns == pytest.approx(gain, rel=1e-9, abs=1e-3)


@given(sites, st.floats(86, 1000), st.floats(86, 1000))
def test_costs_are_linear_in_the_latency_of_cxl(of: Site, one: float, other: float) -> None:
    """Therefore only the mean of a distribution of latencies matters."""
    costs = [
        evaluate(of, replace(MACHINE, cxl_lat=latency)).access.cxl_ns
        for latency in (one, other, (one + other) / 2)
    ]
    assert costs[2] == pytest.approx((costs[0] + costs[1]) / 2, rel=1e-9, abs=1e-6)


@given(st.builds(Metrics, rates, shares, rates, rates, shares))
def test_weights_are_shares(metrics: Metrics) -> None:
    first, later = weights(metrics, MACHINE)
    assert list(first) == ["MBW", "MLAT", "Compute"]
    assert list(later) == ["MBW", "MLAT", "CBW", "CLAT", "Compute"]
    for found in (first, later):
        assert sum(found.values()) == pytest.approx(1)
        assert all(weight >= 0 for weight in found.values())
        assert found["Compute"] <= MACHINE.compute_max_weight


def test_thresholds() -> None:
    assert between(0.03, 0.03, 0.33) == 0 == between(0.0, 0.03, 0.33)
    assert between(0.33, 0.03, 0.33) == 1 == between(2.0, 0.03, 0.33)
    assert between(0.18, 0.03, 0.33) == pytest.approx(0.25)
    assert between(0.2, 0.2, 0.2) == 0


def test_what_is_left_is_compute_and_then_the_others() -> None:
    assert normalised({"a": 0.7, "b": 0.1}, 0.5) == pytest.approx(
        {"a": 0.7, "b": 0.1, "Compute": 0.2}
    )
    assert normalised({"a": 0.2, "b": 0.0}, 0.5) == pytest.approx(
        {"a": 0.35, "b": 0.15, "Compute": 0.5}
    )
    assert normalised({"a": 1.5, "b": 0.5}, 0.5) == pytest.approx(
        {"a": 0.75, "b": 0.25, "Compute": 0.0}
    )


def test_latency_deducts_what_is_bandwidth() -> None:
    """MBW 0.25, MLAT 1 - 0.25, CBW 0.25, CLAT 1 minus these three: 0; divided by their sum."""
    middle = Metrics(0.18 * 73, 0.3, 0.425 * 307.2, 0.0, 0.9)
    first, later = weights(middle, MACHINE)
    assert first == pytest.approx({"MBW": 0.25, "MLAT": 0.75, "Compute": 0.0})
    expected = {"MBW": 0.2, "MLAT": 0.6, "CBW": 0.2, "CLAT": 0.0, "Compute": 0.0}
    assert later == pytest.approx(expected)


def test_a_stream_by_hand() -> None:
    """All loads are MBW. With 8-byte elements one hit of eight per line is a demand load. 3 of 4
    loads hit, so no hit is due to a prefetch (0.75 < 0.875). A miss of 100 ns becomes 417 + 14."""
    samples = ((5.0, "L1"), (5.0, "L1"), (5.0, "L2"), (100.0, "MEM"))
    found = evaluate(site(*samples, metrics=BUSY, element_bytes=8.0, rate=30.0), MACHINE)
    assert found.first == {"MBW": 1.0, "MLAT": 0.0, "Compute": 0.0}
    assert found.access.mpi_ns == pytest.approx(115 * 10)
    assert found.access.cxl_ns == pytest.approx((15 + 431) * 10)
    whole = evaluate(
        site(*samples, metrics=BUSY, rate=30.0), MACHINE
    )  # each hit is due to a prefetch
    assert whole.access.cxl_ns == pytest.approx((15 + 3 * 331 + 431) * 10)


def test_unpacked_loads_are_of_ddr() -> None:
    of = {"metrics": BUSY, "rate": 3.0, "loads_per_element": 4.0}
    found = evaluate(site((86.0, "MEM"), unpack=True, **of), MACHINE)
    assert found.access.mpi_ns == pytest.approx(86)
    assert found.access.cxl_ns == pytest.approx((417 + 3 * 86) / 4)


GOOD = {
    "messages": [1024, 2048],
    "samples": [{"latency_ns": 12, "source": "L2"}, {"latency_ns": 90.5, "source": "MEM"}],
    "rate": 100,
    "loads_per_element": 2,
    "element_bytes": 8,
    "metrics": {"mem_gb_per_s": 20, "l3_miss_share": 0.1, "l1_gb_per_s": 50, "l2_gb_per_s": 9,
                "l2_load_share": 0.2},
}  # fmt: skip


def run(folder: Path, content: object, *options: str) -> int | str | None:
    (path := folder / "site.json").write_text(json.dumps(content))
    with pytest.raises(SystemExit) as stop:
        main(["msgfree", "evaluate", "--site", str(path), *options])
    return stop.value.code


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["msgfree", "params", "--paper"])
    (params := tmp_path / "params.toml").write_text(capsys.readouterr().out)
    assert run(tmp_path, GOOD, "--params", str(params), "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert list(report) == ["weights_first", "weights_later", "transfer", "access", "gain_ns"]
    assert report["transfer"] == {
        "mpi_ns": pytest.approx(2 * 650 + 3072 / 4.09), "cxl_ns": pytest.approx(4 * 653),
    }  # fmt: skip
    (transfer, access) = report["transfer"], report["access"]
    gain = transfer["mpi_ns"] + access["mpi_ns"] - transfer["cxl_ns"] - access["cxl_ns"]
    assert report["gain_ns"] == pytest.approx(gain)
    assert run(tmp_path, {**GOOD, "unpack": True}) == 0
    assert "Better as" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"messages": [-1]}, "messages[0]: value is -1"),
        ({"messages": 4}, "messages is 4"),
        ({"samples": [{"latency_ns": 5, "source": "L4"}]}, 'samples[0]: source is "L4"'),
        ({"samples": [{"latency_ns": 5}]}, "source is missing"),
        ({"samples": [7]}, "samples[0]"),
        ({"rate": 0}, "rate is 0"),
        ({"loads_per_element": 0.5}, "loads_per_element is 0.5"),
        ({"element_bytes": 0}, "element_bytes is 0"),
        ({"unpack": 1}, "unpack is 1"),
        ({"metrics": {**GOOD["metrics"], "l3_miss_share": 10}}, "metrics.l3_miss_share is 10"),
        ({"metrics": 1}, "metrics is 1"),
        ({"more": 1}, "more is 1"),
        ({"rate": 1e308}, "gain_ns is not finite"),
        ({"messages": [1e308] * 9}, "gain_ns is not finite"),
    ],
)
def test_what_is_wrong_is_named(
    change: dict, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, GOOD | change) == 2
    shown = capsys.readouterr()
    assert message in shown.err and "site.json" in shown.err and not shown.out


def test_a_wrong_parameter_is_named_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (params := tmp_path / "params.toml").write_text(
        PAPER.read_text().replace("clat_thr_u = 0.5", "clat_thr_u = 0.01")
    )
    assert run(tmp_path, GOOD, "--params", str(params)) == 2
    message = capsys.readouterr().err
    assert "clat_thr_u is 0.01" in message and "line" in message
