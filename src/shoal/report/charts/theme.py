"""One theme: the colours and axes of every chart, in the report and in figures for print.

A method has one colour and one marker, the same in every figure. Colours are Okabe and Ito's, which
people with any kind of colour vision can tell apart; the marker says the same again for print
without colour.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from shoal.errors import InputError

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
SHOWN = {
    "art": "ART",
    "anatomy": "Anatomy",
    "mask": "MASK",
    "injector": "Injector",
    "t-closeness": "t-closeness",
    "mondrian": "Mondrian",
}


class Palette(NamedTuple):
    """The quiet colours of a chart."""

    ink: str
    soft: str
    line: str


ON_PAPER = Palette("#222222", "#555555", "#E6E6E6")
ON_PAGE = Palette("var(--ink)", "var(--soft)", "var(--line)")
"""The report's colours are variables of its style sheet, so that one drawing serves light, dark
and print."""
BEFORE, AFTER, OVER = "var(--before)", "var(--after)", "var(--over)"
PAGE_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
_AXIS = {"labelFontSize": 12, "titleFontWeight": "normal", "titlePadding": 8}


def style_of(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Colours and shapes of methods; unknown ones get greys of their own, in turn."""
    spare = [SPARE[i % len(SPARE)] for i in range(len(names))]
    unknown = [name for name in names if name not in STYLES]
    chosen = [STYLES[name] if name in STYLES else spare[unknown.index(name)] for name in names]
    return [colour for colour, _ in chosen], [shape for _, shape in chosen]


def themed(spec: Spec) -> Spec:
    """A figure with the house's fonts and quiet axes."""
    ink, soft, line = ON_PAPER
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "background": "white",
        "padding": 14,
        **spec,
        "config": {
            "font": "Helvetica, Arial, sans-serif",
            "axis": {
                **_AXIS,
                "titleFontSize": 13,
                "labelColor": ink,
                "titleColor": ink,
                "gridColor": line,
                "domainColor": soft,
                "tickColor": soft,
            },
            "title": {
                "fontSize": 14,
                "fontWeight": 600,
                "color": ink,
                "anchor": "start",
                "offset": 10,
                "subtitleFontSize": 12,
                "subtitleColor": soft,
            },
            "legend": {
                "labelFontSize": 13,
                "titleFontSize": 13,
                "symbolSize": 110,
                "labelColor": ink,
                "symbolStrokeWidth": 2,
                "orient": "top",
                "direction": "horizontal",
                "columnPadding": 18,
                "labelLimit": 260,
            },
            "view": {"stroke": None},
        },
    }


PAGE_CONFIG: Spec = {
    "font": PAGE_FONT,
    "view": {"stroke": None},
    "bar": {"color": AFTER},
    "axis": {
        **_AXIS,
        "labelColor": ON_PAGE.soft,
        "titleColor": ON_PAGE.soft,
        "gridColor": ON_PAGE.line,
        "domainColor": ON_PAGE.line,
        "tickColor": ON_PAGE.line,
        "titleFontSize": 12,
        "labelPadding": 4,
    },
    "legend": {
        "labelColor": ON_PAGE.ink,
        "labelFontSize": 12,
        "titleColor": ON_PAGE.ink,
        "offset": 6,
    },
}
"""The report's fonts and quiet axes."""


def save_chart(spec: Spec, path: str | Path) -> None:
    """Writes a chart as SVG, PNG or a page of its own, by the name's ending."""
    import vl_convert

    target = Path(path)
    ending = target.suffix.lower()
    if ending == ".svg":
        target.write_text(vl_convert.vegalite_to_svg(spec), encoding="utf-8")
    elif ending == ".png":
        target.write_bytes(vl_convert.vegalite_to_png(spec, scale=2))
    elif ending == ".html":
        target.write_text(vl_convert.vegalite_to_html(spec, bundle=True), encoding="utf-8")
    else:
        raise InputError(
            "chart-file", f'"{path}" has no ending of a chart.', "Write .svg, .png or .html."
        )
