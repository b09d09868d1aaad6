# SPDX-License-Identifier: Apache-2.0
"""Message-free CXL §V on our own programs: heat by tile size and side, and a conjugate gradient."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from anemone.models.msgfree.shared import LOADS, latency
from anemone.studies import message_free_runs as runs
from anemone.studies.message_free_judge import judge
from anemone.studies.study import Found, Point, Study


class MessageFree(Study):
    title = "Message-free MPI: heat, conjugate gradient, LAMMPS, HPCC"
    about = (
        "examples/mpi/heat.c and cg.c on 4 ranks, their messages traced and their loads sampled "
        "through the core model of the paper's Xeon (each rank with a quarter of its L3 and "
        "bandwidth), and the paper's model (Eq. 1 to 10) with the paper's parameters. A speedup is "
        "the core model's time of a step and the messages of a tile with four neighbours (Eq. 1), "
        "over the same less the gain. Then heat and the conjugate gradient on this machine as they "
        "are, by messages and in shared memory, beside what the model says for this machine's "
        "parameters. LAMMPS's example melt and HPCC as the distribution has them, by the paper's "
        "parameters of four nodes. And loads of messages on the Verilated expander that two hosts "
        "share, under load."
    )

    def points(self, quick: bool, seed: int) -> list[Point]:
        tiles = runs.MODELLED[:2] if quick else runs.MODELLED
        alone = runs.ALONE[:1] if quick else runs.ALONE
        sides = runs.GRADIENTS[:2] if quick else runs.GRADIENTS
        gradients = runs.GRADIENTS_ALONE[:1] if quick else runs.GRADIENTS_ALONE
        others = runs.OTHERS[:1] if quick else runs.OTHERS
        turns = range(1 if quick else runs.TURNS)
        made = [{"run": "heat", "tile": t, "steps": s, "period": p} for t, s, p in tiles]
        made += [{"run": "cg", "side": n, "iterations": i, "period": p} for n, i, p in sides]
        made += [{"run": "other", "program": name, "period": p} for name, p in others]
        made.append({"run": "parameters"})
        made += [{"run": "shared", "load": load} for load in (LOADS[::3] if quick else LOADS)]
        # In turn, so that other work on the machine affects both.
        made += [
            {"run": "alone", "tile": t, "steps": s, "group": group, "mode": mode, "turn": turn}
            for t, s in alone
            for turn in turns
            for group in runs.GROUPS
            for mode in ("message", group)
        ]
        made += [
            {"run": "cg alone", "side": n, "iterations": i, "mode": mode, "turn": turn}
            for n, i in gradients
            for turn in turns
            for mode in ("message", "shared")
        ]
        return [{**point, "seed": seed} for point in made]

    def run(self, point: Point) -> dict[str, Any]:
        if point["run"] == "heat":
            return runs.heat(point["tile"], point["steps"], point["period"])
        if point["run"] == "cg":
            return runs.cg(point["side"], point["iterations"], point["period"])
        if point["run"] == "alone":
            return runs.heat_alone(point["tile"], point["steps"], point["mode"], point["group"])
        if point["run"] == "cg alone":
            return runs.cg_alone(point["side"], point["iterations"], point["mode"])
        if point["run"] == "other":
            return runs.other(point["program"], point["period"])
        if point["run"] == "shared":
            return asdict(latency(point["load"], seed=point["seed"]))
        return runs.parameters_here()

    def finish(self, answers: list[tuple[Point, dict[str, Any]]]) -> Found:
        return judge(answers)


STUDY = MessageFree()
