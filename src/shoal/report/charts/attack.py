"""The report's chart of an attack: what each attacker achieves, beside what they should."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.report.charts.audit import LINE
from shoal.report.charts.stored import Chart, Record, chart, label
from shoal.wording import percent


def attack_chart(attackers: Sequence[Record]) -> Chart:
    """Each attacker's rate with its interval; the same without the release, the control, and the
    limit that people not known beforehand are promised."""
    records = [_record(place, one) for place, one in enumerate(attackers)]
    marks = ("high", "without", "control", "limit")
    reached = [one[mark] for one in records for mark in marks if one[mark] is not None]
    span = 1.06 * max([0.01, *reached])
    return chart("attack", height=LINE * len(records) + 8, records=records, span=span)


def _record(place: int, one: Record) -> Record:
    everybody, control = one["everybody"], one["control"]
    return {
        "place": place,
        "label": label(one["attacker"]),
        "rate": everybody["rate"],
        "low": everybody["low"],
        "high": everybody["high"],
        "without": one["baseline"],
        "control": control and control["rate"],
        "limit": one["promised"],
        "beats": one["beats_limit"],
        "found": f"{percent(everybody['rate'])} of {everybody['tries']:,}",
        "earlier": _shown(one["baseline"]),
        "claimed": _shown(control and control["rate"]),
        "promised": _shown(one["promised"]),
    }


def _shown(share: float | None) -> str:
    return "none" if share is None else percent(share)
