"""Small drawings inside a page: SVG by attributes alone, coloured by the style sheet."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup, escape

from shoal.wording import percent

BAR_WIDTH, BAR_HEIGHT = 120, 28
LEAST_SHARE = 0.1
"""A curve reaches up to this share at least, so that a small loss looks small."""
WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 640, 260, 52, 40, 14


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


def curve(
    points: Sequence[tuple[float, float]],
    *,
    label: str,
    across: str,
    chosen: float | None = None,
    mark: float | None = None,
    mark_label: str = "",
) -> Markup:
    """Shares over r: a line with a dot at each point, and an upright line at `mark`."""
    most = max([x for x, _ in points] + ([mark] if mark is not None else []) + [2.0])
    least = min([x for x, _ in points] + [1.0])
    top = max([y for _, y in points] + [LEAST_SHARE])

    def at(x: float, y: float) -> tuple[float, float]:
        right = (WIDTH - LEFT - 12) * (x - least) / (most - least)
        return LEFT + right, TOP + (HEIGHT - BOTTOM - TOP) * (1 - y / top)

    parts = [_rule(LEFT, at(0, level * top)[1], level * top) for level in (0.0, 0.5, 1.0)]
    for x, _ in points:
        parts.append(
            f'<text class="tick" x="{at(x, 0)[0]:.1f}" y="{HEIGHT - BOTTOM + 18}" '
            f'text-anchor="middle">{x:g}</text>'
        )
    parts.append(
        f'<text class="tick" x="{WIDTH - 12}" y="{HEIGHT - 4}" text-anchor="end">'
        f"{escape(across)}</text>"
    )
    if mark is not None:
        x = at(mark, 0)[0]
        parts.append(f'<path class="mark" d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}"/>')
        parts.append(_named(x, mark_label))
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in (at(*point) for point in points))
    parts.append(f'<polyline class="line" points="{line}"/>')
    for x, y in points:
        place, high = at(x, y)
        kind = "dot chosen" if x == chosen else "dot"
        parts.append(f'<circle class="{kind}" cx="{place:.1f}" cy="{high:.1f}" r="5"/>')
    return Markup(
        f'<svg class="curve" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(label)}">{"".join(parts)}</svg>'
    )


def _named(x: float, label: str) -> str:
    """A label beside an upright line, on the side where there is room."""
    left = x > WIDTH / 2
    anchor, place = ("end", x - 6) if left else ("start", x + 6)
    return (
        f'<text class="tick" x="{place:.1f}" y="{TOP + 10}" text-anchor="{anchor}">'
        f"{escape(label)}</text>"
    )


def _rule(left: float, y: float, level: float) -> str:
    return (
        f'<path class="rule" d="M{left} {y:.1f}H{WIDTH - 12}"/>'
        f'<text class="tick" x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">'
        f"{percent(level)}</text>"
    )
