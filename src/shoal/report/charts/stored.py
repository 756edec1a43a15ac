"""Charts as stored Vega-Lite specs (`stored.json`), and what is filled into them.

In a stored spec a text that begins with `$` stands for what is given under that name, or else for
another stored part. Texts of the table are data, never field names or expressions. Colours are
variables of the page's style sheet, so that one drawing serves light, dark and print.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.wording import visible

Chart = dict[str, Any]
Record = dict[str, Any]
LONGEST_LABEL = 44


def chart(name: str, *, height: int, records: list[Record] | None = None, **given: Any) -> Chart:
    """A stored chart, as wide as its place; with the records that its layers share, if they do."""
    filled = {**stored("frame", height=height), **stored(name, **given)}
    return filled if records is None else {**filled, "data": {"values": records}}


def stored(name: str, **given: Any) -> Any:
    """A stored spec, or a part of one, filled."""
    return _filled(_parts()[name], given)


@cache
def _parts() -> dict[str, Any]:
    text = files(__package__).joinpath("stored.json").read_text(encoding="utf-8")
    return json.loads(text)  # type: ignore[no-any-return]


def _filled(part: Any, given: Mapping[str, Any]) -> Any:
    if isinstance(part, str) and part.startswith("$"):
        name = part[1:]
        return given[name] if name in given else _filled(_parts()[name], given)
    if isinstance(part, dict):
        return {key: _filled(one, given) for key, one in part.items()}
    return [_filled(one, given) for one in part] if isinstance(part, list) else part


def label(text: str, longest: int = LONGEST_LABEL) -> str:
    """Foreign text as a chart label."""
    shown = visible(text)
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


def save_chart(spec: Chart, path: str | Path) -> None:
    """Writes a chart as SVG, PNG or a page of its own, by the name's ending."""
    import vl_convert

    target, ending = Path(path), chart_ending(path)
    if ending == ".svg":
        target.write_text(vl_convert.vegalite_to_svg(spec), encoding="utf-8")
    elif ending == ".png":
        target.write_bytes(vl_convert.vegalite_to_png(spec, scale=2))
    else:
        target.write_text(vl_convert.vegalite_to_html(spec, bundle=True), encoding="utf-8")


def chart_ending(path: str | Path) -> str:
    """The ending of a chart's file; an InputError for any other."""
    ending = Path(path).suffix.lower()
    if ending not in (".svg", ".png", ".html"):
        raise InputError(
            "chart-file", f'"{path}" has no ending of a chart.', "Write .svg, .png or .html."
        )
    return ending
