# SPDX-License-Identifier: Apache-2.0
"""Runs the command line as a user does, and checks its errors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from anemone import cli
from anemone.io.errors import InputError


def run(argv: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """`anemone` with these words: exit status, output, errors."""
    with pytest.raises(SystemExit) as ended:
        cli.main(argv)
    output = capsys.readouterr()
    return int(ended.value.code or 0), output.out, output.err


def one_line(error: InputError) -> str:
    """The text of an error, checked to be one printable line."""
    assert str(error).isprintable() and 10 < len(str(error)) < 2000
    return str(error)


def assert_refused(
    path: Path,
    content: str | None,
    message: str,
    argv: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A run on a file of this content, or without it, ends with 2 and a line that names the file.

    All files of its folder stay as they were.
    """
    if content is None:
        path.unlink()
    else:
        path.write_text(content)
    before = {p.name: p.read_bytes() for p in path.parent.iterdir()}
    status, out, err = run(argv, capsys)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1 and message in err and str(path) in err, err
    assert {p.name: p.read_bytes() for p in path.parent.iterdir()} == before


def assert_names_field(parse: Callable[[str], object], text: str, start: str, allowed: str) -> None:
    """Parsing raises an InputError that starts so and says what would be allowed."""
    with pytest.raises(InputError) as caught:
        parse(text)
    message = one_line(caught.value)
    assert message.startswith(start), message
    assert allowed in message.partition("; allowed: ")[2], message
