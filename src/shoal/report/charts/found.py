"""The chart of what `find` ran: how surely people can be linked, against how far counts are off."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.report.charts.parts import Chart, Record, chart, label
from shoal.report.charts.theme import AFTER, ON_PAGE, OVER


def found_chart(tried: Sequence[Record]) -> Chart:
    """A point for each setting with a release; those that nothing beats in both are joined."""
    records = [
        {
            "risk": one["worst_posterior"],
            "error": one["error"],
            "label": label(one["words"]),
            "holds": one["robust"] is True,
        }
        for one in tried
        if one["error"] is not None
    ]
    holding = [one for one in records if one["holds"]]
    for one in records:
        one["best"] = one["holds"] and not any(_beats(other, one) for other in holding)
    x = {
        "field": "risk",
        "type": "quantitative",
        "scale": {"domain": [0, 1]},
        "axis": {"title": "largest chance of a protected value", "format": "~%"},
    }
    y = {
        "field": "error",
        "type": "quantitative",
        "axis": {"title": "mean error of counts of cases", "format": "~%"},
    }
    tooltip = [{"field": name, "title": name} for name in ("label", "risk", "error")]
    shade = {"condition": {"test": "datum.holds", "value": AFTER}, "value": OVER}
    line = {
        "transform": [{"filter": "datum.best"}],
        "mark": {"type": "line", "color": AFTER, "strokeDash": [4, 3]},
        "encoding": {"x": x, "y": y, "order": {"field": "risk", "type": "quantitative"}},
    }
    dots = {
        "mark": {"type": "point", "filled": True, "size": 80, "opacity": 1},
        "encoding": {"x": x, "y": y, "color": shade, "tooltip": tooltip},
    }
    names = {
        "transform": [{"filter": "datum.best"}],
        "mark": {"type": "text", "align": "left", "dx": 8, "dy": -6, "color": ON_PAGE.ink},
        "encoding": {"x": x, "y": y, "text": {"field": "label"}},
    }
    return chart("risk against error", [line, dots, names], height=300, records=records)


def _beats(one: Record, other: Record) -> bool:
    """Whether it is no worse in both, and better in one."""
    no_worse = one["risk"] <= other["risk"] and one["error"] <= other["error"]
    return no_worse and (one["risk"], one["error"]) != (other["risk"], other["error"])
