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
