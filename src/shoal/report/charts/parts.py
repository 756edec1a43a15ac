"""Parts of the report's charts: the frame, limit lines, axes and labels that they share."""

from __future__ import annotations

from typing import Any

from shoal.report.charts.theme import ON_PAGE, PAGE_CONFIG
from shoal.wording import percent, visible

Chart = dict[str, Any]
Record = dict[str, Any]
LONGEST_LABEL = 44


def label(text: str, longest: int = LONGEST_LABEL) -> str:
    """Foreign text as a chart label."""
    shown = visible(text)
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


def chart(
    description: str,
    layers: list[Chart],
    *,
    height: int,
    records: list[Record] | None = None,
) -> Chart:
    """A chart as wide as its place, from layers and the records that they share."""
    frame: Chart = {
        "description": description,
        "width": "container",
        "height": height,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "padding": {"left": 2, "right": 8, "top": 6, "bottom": 2},
        "background": None,
        "layer": layers,
        "config": PAGE_CONFIG,
    }
    return frame if records is None else {**frame, "data": {"values": records}}


def limit_line(limit: float, *, relative: bool) -> list[Chart]:
    """A dashed line at the limit, named above the chart."""
    lines = [{"limit": limit, "label": "limit" if relative else f"limit {percent(limit)}"}]
    place = {"field": "limit", "type": "quantitative"}
    return [
        {
            "data": {"values": lines},
            "mark": {
                "type": "rule",
                "color": ON_PAGE.ink,
                "strokeDash": [5, 3],
                "strokeWidth": 1.5,
            },
            "encoding": {"x": place},
        },
        {
            "data": {"values": lines},
            "mark": {
                "type": "text",
                "align": "center",
                "baseline": "bottom",
                "dy": -2,
                "color": ON_PAGE.ink,
                "fontSize": 12,
                "fontWeight": 600,
            },
            "encoding": {"x": place, "y": {"value": 0}, "text": {"field": "label"}},
        },
    ]


def names_above() -> Chart:
    """The records' labels above their bars, so that long ones take no room from a narrow chart."""
    return {
        "mark": {
            "type": "text",
            "align": "left",
            "baseline": "bottom",
            "dy": -8,
            "color": ON_PAGE.ink,
            "fontSize": 12,
        },
        "encoding": {"x": {"value": 0}, "y": by_place(), "text": {"field": "label"}},
    }


def by_place() -> Record:
    """One line per record, from the top down."""
    scale = {"paddingInner": 0, "paddingOuter": 0}
    return {"field": "place", "type": "ordinal", "axis": None, "scale": scale}


def along(field: str, title: str, span: float, form: str = "~%") -> Record:
    """A horizontal axis from 0 to `span`."""
    axis = {"title": title, "format": form, "tickCount": 5}
    return {
        "field": field,
        "type": "quantitative",
        "axis": axis,
        "scale": {"domain": [0, span], "nice": False},
    }


def two_colours(field: str, names: list[str], colours: list[str]) -> Record:
    """Colours by name, with a legend above."""
    return {
        "field": field,
        "type": "nominal",
        "sort": None,
        "scale": {"domain": names, "range": colours},
        "legend": {"orient": "top", "title": None, "symbolType": "square"},
    }


def span_text(low: int, high: int) -> str:
    """5, or 10–14."""
    return f"{low}" if low == high else f"{low}–{high}"
