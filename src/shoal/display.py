"""How objects show themselves: a few lines of text; a card in a notebook, in plain HTML without
scripts, all text escaped; and on it a small drawing of how well people are linked to an event."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

import numpy as np

from shoal.arrays import Bools, Floats, Ints


def at_r(limits: Iterable[float]) -> str:
    """The r of the events: one, or from the least to the greatest."""
    ends = sorted({float(r) for r in limits})
    return f"at r = {' to '.join(f'{r:g}' for r in dict.fromkeys([ends[0], ends[-1]]))}"


def counted(count: int, one: str, many: str = "") -> str:
    """`1 group`, `2 groups`; `many` where the plural is not the singular with an s."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def number(value: float | None) -> str:
    """A figure as short as three digits allow; a dash where there is none."""
    return "-" if value is None else f"{value:.3g}"


def card(title: str, figures: Sequence[Sequence[str]], *, drawing: str = "") -> str:
    """`figures` are lines of cells, the first of each a heading; `drawing` is SVG."""
    lines = "".join(
        f'<tr><th style="text-align:left">{escape(line[0])}</th>'
        + "".join(f'<td style="text-align:left">{escape(cell)}</td>' for cell in line[1:])
        + "</tr>"
        for line in figures
    )
    return f"<div><p><strong>{escape(title)}</strong></p><table>{lines}</table>{drawing}</div>"


WIDTH, HEIGHT, BELOW = 420, 100, 18
BARS = 10
"""On either side of the limit."""
SAFE, OVER = "#2f7f86", "#b8402a"
ABOVE = 1e-9
"""A breach by less than rounding can show is drawn above the limit all the same."""


def risk_histogram(exposure: Floats, people: Ints, breach: Bools) -> str:
    """SVG of how many people have which exposure (posterior as a share of its limit). Bars grow
    with the logarithm of the number of people."""
    exposure = np.where(breach, np.maximum(exposure, 1 + 2 * ABOVE), exposure)
    largest = float(exposure.max(initial=0.0))
    edges = np.linspace(0.0, 1.0, BARS + 1)
    if largest > 1 + ABOVE:
        edges = np.append(edges, np.linspace(1.0, max(largest, 1.1), BARS + 1)[1:])
    place = np.searchsorted(edges, exposure - ABOVE, side="left") - 1
    place = np.clip(place, 0, len(edges) - 2)
    counts = np.bincount(place, weights=people, minlength=len(edges) - 1)
    tallest = np.log1p(counts.max(initial=1.0))
    step = WIDTH / (2 * BARS)
    bars = "".join(
        _bar(i, int(count), HEIGHT * float(np.log1p(count) / tallest), step, edges)
        for i, count in enumerate(counts)
        if count
    )
    limit = BARS * step
    ends = [(0.0, "start", "0"), (limit, "middle", "limit")]
    if len(edges) > BARS + 1:
        ends.append((float(WIDTH), "end", f"{edges[-1]:.3g} times the limit"))
    texts = "".join(
        f'<text x="{x:g}" y="{HEIGHT + BELOW - 4}" text-anchor="{anchor}" font-size="11" '
        f'fill="currentColor">{text}</text>'
        for x, anchor, text in ends
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT + BELOW}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT + BELOW}" role="img" '
        'aria-label="People by their largest link to an event">'
        f'{bars}<line x1="{limit:g}" x2="{limit:g}" y1="0" y2="{HEIGHT}" stroke="currentColor" '
        f'stroke-dasharray="3 3"/><line x1="0" x2="{WIDTH}" y1="{HEIGHT}" y2="{HEIGHT}" '
        f'stroke="currentColor"/>{texts}</svg>'
    )


def _bar(place: int, count: int, height: float, step: float, edges: Floats) -> str:
    colour = SAFE if place < BARS else OVER
    people, low, high = counted(count, "person", "people"), edges[place], edges[place + 1]
    what = f"{people}, {low:.3g} to {high:.3g} times the limit"
    return (
        f'<rect x="{place * step + 1:g}" y="{HEIGHT - height:.1f}" width="{step - 2:g}" '
        f'height="{height:.1f}" fill="{colour}"><title>{what}</title></rect>'
    )
