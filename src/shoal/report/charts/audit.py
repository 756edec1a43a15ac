"""The report's charts of an audit. Texts are data, never field names or expressions."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.report.charts.parts import (
    Chart,
    Record,
    along,
    by_place,
    chart,
    label,
    limit_line,
    names_above,
    span_text,
    two_colours,
)
from shoal.report.charts.theme import AFTER, BEFORE, ON_PAGE, OVER
from shoal.wording import percent

MOST_VIEWS = 12
SHARE = "probability, as a share of the limit"


def risk_chart(
    bins: Sequence[Record],
    when: str,
    *,
    limit: float,
    span: float,
    top: float,
    relative: bool = False,
) -> Chart:
    """How many people have which probability (or share of their limit), with the limit's line."""
    records = [
        {
            "low": one["low"],
            "high": one["high"],
            "height": one["people"] / one["parts"],
            "over": one["high"] > limit + 1e-9,
            "range": f"{percent(one['low'])} to {percent(one['high'])}",
            "count": f"{one['people']:,}",
        }
        for one in bins
        if one["people"]
    ]
    along = {"domain": [0, span], "nice": False}
    bars = {
        "data": {"values": records},
        "mark": {"type": "bar", "binSpacing": 1},
        "encoding": {
            "x": {
                "field": "low",
                "type": "quantitative",
                "bin": {"binned": True},
                "scale": along,
                "axis": {
                    "title": SHARE if relative else "probability of the protected event",
                    "format": ".0%",
                    "grid": False,
                    "tickCount": 8,
                    "labelOverlap": "parity",
                    "labelFlush": False,
                },
            },
            "x2": {"field": "high"},
            "y": {
                "field": "height",
                "type": "quantitative",
                "scale": {"type": "sqrt", "domain": [0, top]},
                "axis": {"title": "people (square-root scale)", "tickCount": 4, "format": ",d"},
            },
            "color": {
                "condition": {"test": "datum.over", "value": OVER},
                "value": BEFORE if when == "before" else AFTER,
            },
            "tooltip": [
                {"field": "range", "title": "share of limit" if relative else "probability"},
                {"field": "count", "title": "people"},
            ],
        },
    }
    return chart(
        "histogram of probabilities", [bars, *limit_line(limit, relative=relative)], height=150
    )


def view_chart(views: Sequence[Record], *, limit: float, relative: bool = False) -> Chart:
    """Views by the worst posterior (or share of its limit) that they reach."""
    shown = views[:MOST_VIEWS]
    records = [
        {
            "place": place,
            "label": label(one["name"]),
            "worst": one["exposure"] * limit,
            "before": one["exposure_before"] * limit,
            "earlier": percent(one["before"]),
            "over": one["exposure"] > 1 + 1e-12,
            "text": one["text"],
            "people": one["people"],
        }
        for place, one in enumerate(shown)
    ]
    reached = [max(one["worst"], one["before"]) for one in records]
    span = 1.12 * max([limit, *reached])
    across = along("worst", SHARE if relative else "highest probability that anybody reaches", span)
    tooltip = [
        {"field": "label", "title": "through"},
        {"field": "earlier", "title": "highest before"},
        {"field": "text", "title": "highest after"},
        {"field": "people", "title": "people above the limit"},
    ]
    bars = {
        "mark": {"type": "bar", "height": 11, "cornerRadiusEnd": 2},
        "encoding": {
            "x": across,
            "y": by_place(),
            "color": {"condition": {"test": "datum.over", "value": OVER}, "value": AFTER},
            "tooltip": tooltip,
        },
    }
    earlier = {
        "mark": {"type": "tick", "color": BEFORE, "thickness": 5, "size": 18, "opacity": 1},
        "encoding": {
            "x": {"field": "before", "type": "quantitative"},
            "y": by_place(),
            "tooltip": tooltip,
        },
    }
    parts = [bars, earlier, names_above(), *limit_line(limit, relative=relative)]
    return chart("views by worst case", parts, height=38 * len(records) + 8, records=records)


def delta_chart(views: Sequence[Record]) -> Chart:
    """Each view's mean deviation beside the bound of Theorem 1."""
    by_ratio = sorted(views, key=lambda one: -(one["delta"] / one["bound"] if one["bound"] else 0))
    records = [
        {
            "place": place,
            "label": label(one["name"]),
            "delta": one["delta"],
            "bound": one["bound"],
        }
        for place, one in enumerate(by_ratio[:MOST_VIEWS])
    ]
    span = 1.08 * max([1e-6, *(max(one["delta"], one["bound"]) for one in records)])
    tooltip = [
        {"field": "label", "title": "view"},
        {"field": "delta", "title": "mean difference", "format": ".4f"},
        {"field": "bound", "title": "mean bound", "format": ".4f"},
    ]
    across = along("delta", "difference of probabilities within a group (mean)", span, ".3~f")
    link = {
        "mark": {"type": "rule", "color": ON_PAGE.line, "strokeWidth": 2},
        "encoding": {"x": across, "x2": {"field": "bound"}, "y": by_place()},
    }
    bound = {
        "mark": {"type": "tick", "color": ON_PAGE.ink, "thickness": 3, "size": 15, "opacity": 1},
        "encoding": {
            "x": {"field": "bound", "type": "quantitative"},
            "y": by_place(),
            "tooltip": tooltip,
        },
    }
    mean = {
        "mark": {"type": "point", "filled": True, "size": 90, "opacity": 1, "color": AFTER},
        "encoding": {
            "x": {"field": "delta", "type": "quantitative"},
            "y": by_place(),
            "tooltip": tooltip,
        },
    }
    parts = [link, bound, mean, names_above()]
    return chart("deviation by view", parts, height=38 * len(records) + 8, records=records)


def size_chart(bins: Sequence[Record]) -> Chart:
    """How many groups have which size, with an event in them and without."""
    first = next((place for place, one in enumerate(bins) if one["people"]), 0)
    records = [
        {
            "size": span_text(one["low"], one["high"]),
            "groups": one[kind],
            "number": f"{one[kind]:,}",
            "kind": name,
            "order": order,
        }
        for one in bins[first:]
        for order, (kind, name) in enumerate(
            [("with_event", "with a protected event"), ("without", "without")]
        )
    ]
    bars = {
        "mark": {"type": "bar"},
        "encoding": {
            "x": {
                "field": "size",
                "type": "ordinal",
                "sort": None,
                "axis": {"title": "people in the group", "labelAngle": 0, "labelOverlap": True},
            },
            "xOffset": {"field": "order", "type": "ordinal"},
            "y": {
                "field": "groups",
                "type": "quantitative",
                "scale": {"type": "sqrt"},
                "axis": {"title": "groups (square-root scale)", "tickCount": 4, "format": ",d"},
            },
            "color": two_colours(
                "kind", ["with a protected event", "without"], [AFTER, ON_PAGE.soft]
            ),
            "tooltip": [
                {"field": "size", "title": "people in the group"},
                {"field": "kind", "title": "groups"},
                {"field": "number", "title": "how many"},
            ],
        },
    }
    return chart("group sizes", [bars], height=170, records=records)


def distribution_chart(bars: Sequence[Record]) -> Chart:
    """One column's values before and after, as shares."""
    records = [
        {
            "place": place,
            "label": label(one["label"], 24),
            "when": when,
            "share": one[when],
            "text": percent(one[when]),
            "order": order,
        }
        for place, one in enumerate(bars)
        for order, when in enumerate(("before", "after"))
    ]
    drawn = {
        "mark": {"type": "bar", "cornerRadiusEnd": 1},
        "encoding": {
            "x": {
                "field": "share",
                "type": "quantitative",
                "axis": {"title": "share of people", "format": ".0%", "tickCount": 5},
            },
            "y": {
                "field": "label",
                "type": "nominal",
                "sort": {"field": "place"},
                "axis": {"title": None, "labelLimit": 140, "ticks": False, "domain": False},
                "scale": {"paddingInner": 0.3},
            },
            "yOffset": {"field": "order", "type": "ordinal"},
            "color": two_colours("when", ["before", "after"], [BEFORE, AFTER]),
            "tooltip": [
                {"field": "label", "title": "value"},
                {"field": "when"},
                {"field": "text", "title": "share"},
            ],
        },
    }
    return chart("distribution", [drawn], height=22 * len(bars) + 16, records=records)
