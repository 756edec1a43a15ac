"""The figures of a `repr`, short."""

from __future__ import annotations

from collections.abc import Iterable


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
