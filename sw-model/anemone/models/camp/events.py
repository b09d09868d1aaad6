# SPDX-License-Identifier: Apache-2.0
"""The events of Table 5 with Intel's names and encodings, in groups that a core can count at once.

Names and encodings are from Intel's event files (github.com/intel/perfmon: SKX, SPR, EMR). perf
gets the numeric encodings, so that versions without an event table for the processor work, too. The
paper abbreviates P14 (LLC_LOOKUP.PF_RD), P16 and P17 (TOR_INS.IA_PREF, .IA_HIT_PREF). We take P14
as LLCPREF_LOCAL, and P16 and P17 as the data-read prefetches IA_MISS_DRD_PREF and IA_HIT_DRD_PREF:
prefetches for RFOs and code have separate events, and no load waits for them. P9 and P10 cancel out
in the final model and are not recorded.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Event:
    """One counter. name: Intel's, in lower case; encoding: in perf's syntax; uncore: needs `-a`."""

    counter: str
    name: str
    encoding: str
    uncore: bool = False

    @property
    def asked(self) -> str:
        """The argument of `perf stat -e` that makes perf print the event's name."""
        if not self.encoding:
            return self.name
        return f"{'uncore_cha' if self.uncore else 'cpu'}/{self.encoding},name={self.name}/"


def _core(counter: str, name: str, encoding: str) -> Event:
    return Event(counter, name, encoding)


def _cha(counter: str, name: str, encoding: str) -> Event:
    return Event(counter, name, encoding, uncore=True)


_CYCLES = Event("c", "cycles", "")
INSTRUCTIONS = Event("instructions", "instructions", "")
_OUTSTANDING = "offcore_requests_outstanding"
_PREFETCH = "offcore_response.pf_l1d_and_sw"
_STALLS = (
    _core("P2", "cycle_activity.stalls_l2_miss", "event=0xa3,umask=0x05,cmask=5"),
    _core("P3", "cycle_activity.stalls_l3_miss", "event=0xa3,umask=0x06,cmask=6"),
)
_LOADS = (
    _core("P4", "mem_load_retired.l1_miss", "event=0xd1,umask=0x08"),
    _core("P5", "mem_load_retired.fb_hit", "event=0xd1,umask=0x40"),
)

# One run counts one group. A Skylake-SP thread has four programmable counters. Without
# hyper-threading it has eight, as a Golden Cove thread has, but most of these events can use only
# the first four. A CHA has four. Cycles and instructions have fixed counters and are in every run
# of core events.
GROUPS: dict[str, tuple[tuple[Event, ...], ...]] = {
    "skx": (
        (
            _core("P1", "cycle_activity.stalls_l1d_miss", "event=0xa3,umask=0x0c,cmask=12"),
            *_STALLS,
            _core("P6", "exe_activity.bound_on_stores", "event=0xa6,umask=0x40"),
        ),
        (
            *_LOADS,
            _core("P7", f"{_PREFETCH}.any_response", "event=0xb7,umask=0x01,offcore_rsp=0x10400"),
            _core(
                "P8",
                f"{_PREFETCH}.l3_hit.any_snoop",
                "event=0xbb,umask=0x01,offcore_rsp=0x3f803c0400",
            ),
        ),
        (
            _core("P11", f"{_OUTSTANDING}.demand_data_rd", "event=0x60,umask=0x01"),
            _core("P12", "offcore_requests.demand_data_rd", "event=0xb0,umask=0x01"),
            _core(
                "P13",
                f"{_OUTSTANDING}.cycles_with_demand_data_rd",
                "event=0x60,umask=0x01,cmask=1",
            ),
        ),
    ),
    "spr": (
        (
            *_STALLS,
            _core("P6", "exe_activity.bound_on_stores", "event=0xa6,umask=0x40,cmask=2"),
            _LOADS[0],
        ),
        (
            _LOADS[1],
            _core("P11", f"{_OUTSTANDING}.demand_data_rd", "event=0x20,umask=0x01"),
            _core("P12", "offcore_requests.demand_data_rd", "event=0x21,umask=0x01"),
            _core(
                "P13",
                f"{_OUTSTANDING}.cycles_with_demand_data_rd",
                "event=0x20,umask=0x01,cmask=1",
            ),
        ),
        (
            _cha("P14", "unc_cha_llc_lookup.llcpref_local", "event=0x34,umask=0x189dff"),
            _cha("P15", "unc_cha_llc_lookup.all", "event=0x34,umask=0x1fffff"),
            _cha("P16", "unc_cha_tor_inserts.ia_miss_drd_pref", "event=0x35,umask=0xc897fe01"),
            _cha("P17", "unc_cha_tor_inserts.ia_hit_drd_pref", "event=0x35,umask=0xc897fd01"),
        ),
    ),
}
GROUPS["emr"] = GROUPS["spr"]  # Emerald Rapids has the cores and the mesh of Sapphire Rapids
ALWAYS = (_CYCLES, INSTRUCTIONS)

# Models of family 6. 85 also covers Cascade Lake and Cooper Lake, which have Skylake's cores.
MODELS = {85: "skx", 143: "spr", 207: "emr"}


def by_name(platform: str) -> dict[str, Event]:
    """The event for each name that perf may print, in lower case."""
    events = [event for group in GROUPS[platform] for event in group]
    found = {event.name: event for event in (*ALWAYS, *events)}
    return {**found, "cpu-cycles": _CYCLES, "cpu_clk_unhalted.thread": _CYCLES}


def event_of(counter: str, platform: str) -> Event:
    """The event of one of the platform's counters."""
    return next(e for e in by_name(platform).values() if e.counter == counter)
