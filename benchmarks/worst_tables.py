"""The tables of the worst case: of each setting the range over its seeds."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.markdown import Lines, percent, table

RUNS = Path(__file__).with_name("results") / "worst_case.jsonl"
Figure = Callable[[dict[str, Any]], float]


def runs(file: Path = RUNS) -> Lines:
    """The runs that are there."""
    if not file.is_file():
        return []
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def reached(results: dict[str, Any]) -> str:
    """What is promised, and what it costs; of tables whose names begin so."""
    head = ("table", "r", "limit", "seeds", "robust", "cases lost", "people per case", "pooled",
            "above max(1/r, pi)", "above four times its odds", "above .5, pi below .4",
            "certain", "search, CPU s")  # fmt: skip
    rows = [(*setting, *_reached(lines)) for setting, lines in _settings(results)]
    return table(head, rows)


def _reached(lines: Lines) -> tuple[str, ...]:
    made = _made(lines)
    if not made:
        return (_refused(lines), *[""] * 8)
    return (
        f"{sum(one['robust'] is True for one in made)} of {len(lines)}{_broken(made)}",
        _range(made, lambda one: one["lost"][1], "{:,.0f}"),
        _range(made, lambda one: one["per_case"], "{:.1f}"),
        _shares(made, lambda one: one["pooled"]),
        _range(made, lambda one: one["above"], "{:,.0f}"),
        _range(made, lambda one: one["too_sure"], "{:,.0f}"),
        _range(made, lambda one: one["believed_half"], "{:,.0f}"),
        _range(made, lambda one: one["certain"], "{:,.0f}"),
        _range(made, lambda one: one["cpu"][0], "{:.1f}"),
    )


def _broken(made: Lines) -> str:
    found = Counter(
        name
        for one in made
        for name, (state, _) in one["checks"].items()
        if state in ("broken", "undecided")
    )
    return "".join(f"; {name} ({count})" for name, count in found.most_common())


def named(results: dict[str, Any]) -> str:
    """Whom attackers name; the same."""
    head = ("table", "r", "limit", "all counts at once: right in", "allowed",
            "where pi is 1/r at most", "their 100 surest", "without the release",
            "insider", "insider, pi at most 1/r", "knows half of the groups",
            "attackers above their limit")  # fmt: skip
    rows = [(*setting[:3], *_named(lines)) for setting, lines in _settings(results)]
    return table(head, rows)


def _named(lines: Lines) -> tuple[str, ...]:
    made = _made(lines)
    if not made:
        return (_refused(lines), *[""] * 8)
    beaten = Counter(name for one in made for name in one["beaten_by"])
    picked = [one for one in made if one["surest"]]
    return (
        _shares(made, _rate("counter-all")),
        _shares(made, lambda one: one["attackers"]["counter-all"][4]),
        _shares(made, _rate("counter-all", 2)),
        _range(picked, lambda one: one["surest"][0], "{:.0f}"),
        _range(picked, lambda one: one["surest"][1], "{:.0f}"),
        _shares(made, _rate("insider")),
        _shares(made, _rate("insider", 2)),
        _shares(made, _rate("informed")),
        ", ".join(f"{name} ({count} of {len(made)})" for name, count in beaten.items()) or "none",
    )


def true(results: dict[str, Any]) -> str:
    """Whoever knows the true chances of a made table."""
    head = ("table", "r", "limit", "right in", "allowed", "people above four times the odds")
    rows = []
    for setting, lines in _settings(results):
        if made := [one for one in lines if "by_truth" in one]:
            rate, allowed = _shares(made, _true), _shares(made, lambda one: one["by_truth"][2])
            far = _range(made, lambda one: one["by_truth"][3], "{:,.0f}")
            rows.append((*setting[:3], rate, allowed, far))
    return table(head, rows)


def _true(line: dict[str, Any]) -> float:
    return float(line["by_truth"][1] / max(1, line["by_truth"][0]))


def _rate(attacker: str, first: int = 0) -> Figure:
    """How often somebody is right, of all, or (2) of people whom all counts leave at 1/r."""

    def rate(line: dict[str, Any]) -> float:
        tries, hits = line["attackers"].get(attacker, [0] * 4)[first : first + 2]
        return float(hits / max(1, tries))

    return rate


def counted(results: dict[str, Any]) -> str:
    """How right recipients count."""
    head = ("table", "r", "limit", "classes", "off on average", "off at worst",
            "within the 95 % interval", "all queries", "event queries")  # fmt: skip
    return table(head, [(*setting[:3], *_counted(lines)) for setting, lines in _settings(results)])


def _counted(lines: Lines) -> tuple[str, ...]:
    made = [one for one in _made(lines) if one["classes"]]
    if not made:
        return (_refused(lines) or "0", *[""] * 5)
    return (
        _range(made, lambda one: one["classes"], "{:.0f}"),
        _shares(made, lambda one: one["off"]),
        _shares(made, lambda one: one["off_worst"]),
        _shares(made, lambda one: one["covered"]),
        _shares(made, lambda one: one["queries"][0]),
        _shares(made, lambda one: one["queries"][1]),
    )


def _settings(results: dict[str, Any]) -> Iterator[tuple[tuple[str, ...], Lines]]:
    """Table, r, limit and number of seeds, with their runs."""
    lines: Lines = results["worst_case"]
    order = list(dict.fromkeys(one["table"] for one in lines))
    settings = {(one["table"], one["r"], one["limit"]) for one in lines}
    for name, r, limit in sorted(settings, key=lambda one: (order.index(one[0]), one[2], one[1])):
        mine = [one for one in lines if (one["table"], one["r"], one["limit"]) == (name, r, limit)]
        yield (name, f"{r:g}", limit, str(len(mine))), mine


def _made(lines: Lines) -> Lines:
    return [one for one in lines if "failed" not in one]


def _refused(lines: Lines) -> str:
    return ", ".join(sorted({f"refused: {one['failed']}" for one in lines if "failed" in one}))


def _shares(lines: Lines, figure: Figure) -> str:
    return _range(lines, figure, lambda share: percent(share))


def _range(lines: Lines, figure: Figure, shown: str | Callable[[float], str]) -> str:
    """The least and the largest, or one figure where they look the same."""
    found: Sequence[float] = sorted(figure(one) for one in lines)
    ends = [shown.format(one) if isinstance(shown, str) else shown(one) for one in found]
    if not ends:
        return ""
    return ends[0] if ends[0] == ends[-1] else f"{ends[0].removesuffix(' %')} to {ends[-1]}"
