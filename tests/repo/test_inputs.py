# SPDX-License-Identifier: Apache-2.0
"""A kept verdict depends on all inputs of its test (tests/inputs.py, tests/conftest.py)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import conftest, inputs
from tests.inputs import ROOT


def of(test: str) -> set[str]:
    return {path.relative_to(ROOT).as_posix() for path in inputs.imported(ROOT / test)}


@pytest.mark.parametrize(
    ("test", "depends"),
    [
        ("tests/flat/test_rtl_campaign.py", "tests/flat/bench/campaign.py"),
        ("tests/flat/test_rtl_campaign.py", "tests/flat/bench/environment.py"),
        ("tests/flat/test_rtl_campaign.py", "tests/bench/master.py"),
        ("tests/flat/test_rtl_campaign.py", "sw-model/anemone/golden/flat.py"),
        ("tests/expander/test_directed.py", "tests/expander/bench/directed_warm.py"),
        ("tests/expander/test_directed.py", "tests/engine/bench/rules.py"),
        ("tests/expander/test_directed.py", "tests/expander/bench/agilex_bench.sv"),
        ("tests/engine/test_campaign.py", "sw-model/anemone/golden/nemo.py"),
        ("tests/registers/test_registers.py", "tests/registers/bench.py"),
        ("tests/registers/test_registers.py", "hw/regs/anemone.rdl"),
        ("tests/cosim/test_listings.py", "tests/cosim/guest/listings.c"),
        ("tests/cosim/test_listings.py", "sw-model/anemone/cosim/init.sh"),
        ("tests/cosim/test_anemonectl.py", "docs/rules.md"),
        ("tests/rtl/test_build.py", "mk/regs/model.py"),
        ("tests/sim/test_report_page.py", "sw-model/anemone/report/style.css"),
        ("tests/formal/test_alu.py", "tests/formal/checker.py"),
        ("tests/fpga/test_cost.py", "fpga/synth/limits.toml"),
    ],
)
def test_an_input_is_seen(test: str, depends: str) -> None:
    """An input is an imported module, or a file that the test's entry in LONG names."""
    part = next(part for part in conftest.LONG if test.startswith(part))
    named = {
        path.relative_to(ROOT).as_posix()
        for pattern in conftest.LONG[part]
        for path in ROOT.glob(pattern)
    }
    assert depends in of(test) | named


def test_one_test_module_does_not_depend_on_its_neighbours() -> None:
    assert "tests/cosim/test_flat.py" not in of("tests/cosim/test_listings.py")


def test_every_long_entry_is_of_tests() -> None:
    """Every entry names existing tests, and each of its patterns matches a file."""
    tests = [path.relative_to(ROOT).as_posix() for path in ROOT.glob("tests/**/test_*.py")]
    for part, patterns in conftest.LONG.items():
        assert any(test.startswith(part) for test in tests), part
        for pattern in patterns:
            assert any(path.is_file() for path in ROOT.glob(pattern)), (part, pattern)


def test_a_changed_input_is_another_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tests").mkdir()
    module, data = tmp_path / "tests" / "test_x.py", tmp_path / "data"
    module.write_text("import tests.helper\n")
    (tmp_path / "tests" / "helper.py").write_text("A = 1\n")
    data.write_text("1")
    monkeypatch.setattr(inputs, "ROOT", tmp_path)
    monkeypatch.setattr(inputs, "PACKAGES", {"tests": tmp_path})
    monkeypatch.setattr(inputs, "TOOLS", ())

    def now(*words: str) -> str:
        return inputs.digest(module, ["data"], words)

    first = now("one")
    assert now("one") == first != now("two")
    (tmp_path / "tests" / "helper.py").write_text("A = 2\n")
    second = now("one")
    data.write_text("2")
    assert len({first, second, now("one")}) == 3
