"""Figures of a run: measures against a factor, in panels, one line per method, as SVG and PNG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from shoal.report.charts.stored import save_chart
from studies.results import Results
from studies.theme import INK, Measure, Spec, style_of, themed

WIDTH, HEIGHT = 330, 210
EXACT_ENOUGH = 0.99
"""Below this share of exact judgements, a problematic share is called a lower bound."""
Record = Mapping[str, Any]

# A dashed line to hold a measure against: what ART's lines say under another name.
YARDSTICKS = {
    "average_delta": ("theoretical_bound", "dashed: Theorem 1's bound, for ART's groups"),
    "suppressed_share": ("coverage_lost", "dashed: linear program, binary adversary"),
}

PAPER = (
    Measure("seconds", "Execution time (s)", log=True),
    Measure("relative_error", "Average relative error", log=True),
    Measure("problematic_share", "Problematic share of sensitive tuples", share=True),
    Measure("average_delta", "Average Δ"),
)
KNOWN = {
    measure.field: measure
    for measure in (
        *PAPER,
        Measure("suppressed_share", "Sensitive tuples suppressed", share=True),
        Measure("relative_error_protected", "Average relative error on the event", log=True),
        Measure("average_delta_carrying", "Average Δ of groups with the event"),
        Measure("worst_posterior", "Worst posterior, joint adversary", share=True),
        Measure("guess_rate", "Guess rate", share=True),
        Measure("binary_problematic_share", "Problematic share, binary adversary", share=True),
        Measure("binary_worst_posterior", "Worst posterior, binary adversary", share=True),
    )
}


def draw(results: Results, folder: Path) -> list[Path]:
    """Draws every study; returns the SVG files."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, shown in results.about["studies"].items():
        spec = figure(results, name, shown)
        for ending in ("svg", "png"):
            save_chart(spec, folder / f"{name}.{ending}")
        written.append(folder / f"{name}.svg")
    return written


def figure(results: Results, name: str, shown: dict[str, Any]) -> dict[str, Any]:
    """The chart of one study."""
    measures = [KNOWN.get(field, Measure(field, field)) for field in shown["measures"]] or PAPER
    if "problematic_share" in shown["measures"]:
        joint = Measure("problematic_share", "Problematic share, joint adversary", share=True)
        measures = [joint if one.field == joint.field else one for one in measures]
    return panels(
        results.averaged(name),
        factor=shown["label"],
        title=shown["title"],
        subtitle=_fixed(results, name),
        measures=measures,
        log_factor=shown["log"],
    )


def _fixed(results: Results, name: str) -> str:
    """What does not vary in the study."""
    lines, words = results.of(name), []
    labels = {"qi": "QIs", "r": "r", "min_support": "min_support", "qd": "qd", "s": "s"}
    for field, label in labels.items():
        values = lines[field].unique()
        if len(values) == 1:
            words.append(f"{values[0]:g} {label}" if field == "qi" else f"{label} = {values[0]:g}")
    return ", ".join([*words, f"{int(lines['queries'][0]):,} queries"])


def panels(
    records: Sequence[Record],
    *,
    factor: str,
    title: str,
    subtitle: str = "",
    measures: Sequence[Measure] = PAPER,
    log_factor: bool = False,
) -> Spec:
    """A grid of panels, two to a row. Records have `value`, `method` and the measures."""
    names = list(dict.fromkeys(record["method"] for record in records))
    letters = "abcdefgh"
    drawn = [
        _panel(records, measure, factor, names, letters[i], log_factor)
        for i, measure in enumerate(measures)
    ]
    rows = [{"hconcat": drawn[i : i + 2], "spacing": 44} for i in range(0, len(drawn), 2)]
    top: dict[str, Any] = {"text": title, "fontSize": 17, "offset": 16}
    if subtitle:
        top["subtitle"] = subtitle
    return themed(
        {
            "title": top,
            "vconcat": rows,
            "spacing": 30,
            "resolve": {"scale": {"color": "shared", "shape": "shared"}},
        }
    )


def _panel(
    records: Sequence[Record],
    measure: Measure,
    factor: str,
    names: list[str],
    letter: str,
    log_factor: bool,
) -> Spec:
    shown = [
        {"value": record["value"], "method": record["method"], "y": record[measure.field]}
        for record in records
        if record.get(measure.field) is not None
    ]
    field, caption = YARDSTICKS.get(measure.field, ("", ""))
    bound = [
        {"value": record["value"], "method": caption, "y": record[field]}
        for record in records
        if record["method"] == "ART" and record.get(field) is not None
    ]
    everything = [record["y"] for record in [*shown, *bound]]
    scale = measure.scale(everything)
    values = sorted({record["value"] for record in records})
    axis: dict[str, Any] = {"grid": False, "values": values, "labelOverlap": "parity"}
    x_scale: dict[str, Any] = {"zero": False, "nice": False, "domain": _domain(values, log_factor)}
    if log_factor:
        x_scale["type"] = "log"
    colours, shapes = style_of(names)
    x = {
        "field": "value",
        "type": "quantitative",
        "title": factor,
        "axis": axis,
        "scale": x_scale,
    }
    y = {
        "field": "y",
        "type": "quantitative",
        "title": None,
        "scale": scale,
        "axis": measure.axis(scale),
    }
    legend = {"title": None}
    colour = {
        "field": "method",
        "type": "nominal",
        "legend": legend,
        "scale": {"domain": names, "range": colours},
    }
    shape = {
        "field": "method",
        "type": "nominal",
        "legend": legend,
        "scale": {"domain": names, "range": shapes},
    }
    layers: list[Spec] = [
        {
            "data": {"values": shown},
            "mark": {"type": "line", "strokeWidth": 2, "opacity": 0.9},
            "encoding": {"x": x, "y": y, "color": colour},
        },
        {
            "data": {"values": shown},
            "mark": {"type": "point", "size": 75, "strokeWidth": 2, "fill": "white", "opacity": 1},
            "encoding": {"x": x, "y": y, "color": colour, "shape": shape},
        },
    ]
    if bound:
        layers.append(
            {
                "data": {"values": bound},
                "mark": {
                    "type": "line",
                    "strokeDash": [5, 4],
                    "color": INK,
                    "strokeWidth": 1.5,
                },
                "encoding": {"x": x, "y": y},
            }
        )
    prefix, mark, _ = measure.field.partition("problematic_share")
    loose = _lower_bounds(records, f"{prefix}exact_share") if mark else ""
    note = loose or (caption if bound else "")
    return {
        "title": {"text": f"({letter}) {measure.title}", "subtitle": note or " "},
        "width": WIDTH,
        "height": HEIGHT,
        "layer": layers,
    }


def _lower_bounds(records: Sequence[Record], field: str) -> str:
    """Names the methods of whose posteriors many could not be judged exactly."""
    loose = dict.fromkeys(
        record["method"] for record in records if (record.get(field) or 1) < EXACT_ENOUGH
    )
    return f"proven breaches only, may be more: {', '.join(loose)}" if loose else ""


def _domain(values: Sequence[float], log: bool) -> list[float]:
    """From the least to the greatest value, and a little beyond."""
    low, high = min(values), max(values)
    if log:
        step = (high / low) ** 0.06 if high > low else 1.5
        return [low / step, high * step]
    step = (high - low) * 0.06 or 0.5
    return [low - step, high + step]
