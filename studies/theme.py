"""One theme: the colours and axes of every figure for print, and what a panel shows.

A method has one colour and one marker, the same in every figure. Colours are Okabe and Ito's, which
people with any kind of colour vision can tell apart; the marker says the same again for print
without colour.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Spec = dict[str, Any]

STYLES = {
    "ART": ("#0072B2", "circle"),
    "Anatomy": ("#E69F00", "square"),
    "MASK": ("#009E73", "triangle-up"),
    "Injector": ("#CC79A7", "diamond"),
    "t-closeness": ("#D55E00", "triangle-down"),
    "ART, Theorem 1": ("#56B4E9", "cross"),
    "Mondrian": ("#8C7A00", "triangle-right"),
}
SPARE = (("#666666", "arrow"), ("#999999", "stroke"), ("#333333", "wedge"))
INK, SOFT, LINE = "#222222", "#555555", "#E6E6E6"
"""The quiet colours of a figure."""


def style_of(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Colours and shapes of methods; unknown ones get greys of their own, in turn."""
    spare = [SPARE[i % len(SPARE)] for i in range(len(names))]
    unknown = [name for name in names if name not in STYLES]
    chosen = [STYLES[name] if name in STYLES else spare[unknown.index(name)] for name in names]
    return [colour for colour, _ in chosen], [shape for _, shape in chosen]


def themed(spec: Spec) -> Spec:
    """A figure with the house's fonts and quiet axes."""
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "background": "white",
        "padding": 14,
        **spec,
        "config": {
            "font": "Helvetica, Arial, sans-serif",
            "axis": {
                "labelFontSize": 12,
                "titleFontWeight": "normal",
                "titlePadding": 8,
                "titleFontSize": 13,
                "labelColor": INK,
                "titleColor": INK,
                "gridColor": LINE,
                "domainColor": SOFT,
                "tickColor": SOFT,
            },
            "title": {
                "fontSize": 14,
                "fontWeight": 600,
                "color": INK,
                "anchor": "start",
                "offset": 10,
                "subtitleFontSize": 12,
                "subtitleColor": SOFT,
            },
            "legend": {
                "labelFontSize": 13,
                "titleFontSize": 13,
                "symbolSize": 110,
                "labelColor": INK,
                "symbolStrokeWidth": 2,
                "orient": "top",
                "direction": "horizontal",
                "columnPadding": 18,
                "labelLimit": 260,
            },
            "view": {"stroke": None},
        },
    }


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
