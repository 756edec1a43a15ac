"""Methods side by side: measures, and a strip of dots for each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shoal.report.charts.theme import ON_PAPER, Spec, style_of, themed

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Measure:
    """What a panel shows of each line of results."""

    field: str
    title: str
    log: bool = False
    share: bool = False

    def scale(self, values: Sequence[float]) -> dict[str, Any]:
        """A logarithmic scale where asked for and possible, else one that starts at 0."""
        if self.log and values and min(values) > 0:
            return {"type": "log", "domain": [min(values) / 1.6, max(values) * 1.6]}
        if self.share:
            top = max(values, default=0.0)
            return {"domain": [0, 1] if top > 0.5 else [0, max(0.1, 1.1 * top)]}
        return {"zero": True, "nice": True}

    def axis(self, scale: dict[str, Any]) -> dict[str, Any]:
        """Few, round ticks."""
        axis: dict[str, Any] = {"format": ".0%" if self.share else "~g", "tickCount": 5}
        if scale.get("type") == "log":
            axis["values"] = _round_ticks(*scale["domain"])
        return axis


def _round_ticks(low: float, high: float) -> list[float]:
    """Powers of ten within a range; also twice and five times those, if there are few."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for factors in ((1,), (1, 3), (1, 2, 5)):
        ticks = [f * 10.0**power for power in powers for f in factors]
        inside = [tick for tick in ticks if low <= tick <= high]
        if len(inside) >= 3:
            return inside
    return inside


SIDE_BY_SIDE = (
    Measure("relative_error", "Average relative error", log=True),
    Measure("relative_error_protected", "The same, on the protected event", log=True),
    Measure("problematic_share", "People with an event linked above the limit", share=True),
    Measure("seconds", "Execution time (s)", log=True),
)
FAR_APART = 50
"""A strip begins at 0 unless its values are further apart than so many times."""


def dots(records: Sequence[Record], *, title: str, subtitle: str = "") -> Spec:
    """Methods side by side, one strip of dots per measure."""
    names = list(dict.fromkeys(record["method"] for record in records))
    drawn = [
        _strip(records, measure, names, first=i % 2 == 0) for i, measure in enumerate(SIDE_BY_SIDE)
    ]
    rows = [{"hconcat": drawn[i : i + 2], "spacing": 30} for i in range(0, len(drawn), 2)]
    top: dict[str, Any] = {"text": title, "fontSize": 17, "offset": 16}
    if subtitle:
        top["subtitle"] = subtitle
    return themed({"title": top, "vconcat": rows, "spacing": 30})


def _strip(records: Sequence[Record], measure: Measure, names: list[str], *, first: bool) -> Spec:
    shown = [
        {
            "method": record["method"],
            "x": record[measure.field],
            "text": f"{record[measure.field]:.1%}"
            if measure.share
            else f"{record[measure.field]:.3g}",
        }
        for record in records
        if record.get(measure.field) is not None
    ]
    values = [record["x"] for record in shown]
    scale: dict[str, Any] = {"domain": [0.0, 1.0]}
    title = measure.title
    if not measure.share:
        scale = {"domain": [0.0, 1.3 * max(values, default=0.0) or 1.0]}  # room for the figures
    if measure.log and values and max(values) > FAR_APART * min(values) > 0:
        low, high = min(values) / 1.6, max(values) * 1.6
        scale = {"type": "log", "domain": [low, high * (high / low) ** 0.2]}
        title += ", logarithmic scale"
    colours, shapes = style_of(names)
    y: dict[str, Any] = {
        "field": "method",
        "type": "nominal",
        "sort": names,
        "title": None,
        "scale": {"domain": names},
        "axis": {"grid": True, "labelLimit": 160} if first else {"labels": False, "grid": True},
    }
    x = {
        "field": "x",
        "type": "quantitative",
        "title": None,
        "scale": scale,
        "axis": {"grid": False, **measure.axis(scale)},
    }
    colour = {"field": "method", "legend": None, "scale": {"domain": names, "range": colours}}
    shape = {"field": "method", "legend": None, "scale": {"domain": names, "range": shapes}}
    return {
        "title": title,
        "width": 300,
        "height": {"step": 30},
        "data": {"values": shown},
        "layer": [
            {
                "mark": {"type": "point", "filled": True, "size": 110, "opacity": 1},
                "encoding": {"x": x, "y": y, "color": colour, "shape": shape},
            },
            {
                "mark": {
                    "type": "text",
                    "align": {"expr": "datum.x > 0.85 ? 'right' : 'left'"}
                    if measure.share
                    else "left",
                    "dx": {"expr": "datum.x > 0.85 ? -10 : 10"} if measure.share else 10,
                    "fontSize": 12,
                    "color": ON_PAPER.ink,
                },
                "encoding": {"x": x, "y": y, "text": {"field": "text"}},
            },
        ],
    }
