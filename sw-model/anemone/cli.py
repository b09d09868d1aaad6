# SPDX-License-Identifier: Apache-2.0
"""The command line `anemone`. Commands are imported only when called, so that --help is fast."""

from __future__ import annotations

import sys
from importlib import import_module

import typer

from anemone.io.errors import InputError, oneline

FAILED, BAD_INPUT = 1, 2  # exit statuses

# name -> (module with a Typer `app`, one line of help)
COMMANDS = {
    "replay": ("anemone.replay.command", "Replay a trace with telemetry rules."),
    "flat": ("anemone.flat.command", "Run a trace in flat memory mode."),
    "tier": ("anemone.tiering.command", "Run a trace on tiered memory."),
    "study": ("anemone.studies.command", "Run a paper's experiment on the simulator."),
    "capture": ("anemone.capture.command", "Capture memory traces of real programs."),
    "sim": ("anemone.sim.command", "Replay the sample traces on RTL and model, compare, report."),
    "camp": ("anemone.models.camp.command", "Predict a program's slowdown on CXL memory (CAMP)."),
    "memstrata": ("anemone.memstrata.command", "Share dedicated near memory among VMs."),
    "msgfree": ("anemone.models.msgfree.command", "MPI receives as loads from CXL memory."),
    "caption": ("anemone.caption.command", "Tune the share of new pages on CXL memory (Caption)."),
    "memo": ("anemone.memo.command", "Draw memo's measurements of a host's memory."),
    "bench": ("anemone.bench.command", "Measure slots, latency and speed of RTL and model."),
}

# The base class of Typer's errors for an invalid command line, which has no public name.
_UsageError = typer.BadParameter.__mro__[2]


def _app(argv: list[str]) -> typer.Typer:
    """An app with the called command; other commands only have their help text."""
    app = typer.Typer(
        add_completion=False,
        rich_markup_mode="markdown",
        pretty_exceptions_enable=False,
        help="Memory telemetry in hardware: replay traces with rules, on the RTL or its model.",
    )
    called = next((a for a in argv if not a.startswith("-")), None)
    for name, (module, text) in COMMANDS.items():
        if name == called:
            app.add_typer(import_module(module).app, name=name)
        else:
            app.command(name, help=text)(lambda: None)
    return app


def main(argv: list[str] | None = None) -> None:
    """Run the command line and exit: 0 for success, 1 if a backend failed, 2 for invalid input."""
    argv = (sys.argv[1:] if argv is None else argv) or ["--help"]
    try:
        status = _app(argv)(argv, prog_name="anemone", standalone_mode=False)
    except InputError as e:
        print(f"anemone: {e}", file=sys.stderr)
        status = BAD_INPUT
    except _UsageError as e:
        print(f"anemone: {oneline(e.format_message(), 400)} (try --help)", file=sys.stderr)
        status = BAD_INPUT
    except RuntimeError as e:
        # Our own errors become one line; other exceptions keep their traceback.
        if not type(e).__module__.startswith("anemone."):
            raise
        print(f"anemone: {e}", file=sys.stderr)
        status = FAILED
    except (KeyboardInterrupt, typer.Abort):
        status = 130
    sys.exit(status if isinstance(status, int) else 0)


if __name__ == "__main__":
    main()
