# SPDX-License-Identifier: Apache-2.0
"""Checks the host port's responses against the golden model, in order of acceptance."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from typing import Any

from anemone.golden.flat import FlatMemory
from tests.bench.difference import Difference
from tests.bench.requests import DECERR, FULL, OKAY, Request

SHOWN = 60  # last pin events that a failure prints


class Scoreboard:
    """The golden model in lock-step: it runs a beat when the beat gets its position in the
    order.
    """

    def __init__(self, golden: FlatMemory, cover: Counter[str]) -> None:
        self.golden, self.cover = golden, cover
        self.log: deque[tuple[Any, ...]] = deque(maxlen=SHOWN)
        self.counts: Counter[str] = Counter()
        self.outcomes: deque[tuple[int, int]] = deque()  # kind, and the line
        self.poison: dict[int, int] = {}
        self._accepted: dict[bool, deque[tuple[Request, int]]] = {False: deque(), True: deque()}
        self._worst = OKAY  # answer to a beat of the burst that is written
        self.reads: defaultdict[int, deque[tuple[int, int, int, int, bytes]]] = defaultdict(deque)
        self.writes: defaultdict[int, deque[int]] = defaultdict(deque)

    @property
    def idle(self) -> bool:
        """Everything was answered."""
        waiting = self.outcomes or any(self._accepted.values())
        return not (waiting or any(self.reads.values()) or any(self.writes.values()))

    def fail(self, t: int, what: str) -> None:
        """Raise Difference."""
        shown = "\n".join(f"  {item}" for item in self.log)
        raise Difference(f"cycle {t}: {what}; the last on the host's pins:\n{shown}")

    def accept(self, t: int, request: Request) -> None:
        """A request, in the cycle it is accepted in."""
        self.log.append((t, "AW" if request.write else "AR", *request.pins))
        self._accepted[request.write] += ((request, k) for k in range(request.len + 1))

    def taken(self, t: int, write: bool, id: int, line: int) -> None:
        """An accepted beat got its position in the order."""
        self.log.append((t, "write" if write else "read", id, line))
        if not self._accepted[write]:
            self.fail(t, f"a beat of id {id}, line {line}, that was not accepted")
        request, k = self._accepted[write].popleft()
        if (request.id, request.beats()[k] >> 6) != (id, line):
            self.fail(t, f"id {id}, line {line} is not beat {k} of {request.pins}")
        last = k == request.len
        self.counts["beats"] += 1
        data = self._access(line, request, k)
        resp = OKAY if data is not None else DECERR
        if write:
            self._worst = max(resp, self._worst if k else OKAY)
            if last:
                self.writes[id].append(self._worst)
        else:
            poison = self.poison.get(line, 0) if data is not None else 0
            self.reads[id].append((line, resp, int(last), poison, data or b""))

    def _access(self, line: int, request: Request, k: int) -> bytes | None:
        golden = self.golden
        if not golden.config.has_line(line):
            self.cover["outside"] += 1
            return None
        if request.write:
            text, strobe, poison = request.data[k]
            golden.write(line, int(text, 2).to_bytes(64, "little"), strobe)
            # A whole write replaces the line's poison; a partial write only adds to it.
            old = 0 if strobe == FULL else self.poison.get(line, 0)
            self.poison[line] = old | poison if strobe else old
            data = b""
            self._cover(golden.outcome, "part" if strobe != FULL else "line")
        else:
            data = golden.read(line)
            self._cover(golden.outcome, "read")
        assert golden.outcome is not None
        self.outcomes.append((golden.outcome, line))
        return data

    def _cover(self, outcome: int | None, way: str) -> None:
        name = ("hit", "miss", "swap", "dedicated")[outcome or 0]
        self.cover[f"{self.golden.config.policy}/{name}/{way}"] += 1
        self.counts[name] += 1

    def write_data(self, t: int, beat: tuple[Any, ...], request: Request, addr: int) -> None:
        """A beat of W."""

    def response(self, t: int, id: int, resp: int) -> None:
        """B."""
        self.log.append((t, "B", id, resp))
        if not self.writes[id]:
            self.fail(t, f"an answer to no write, id {id}")
        if resp != (expected := self.writes[id].popleft()):
            self.fail(t, f"the write of id {id} is answered {resp}, not {expected}")

    def data(self, t: int, id: int, data: str, resp: int, last: int, user: int) -> None:
        """R."""
        self.log.append((t, "R", id, resp, last, user))
        if not self.reads[id]:
            self.fail(t, f"a beat that id {id} did not ask for")
        line, *expected, contents = self.reads[id].popleft()
        if [resp, last, user] != expected:
            self.fail(t, f"line {line}, id {id}: resp, last, poison {resp, last, user}: {expected}")
        if resp == OKAY and (seen := int(data, 2).to_bytes(64, "little")) != contents:
            self.fail(t, f"line {line}, id {id}: {seen.hex()}, not {contents.hex()}")

    def outcome(self, t: int, kind: int) -> None:
        """A decision."""
        if not self.outcomes:
            self.fail(t, f"outcome {kind} of no request")
        expected, line = self.outcomes.popleft()
        if kind != expected:
            self.fail(t, f"line {line}: outcome {kind}, not {expected}")
