"""A card for notebooks: what was found in one line, figures below it, perhaps a drawing.

Plain HTML without scripts, in the notebook's own colours. All text is escaped here.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape


def card(title: str, figures: Sequence[Sequence[str]], *, drawing: str = "") -> str:
    """`figures` are lines of cells, the first of each a heading; `drawing` is SVG."""
    lines = "".join(
        f'<tr><th style="text-align:left">{escape(line[0])}</th>'
        + "".join(f'<td style="text-align:left">{escape(cell)}</td>' for cell in line[1:])
        + "</tr>"
        for line in figures
    )
    return f"<div><p><strong>{escape(title)}</strong></p><table>{lines}</table>{drawing}</div>"
