# SPDX-License-Identifier: Apache-2.0
"""The policies and telemetry sources by name, and their parameters from TIER.toml.

Each is a dataclass whose fields are its parameters, with defaults. A name with a colon is a user's
class: `FILE.py:CLASS` or `package.module:CLASS`.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from dataclasses import MISSING, field, fields, is_dataclass
from pathlib import Path
from typing import Any

from anemone.io.tables import Table

POLICIES = {
    "hemem": "anemone.policies.hemem:HeMem",
    "memtis": "anemone.policies.memtis:Memtis",
    "tpp": "anemone.policies.linux:Tpp",
    "numa-balancing": "anemone.policies.linux:NumaBalancing",
    "damos": "anemone.policies.linux:Damos",
    "colloid": "anemone.policies.colloid:Colloid",
    "hottest": "anemone.policies.hottest:Hottest",
    "bandwidth-cap": "anemone.policies.throttle:BandwidthCap",
}
SOURCES = {
    "nemo": "anemone.tiering.sources.nemo:Nemo",
    "pebs": "anemone.tiering.sources.pebs:Pebs",
    "scan": "anemone.tiering.sources.scan:Scan",
    "hint-faults": "anemone.tiering.sources.faults:HintFaults",
    "neoprof": "anemone.tiering.sources.sketch:NeoProf",
    "hotness-unit": "anemone.tiering.sources.hotness_unit:HotnessUnit",
    "mbm": "anemone.tiering.sources.mbm:Mbm",
    "oracle": "anemone.tiering.sources.oracle:Oracle",
}
NONE = "none"


def setting(
    default: Any,
    minimum: float = 0,
    maximum: float = 1e12,
    choices: tuple[Any, ...] = (),
    divide: bool = False,
) -> Any:
    """A parameter of a policy or source: its default, which sets its type, and its allowed values.

    divide: the parameter is divided by k on a machine scaled down by k (scaling.py), because it is
    proportional to the memory or to the number of accesses.
    """
    limits = {"minimum": minimum, "maximum": maximum, "choices": choices, "divide": divide}
    return field(default=default, metadata=limits)


def named(
    table: Table | None, key: str, registry: dict[str, str], alone: bool = False
) -> tuple[str, dict[str, Any]]:
    """The name under `key` and the parameters in the same table, checked. Raises InputError.

    alone: the other keys of the table are not its parameters.
    """
    if table is None:
        return NONE, {}
    name = table.content.get(key)
    allowed = ", ".join([NONE, *registry, "or FILE.py:CLASS"])
    if not isinstance(name, str) or (name not in (NONE, *registry) and ":" not in name):
        raise table.wrong(key, allowed)
    if name == NONE:
        if not alone:
            table.only(key)
        return name, {}
    try:
        kind = load(name, registry)
    except (ImportError, AttributeError, OSError, SyntaxError, TypeError) as e:
        raise table.wrong(key, f"a class that can be loaded ({e})") from e
    if alone:
        return name, {}
    parameters = {f.name: f for f in fields(kind) if f.init}
    table.only(key, optional=tuple(parameters))
    return name, {k: _value(table, k, parameters[k]) for k in table.content if k != key}


def load(name: str, registry: dict[str, str]) -> type:
    """The class of a name in POLICIES or SOURCES, or a user's class. Raises TypeError if it is not
    such a class, and any exception of its import.
    """
    # Imported here, because these modules import the machine, and it imports the configuration.
    from anemone.tiering.interfaces import Policy, Source

    place, _, kind = registry.get(name, name).rpartition(":")
    if place.endswith(".py"):
        module = _module_of_file(Path(place))
    else:
        module = importlib.import_module(place)
    found = getattr(module, kind)
    base = Policy if registry is POLICIES else Source
    if not (isinstance(found, type) and is_dataclass(found) and issubclass(found, base)):
        raise TypeError(f"{kind} is not a dataclass that derives from {base.__name__}")
    return found


def alternative_sources(policy: str, source: str) -> str:
    """The sources that a policy supports, or an empty string if it supports this one.

    Both names must be checked.
    """
    if policy == NONE:
        return ""
    by_thread = load(policy, POLICIES).by_thread
    if source != NONE and (not by_thread or load(source, SOURCES).by_thread):
        return ""
    if not by_thread:
        return ", ".join(SOURCES)
    able = ", ".join(one for one in SOURCES if load(one, SOURCES).by_thread)
    return f"{able}, or one of your own with by_thread = True: it tells whose the accesses are"


def make(name: str, registry: dict[str, str], parameters: dict[str, Any]) -> Any:
    """A policy or source; None for "none"."""
    return None if name == NONE else load(name, registry)(**parameters)


def _module_of_file(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"anemone_user_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look it up there
    spec.loader.exec_module(module)
    return module


def _value(table: Table, key: str, parameter: Any) -> Any:
    """The value of a parameter, checked to have its default's type."""
    default, limits = parameter.default, {"minimum": 0, "maximum": 1e12, **parameter.metadata}
    if default is MISSING:
        raise table.wrong(key, "a parameter with a default")
    if isinstance(default, bool):
        if not isinstance(table.content[key], bool):
            raise table.wrong(key, "true or false")
        return table.content[key]
    if isinstance(default, int):
        if limits.get("choices") and table.content[key] not in limits["choices"]:
            raise table.wrong(key, ", ".join(map(str, limits["choices"])))
        return table.number(key, int(limits["maximum"]), minimum=int(limits["minimum"]))
    if isinstance(default, float):
        return table.real(key, limits["minimum"], maximum=limits["maximum"])
    return table.choice(key, limits.get("choices") or (default,))


def constants(name: str) -> dict[str, float]:
    """The values of a table of costs.toml by name. The file also has their sources."""
    import tomllib

    text = (Path(__file__).parent / "costs.toml").read_text(encoding="utf-8")
    return {key: entry["value"] for key, entry in tomllib.loads(text)[name].items()}
