"""The chart of a plan: what each r would cost, with the chosen r and the largest that costs
nothing."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.report.charts.parts import Chart, Record, chart
from shoal.report.charts.theme import AFTER, BEFORE, ON_PAGE
from shoal.wording import percent

LEAST_SHARE = 0.1
"""The axis reaches up to this share at least, so that a small loss looks small."""
HEIGHT, LINE = 240, 17
"""In pixels: of the plot, and of a line of text above it."""


def plan_chart(
    points: Sequence[Record],
    *,
    chosen: float,
    chosen_label: str,
    largest: float | None,
    largest_label: str,
    across: str,
) -> Chart:
    """Shares that are lost (`lost_share`) over r. It is drawn by ratios, as r is meant: 20 is to 10
    what 10 is to 5."""
    records = [_record(one, chosen) for one in points]
    marks = [_mark(chosen, chosen_label, row=0, colour=ON_PAGE.ink)]
    if largest is not None:
        marks.append(_mark(largest, largest_label, row=1, colour=BEFORE))
    values = [one["r"] for one in (*records, *marks)]
    span = [min([*values, 2.0]), max([*values, 3.0])]
    middle = (span[0] * span[1]) ** 0.5
    x = {
        "field": "r",
        "type": "quantitative",
        "scale": {"type": "log", "domain": span, "nice": False},
        "axis": {
            "title": across,
            "values": sorted({one["r"] for one in records}),
            "format": "~r",
            "labelOverlap": "greedy",
            "labelSeparation": 8,
            "grid": False,
        },
    }
    top = max([LEAST_SHARE, *(one["share"] for one in records)])
    y = {
        "field": "share",
        "type": "quantitative",
        "scale": {"domain": [0, top], "nice": False},
        "axis": {"title": None, "format": "~%", "tickCount": 5},
    }
    tooltip = [{"field": "r", "title": "r"}, {"field": "shown", "title": "lost"}]
    line = {
        "mark": {"type": "line", "color": AFTER, "strokeWidth": 2.5},
        "encoding": {"x": x, "y": y},
    }
    dots = {
        "mark": {"type": "point", "filled": True, "size": 80, "opacity": 1},
        "encoding": {
            "x": x,
            "y": y,
            "color": {
                "condition": {"test": "datum.chosen", "value": ON_PAGE.ink},
                "value": AFTER,
            },
            "tooltip": tooltip,
        },
    }
    upright = [layer for mark in marks for layer in _upright(mark, x, left=mark["r"] > middle)]
    return chart("what is lost over r", [*upright, line, dots], height=HEIGHT, records=records)


def _record(one: Record, chosen: float) -> Record:
    share = one["lost_share"]
    told = {"r": one["r"], "share": share, "shown": percent(share)}
    return told | {"chosen": one["r"] == chosen}


def _mark(r: float, label: str, *, row: int, colour: str) -> Record:
    return {"r": r, "label": label, "row": row, "colour": colour}


def _upright(mark: Record, x: Record, *, left: bool) -> list[Chart]:
    """A line at an r, named above the plot on the side where there is room; each line has a row of
    its own there, since two may lie close together."""
    data = {"values": [{"r": mark["r"], "label": mark["label"]}]}
    above = -LINE * mark["row"]
    dash = [5, 3] if mark["row"] else [1, 0]
    return [
        {
            "data": data,
            "mark": {
                "type": "rule",
                "color": mark["colour"],
                "strokeDash": dash,
                "strokeWidth": 1.5,
                "y": above,
                "y2": HEIGHT,
            },
            "encoding": {"x": x},
        },
        {
            "data": data,
            "mark": {
                "type": "text",
                "align": "right" if left else "left",
                "baseline": "bottom",
                "dx": -5 if left else 5,
                "dy": -2,
                "y": above,
                "color": ON_PAGE.ink,
                "fontSize": 12,
                "fontWeight": 400 if mark["row"] else 600,
            },
            "encoding": {"x": x, "text": {"field": "label"}},
        },
    ]
