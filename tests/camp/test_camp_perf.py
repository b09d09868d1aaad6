# SPDX-License-Identifier: Apache-2.0
"""Parsing of `perf stat`'s output on machines with the counters."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anemone.io.errors import InputError
from anemone.models.camp import perf
from anemone.models.camp.counters import NEEDED
from anemone.models.camp.events import by_name, event_of
from tests.commands import one_line

VALUES = {
    "c": 9000, "P1": 5000, "P2": 4000, "P3": 3000, "P4": 700, "P5": 80, "P6": 90, "P7": 60,
    "P8": 20, "P11": 800, "P12": 30, "P13": 200, "P14": 44, "P15": 500, "P16": 33, "P17": 22,
}  # fmt: skip


def csv(platform: str, values: dict = VALUES, t: str = "", share: str = "100.00") -> str:
    """Lines of perf 6.1: an empty unit, run time in ns, percent, and no metric."""
    lines = ["# started on Sun Nov 22 19:06:15 2026", ""]
    for event in {e.counter: e for e in by_name(platform).values()}.values():
        if event.counter in values:
            lines.append(f"{t}{values[event.counter]},,{event.name},1002003004,{share},,")
    return "\n".join(lines) + "\n1.5,msec,task-clock,1500000,100.00,0.99,CPUs utilized\n"


def in_json(platform: str, values: dict = VALUES, t: str = "", share: float = 100.0) -> str:
    """Lines of `perf stat -j`: one object each, numbers as text with six decimal places."""
    rows = []
    for event in {e.counter: e for e in by_name(platform).values()}.values():
        if event.counter in values:
            number = values[event.counter]
            text = number if isinstance(number, str) else f"{number:.6f}"
            front = f'"interval" : {t}, ' if t else ""
            rows.append(
                f'{{{front}"counter-value" : {json.dumps(text)}, "unit" : "", "event" : '
                f'"{event.name}", "event-runtime" : 1002003004, "pcnt-running" : {share:.2f}, '
                '"metric-value" : "0.000000", "metric-unit" : ""}'
            )
    return "\n".join(rows)


@pytest.mark.parametrize("text", [csv, in_json])
@pytest.mark.parametrize("platform", NEEDED)
def test_a_whole_run(text, platform: str) -> None:
    assert perf.is_perf(text(platform))
    run = perf.run_of(text(platform), platform, "perf.txt")
    assert {n: run.total[n] for n in NEEDED[platform]} == {n: VALUES[n] for n in NEEDED[platform]}
    assert run.intervals == () and run.share == 100


@pytest.mark.parametrize("text", [csv, in_json])
def test_a_run_in_seconds(text) -> None:
    """With -I the total is the sum, and times are the ends of intervals."""
    double = {n: 2 * v for n, v in VALUES.items()}
    if text is csv:
        both = csv("spr", t="     1.000182347,") + csv("spr", double, t="     2.000455201,")
    else:
        both = in_json("spr", t="1.000182347") + "\n" + in_json("spr", double, t="2.000455201")
    run = perf.run_of(both, "spr", "perf.txt")
    assert [t for t, _ in run.intervals] == [1.000182347, 2.000455201]
    assert run.total["P3"] == 9000 and run.intervals[1][1]["P3"] == 6000


@pytest.mark.parametrize("text", [csv, in_json])
@pytest.mark.parametrize("word", ["<not counted>", "<not supported>"])
def test_what_was_not_counted_is_named(text, word: str) -> None:
    with pytest.raises(InputError) as refused:
        perf.run_of(text("skx", {**VALUES, "P6": word}), "skx", "perf.txt")
    message = one_line(refused.value)
    assert (
        "exe_activity.bound_on_stores" in message
        and word.strip("<>") in message
        and "line " in message
    )


def test_multiplexed_rows_are_perfs_estimate_and_are_told() -> None:
    assert perf.run_of(csv("skx", share="62.41"), "skx", "perf.txt").share == 62.41
    assert perf.run_of(in_json("skx", share=48.5), "skx", "perf.txt").share == 48.5


@pytest.mark.parametrize(
    "text", [csv("skx", share="0.00"), in_json("skx", share=0.0)], ids=["csv", "json"]
)
def test_a_row_that_was_never_counted_is_no_estimate(text: str) -> None:
    with pytest.raises(InputError) as refused:
        perf.run_of(text, "skx", "perf.txt")
    assert "cycles is counted 0 % of the time" in one_line(refused.value)


@pytest.mark.parametrize("platform", NEEDED)
def test_a_missing_row_is_named(platform: str) -> None:
    for name in NEEDED[platform]:
        less = {n: v for n, v in VALUES.items() if n != name}
        with pytest.raises(InputError) as refused:
            perf.run_of(csv(platform, less), platform, "perf.txt")
        assert event_of(name, platform).name in one_line(refused.value) and name in str(
            refused.value
        )


def test_names_as_people_write_them() -> None:
    text = (
        csv("skx")
        .replace(",cycles,", ",cpu-cycles:u,")
        .replace(",cycle_activity.stalls_l3_miss,", ",cpu/CYCLE_ACTIVITY.STALLS_L3_MISS/u,")
    )
    assert perf.run_of(text, "skx", "perf.txt").total["P3"] == 3000


def test_boxes_of_the_mesh_add_up() -> None:
    """--no-merge prints a row per CHA. A core event that occurs twice is refused."""
    text = csv("spr")
    again = next(line for line in text.splitlines() if "llc_lookup.all" in line)
    assert perf.run_of(f"{text}{again}\n", "spr", "perf.txt").total["P15"] == 1000
    again = next(line for line in text.splitlines() if "stalls_l3" in line)
    with pytest.raises(InputError, match=r"stalls_l3_miss is again"):
        perf.run_of(f"{text}{again}\n", "spr", "perf.txt")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("12,,branches,1,100.00,,\n", "events is missing"),
        ("x12,,cycles,1,100.00,,\n", 'cycles is "x12"'),
        ("-12,,cycles,1,100.00,,\n", 'cycles is "-12"'),
        ("12,,cycles,1,all,,\n", 'percent is "all"'),
        ("1.0,12,,cycles,1,100.00,,\n12,,instructions,1,100.00,,\n", "intervals is in some rows"),
        ('{"counter-value" : "12", "event" : "cycles"\n', "JSON is wrong"),
        (csv("skx", {**VALUES, "P2": 9999}), "P2 is 9999.0; allowed: no more than P1"),
    ],
    ids=range(7),
)
def test_text_that_cannot_be(text: str, message: str) -> None:
    with pytest.raises(InputError) as refused:
        perf.run_of(text, "skx", "perf.txt")
    assert message in one_line(refused.value)


_LINES = st.sampled_from(
    [
        *csv("skx").splitlines(),
        *in_json("skx").splitlines(),
        "<not counted>,,cycles,0,0.00",
        "{",
        "",
    ]
)


@given(st.lists(st.one_of(_LINES, st.text(max_size=30)), max_size=30))
def test_garbage_is_an_error_of_one_line(lines: list[str]) -> None:
    try:
        run = perf.run_of("\n".join(lines), "skx", "perf.txt")
    except InputError as e:
        one_line(e)
    else:
        assert set(NEEDED["skx"]) <= set(run.total)
