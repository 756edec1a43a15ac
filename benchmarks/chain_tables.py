"""The tables of chains of releases: a line for each chain."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.markdown import Lines, percent, table

RUNS = Path(__file__).with_name("results") / "chains.jsonl"
KEYS = ("table", "r", "intake", "seed")
TOGETHER = ("intersection", "difference", "arrivals")


def chains(file: Path = RUNS) -> Lines:
    """The months that are there."""
    lines = file.read_text("utf-8").splitlines() if file.is_file() else []
    return [json.loads(one) for one in lines]


def months(results: dict[str, Any]) -> str:
    """What a chain came to, beside everybody made anew in the last month."""
    head = ("table", "r", "people come", "seed", "months published", "not robust", "refused",
            "certain by counting", "people per case, month 1", "last month", "made anew",
            "all queries, last month", "made anew", "event queries, last month",
            "made anew")  # fmt: skip
    return table(head, [_month(*one) for one in _chains(results)])


def _month(name: tuple[str, ...], lines: Lines) -> tuple[str, ...]:
    made = [one for one in lines if "refused" not in one]
    last, anew = made[-1], made[-1]["anew"]
    kept = [one for one in made if one["robust"]]
    return (
        *name,
        f"{len(kept)} of {len(lines)}",
        _listed(one["month"] for one in made if not one["robust"]),
        _listed(one["month"] for one in lines if "refused" in one),
        str(max(one["certain"] for one in made)),
        f"{made[0]['per_case']:.1f}",
        f"{last['per_case']:.1f}",
        f"{anew['per_case']:.1f}",
        *(percent(one[name]) for name in ("error", "event_error") for one in (last, anew)),
    )


def attacked(results: dict[str, Any]) -> str:
    """Whom earlier releases leave above their limit by what is known in the last month, and what
    attackers achieve then."""
    head = ("table", "r", "people come", "seed", "above by one view", "by all views",
            "cases in strata with too few", "all counts: right in", "allowed",
            "intersection: right in", "allowed", "named with certainty",
            "attackers above their limit")  # fmt: skip
    return table(head, [_attack(*one) for one in _chains(results)])


def _attack(name: tuple[str, ...], lines: Lines) -> tuple[str, ...]:
    last = lines[-1]
    found = last["attackers"]
    one_release = max(one[5] for who, one in found.items() if who not in TOGETHER)
    return (
        *name,
        f"{last['told']:,}",
        f"{last['checks']['all-views'][1]:,}" if last["robust"] else f"{last['too_sure']:,}",
        f"{last['too_few']:,}",
        *_rate(found.get("counter-all")),
        *_rate(found.get("intersection")),
        str(one_release),
        ", ".join(last["beaten_by"]) or "none",
    )


def _rate(one: list[Any] | None) -> tuple[str, str]:
    if one is None or not one[0]:
        return "", ""
    return f"{percent(one[1] / one[0])} of {one[0]:,}", percent(one[4])


def _listed(some: Iterator[int]) -> str:
    return ", ".join(map(str, some)) or "none"


def _chains(results: dict[str, Any]) -> Iterator[tuple[tuple[str, ...], Lines]]:
    """Each chain that came to its last month, by table, r, intake and seed."""
    lines: Lines = results["chains"]
    names = {tuple(one[key] for key in KEYS) for one in lines}
    for name in sorted(names):
        mine = [one for one in lines if name == tuple(one[key] for key in KEYS)]
        if "attackers" in mine[-1]:
            yield (name[0], f"{name[1]:g}", name[2], str(name[3])), mine
