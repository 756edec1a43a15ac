"""Drawings inside a page: SVG by attributes alone, coloured by the style sheet."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache

from markupsafe import Markup, escape

from shoal.report.charts.stored import Chart

BAR_WIDTH, BAR_HEIGHT = 120, 28
WIDTHS = {"narrow": 340, "wide": 720}
"""In pixels, for phones and for wider screens: letters must not shrink with the chart."""


def bars(counts: Sequence[int], label: str) -> Markup:
    """A histogram as bars; what it shows is said in `label`."""
    top, step = max(counts, default=0) or 1, BAR_WIDTH / max(1, len(counts))
    parts = []
    for place, count in enumerate(counts):
        height = max(1.0, BAR_HEIGHT * count / top) if count else 0.0
        parts.append(
            f'<rect x="{place * step:.1f}" y="{BAR_HEIGHT - height:.1f}" '
            f'width="{max(1.0, step - 1):.1f}" height="{height:.1f}"/>'
        )
    return Markup(
        f'<svg class="bars" viewBox="0 0 {BAR_WIDTH} {BAR_HEIGHT}" width="{BAR_WIDTH}" '
        f'height="{BAR_HEIGHT}" role="img" aria-label="{escape(label)}">{"".join(parts)}</svg>'
    )


def drawn(name: str, chart: Chart) -> dict[str, Markup]:
    """A chart of the report's kind in each width, of which a page shows one."""
    text = json.dumps(chart)
    return {size: _drawn(f"{name}-{size}", text, width) for size, width in WIDTHS.items()}


@lru_cache(maxsize=64)
def _drawn(name: str, chart: str, width: int) -> Markup:
    """As SVG. It has no style of its own, which the policy of the pages would not admit: its
    colours are variables of their style sheet."""
    from shoal.report.page import drawing

    return Markup(drawing(name, json.loads(chart), width=width))


SPAN, THICK = 240, 18


def span(low: float, high: float, *, marks: Sequence[float] = (), tone: str = "after") -> Markup:
    """A bar from one share to another, between 0 and 1, with marks such as a limit. What it shows
    stands in figures beside it."""
    left, wide = SPAN * min(low, high), max(1.5, SPAN * abs(high - low))
    lines = "".join(
        f'<rect class="limit" x="{SPAN * one:.1f}" y="0" width="2" height="{THICK}"/>'
        for one in marks
    )
    return Markup(
        f'<svg class="span" viewBox="0 0 {SPAN + 2} {THICK}" width="{SPAN + 2}" height="{THICK}" '
        f'aria-hidden="true"><rect class="ground" x="0" y="{THICK - 2}" width="{SPAN}" height="1"/>'
        f'<rect class="{tone}" x="{left:.1f}" y="3" width="{wide:.1f}" height="{THICK - 6}"/>'
        f"{lines}</svg>"
    )


def counted(before: float | None, after: float, low: float, high: float) -> Markup:
    """A count in the table as a thin bar, the release's as a thick one with its interval; all as
    shares of the widest bar of the drawing."""
    wide = 0.0 if before is None else SPAN * before
    thin = f'<rect class="before" x="0" y="1" width="{wide:.1f}" height="5"/>'
    return Markup(
        f'<svg class="span" viewBox="0 0 {SPAN + 2} {THICK}" width="{SPAN + 2}" height="{THICK}" '
        f'aria-hidden="true">{thin}'
        f'<rect class="after" x="0" y="8" width="{SPAN * after:.1f}" height="8"/>'
        f'<rect class="error" x="{SPAN * low:.1f}" y="11" '
        f'width="{max(1.0, SPAN * (high - low)):.1f}" height="2"/></svg>'
    )
