"""Figures and tables as the pages show them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Lines = list[dict[str, Any]]


def seconds(value: float) -> str:
    return f"{value:.3f}" if value < 1 else f"{value:.1f}"


def percent(share: float, digits: int = 1) -> str:
    return f"{100 * share:.{digits}f} %"


def rate(facts: dict[str, Any]) -> str:
    """A rate with its interval."""
    return f"{percent(facts['rate'])} ({100 * facts['low']:.1f} to {100 * facts['high']:.1f})"


def table(head: Sequence[Any], rows: Sequence[Sequence[Any]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(str(cell) for cell in line) + " |\n" for line in lines)
