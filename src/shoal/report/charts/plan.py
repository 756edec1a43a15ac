"""The chart of a plan: what each r would cost, with the chosen r and the largest that costs
nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shoal.report.charts.stored import Chart, Record, chart, stored
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
    records = [
        {
            "r": one["r"],
            "share": one["lost_share"],
            "shown": percent(one["lost_share"]),
            "chosen": one["r"] == chosen,
        }
        for one in points
    ]
    marks = [(chosen, chosen_label), *([] if largest is None else [(largest, largest_label)])]
    values = [*(one["r"] for one in records), *(r for r, _ in marks)]
    span = [min([*values, 2.0]), max([*values, 3.0])]
    given = {
        "span": span,
        "across": across,
        "ticks": sorted({one["r"] for one in records}),
        "top": max([LEAST_SHARE, *(one["share"] for one in records)]),
    }
    made = chart("plan", height=HEIGHT, records=records, **given)
    upright = [
        layer
        for row, (r, text) in enumerate(marks)
        for layer in _upright(r, text, row=row, left=r > (span[0] * span[1]) ** 0.5, **given)
    ]
    return made | {"layer": [*upright, *made["layer"]]}


def _upright(r: float, text: str, *, row: int, left: bool, **given: Any) -> list[Chart]:
    """A line at an r, named above the plot on the side where there is room; each line has a row of
    its own there, since two may lie close together."""
    given |= {
        "marks": [{"r": r, "label": text}],
        "above": -LINE * row,
        "height": HEIGHT,
        "colour": "var(--before)" if row else "var(--ink)",
        "dash": [5, 3] if row else [1, 0],
        "align": "right" if left else "left",
        "aside": -5 if left else 5,
        "weight": 400 if row else 600,
    }
    return [stored(part, **given) for part in ("plan mark", "plan name")]
