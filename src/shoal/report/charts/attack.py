"""The report's chart of an attack: what each attacker achieves, beside what they should."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.report.charts.parts import Chart, Record, along, by_place, chart, label, names_above
from shoal.report.charts.theme import AFTER, BEFORE, ON_PAGE, OVER
from shoal.wording import percent


def attack_chart(attackers: Sequence[Record]) -> Chart:
    """Each attacker's rate with its interval; the same without the release, the control, and the
    limit that people not known beforehand are promised."""
    records = [_record(place, one) for place, one in enumerate(attackers)]
    marks = ("high", "without", "control", "limit")
    reached = [one[mark] for one in records for mark in marks if one[mark] is not None]
    across = along("rate", "share of the people named who carry", 1.06 * max([0.01, *reached]))
    tooltip = [
        {"field": "label", "title": "attacker"},
        {"field": "found", "title": "right"},
        {"field": "earlier", "title": "without the release"},
        {"field": "claimed", "title": "control"},
        {"field": "promised", "title": "limit"},
    ]
    shade = {"condition": {"test": "datum.beats", "value": OVER}, "value": AFTER}
    interval = {
        "mark": {"type": "rule", "strokeWidth": 3, "opacity": 0.55},
        "encoding": {
            "x": {"field": "low", "type": "quantitative"},
            "x2": {"field": "high"},
            "y": by_place(),
            "color": shade,
        },
    }
    rate = {
        "mark": {"type": "point", "filled": True, "size": 90, "opacity": 1},
        "encoding": {"x": across, "y": by_place(), "color": shade, "tooltip": tooltip},
    }
    ticks = [
        _tick("without", BEFORE, 14, tooltip),
        _tick("control", ON_PAGE.soft, 14, tooltip),
        _tick("limit", ON_PAGE.ink, 22, tooltip),
    ]
    layers = [*ticks, interval, rate, names_above()]
    return chart("attackers", layers, height=38 * len(records) + 8, records=records)


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


def _tick(field: str, colour: str, size: int, tooltip: list[Record]) -> Chart:
    return {
        "transform": [{"filter": f"isValid(datum.{field})"}],
        "mark": {"type": "tick", "color": colour, "thickness": 4, "size": size, "opacity": 1},
        "encoding": {
            "x": {"field": field, "type": "quantitative"},
            "y": by_place(),
            "tooltip": tooltip,
        },
    }
