"""Panels: measures against a factor, one line per method; and methods side by side as dots."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shoal.report.charts.theme import ON_PAPER, Spec, style_of, themed

WIDTH, HEIGHT = 330, 210
EXACT_ENOUGH = 0.99
"""Below this share of exact judgements, a problematic share is called a lower bound."""
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


# A dashed line to hold a measure against: what ART's lines say under another name.
YARDSTICKS = {
    "average_delta": ("theoretical_bound", "dashed: Theorem 1's bound, for ART's groups"),
    "suppressed_share": ("coverage_lost", "dashed: linear program, binary adversary"),
}

PAPER = (
    Measure("seconds", "Execution time (s)", log=True),
    Measure("relative_error", "Average relative error", log=True),
    Measure("problematic_share", "Problematic share of sensitive tuples", share=True),
    Measure("average_delta", "Average Δ"),
)


def panels(
    records: Sequence[Record],
    *,
    factor: str,
    title: str,
    subtitle: str = "",
    measures: Sequence[Measure] = PAPER,
    log_factor: bool = False,
) -> Spec:
    """A grid of panels, two to a row. Records have `value`, `method` and the measures."""
    names = list(dict.fromkeys(record["method"] for record in records))
    letters = "abcdefgh"
    drawn = [
        _panel(records, measure, factor, names, letters[i], log_factor)
        for i, measure in enumerate(measures)
    ]
    rows = [{"hconcat": drawn[i : i + 2], "spacing": 44} for i in range(0, len(drawn), 2)]
    top: dict[str, Any] = {"text": title, "fontSize": 17, "offset": 16}
    if subtitle:
        top["subtitle"] = subtitle
    return themed(
        {
            "title": top,
            "vconcat": rows,
            "spacing": 30,
            "resolve": {"scale": {"color": "shared", "shape": "shared"}},
        }
    )


def _panel(
    records: Sequence[Record],
    measure: Measure,
    factor: str,
    names: list[str],
    letter: str,
    log_factor: bool,
) -> Spec:
    shown = [
        {"value": record["value"], "method": record["method"], "y": record[measure.field]}
        for record in records
        if record.get(measure.field) is not None
    ]
    field, caption = YARDSTICKS.get(measure.field, ("", ""))
    bound = [
        {"value": record["value"], "method": caption, "y": record[field]}
        for record in records
        if record["method"] == "ART" and record.get(field) is not None
    ]
    everything = [record["y"] for record in [*shown, *bound]]
    scale = measure.scale(everything)
    values = sorted({record["value"] for record in records})
    axis: dict[str, Any] = {"grid": False, "values": values, "labelOverlap": "parity"}
    x_scale: dict[str, Any] = {"zero": False, "nice": False, "domain": _domain(values, log_factor)}
    if log_factor:
        x_scale["type"] = "log"
    colours, shapes = style_of(names)
    x = {
        "field": "value",
        "type": "quantitative",
        "title": factor,
        "axis": axis,
        "scale": x_scale,
    }
    y = {
        "field": "y",
        "type": "quantitative",
        "title": None,
        "scale": scale,
        "axis": measure.axis(scale),
    }
    legend = {"title": None}
    colour = {
        "field": "method",
        "type": "nominal",
        "legend": legend,
        "scale": {"domain": names, "range": colours},
    }
    shape = {
        "field": "method",
        "type": "nominal",
        "legend": legend,
        "scale": {"domain": names, "range": shapes},
    }
    layers: list[Spec] = [
        {
            "data": {"values": shown},
            "mark": {"type": "line", "strokeWidth": 2, "opacity": 0.9},
            "encoding": {"x": x, "y": y, "color": colour},
        },
        {
            "data": {"values": shown},
            "mark": {"type": "point", "size": 75, "strokeWidth": 2, "fill": "white", "opacity": 1},
            "encoding": {"x": x, "y": y, "color": colour, "shape": shape},
        },
    ]
    if bound:
        layers.append(
            {
                "data": {"values": bound},
                "mark": {
                    "type": "line",
                    "strokeDash": [5, 4],
                    "color": ON_PAPER.ink,
                    "strokeWidth": 1.5,
                },
                "encoding": {"x": x, "y": y},
            }
        )
    prefix, mark, _ = measure.field.partition("problematic_share")
    loose = _lower_bounds(records, f"{prefix}exact_share") if mark else ""
    note = loose or (caption if bound else "")
    return {
        "title": {"text": f"({letter}) {measure.title}", "subtitle": note or " "},
        "width": WIDTH,
        "height": HEIGHT,
        "layer": layers,
    }


def _lower_bounds(records: Sequence[Record], field: str) -> str:
    """Names the methods of whose posteriors many could not be judged exactly."""
    loose = dict.fromkeys(
        record["method"] for record in records if (record.get(field) or 1) < EXACT_ENOUGH
    )
    return f"proven breaches only, may be more: {', '.join(loose)}" if loose else ""


def _domain(values: Sequence[float], log: bool) -> list[float]:
    """From the least to the greatest value, and a little beyond."""
    low, high = min(values), max(values)
    if log:
        step = (high / low) ** 0.06 if high > low else 1.5
        return [low / step, high * step]
    step = (high - low) * 0.06 or 0.5
    return [low - step, high + step]


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
