"""Figures of a run: four panels per study, as SVG and PNG."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shoal.experiments.results import Results
from shoal.report.charts.panels import PAPER, Measure, panels
from shoal.report.charts.theme import save_chart

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
