"""The tables of README.md and the docs, each from one section of the results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks import attack_tables, chain_tables, sentences, speed_tables, worst_tables
from benchmarks.markdown import percent, seconds, table
from shoal.auditing.check_words import LABELS
from shoal.wording import verdict_words


def every(results: dict[str, Any]) -> str:
    """ART where each value is an event."""
    checks = ("one-view", "suppression", "counting", "certainty", "all-views")
    head = ("r", "suppressed rows", "mean group size", "guess rate",
            *checks)  # fmt: skip
    rows = [
        (
            f"{line['r']:g}",
            f"{line['suppressed']:,} of {line['rows']:,} "
            f"({percent(line['suppressed'] / line['rows'], 2)})",
            f"{line['mean_size']:.1f}",
            percent(line["guess_rate"]),
            *(_state(*line["checks"][name]) for name in checks),
        )
        for line in results["every"]["lines"]
    ]
    return table(head, rows)


def _state(state: str, people: int | None) -> str:
    return LABELS[state] if state != "broken" else f"{LABELS[state]}: {people:,} people"  # type: ignore[index]


def arx(results: dict[str, Any]) -> str:
    """The audit of a release that ARX made."""
    head = ("adversary", "problematic people", "of those with the event", "worst posterior",
            "people not decided", "seconds")  # fmt: skip
    rows = [
        (
            line["adversary"],
            f"{line['problematic']:,} of {line['published']:,}",
            f"{line['problematic_carriers']:,} of {line['carriers']:,} "
            f"({percent(line['problematic_share'])})",
            f"{line['worst_posterior']:.3f}",
            f"{line['undecided']:,}",
            f"{line['seconds']:.1f}",
        )
        for line in results["arx"]["lines"]
    ]
    return table(head, rows)


def undecided(results: dict[str, Any]) -> str:
    """What the bounds decide of large classes."""
    head = ("release", "bounds by", "exact", "bounds", "estimates", "problematic people",
            "people not decided", "seconds")  # fmt: skip
    rows = [
        (
            line["release"],
            line["bounds"],
            f"{line['exact']:,}",
            f"{line['bound']:,}",
            f"{line['estimate']:,}",
            f"{line['problematic']:,}",
            f"{line['undecided']:,} of {line['published']:,} "
            f"({percent(line['undecided'] / line['published'])})",
            f"{line['seconds']:.1f}",
        )
        for line in results["undecided"]["lines"]
    ]
    return table(head, rows)


def methods(results: dict[str, Any]) -> str:
    """Every method on Adult."""
    head = ("r", "method", "robust", "problematic", "people not decided", "worst posterior",
            "guess rate", "suppressed rows", "values changed", "CPU seconds")  # fmt: skip
    verdict = {True: "yes", False: "no", None: "not shown"}
    rows: list[tuple[Any, ...]] = []
    for line in results["methods"]["lines"]:
        if "failed" in line:
            rows.append((f"{line['r']:g}", line["method"], line["failed"], *[""] * 7))
            continue
        rows.append(
            (
                f"{line['r']:g}",
                line["method"],
                verdict[line["robust"]],
                percent(line["problematic_share"]),
                f"{line['undecided']:,}",
                f"{line['worst_posterior']:.3f}",
                percent(line["guess_rate"]),
                f"{line['suppressed']:,}",
                f"{line['changed']:,}",
                seconds(line["seconds"]),
            )
        )
    return table(head, rows)


def models(results: dict[str, Any]) -> str:
    """What models make of a release that was made without them, and with them."""
    head = ("model", "AUC", "calibration error", "people above the limit, made without it",
            "made with it", "suppressed", "fitting, seconds", "search, seconds")  # fmt: skip
    rows = [
        (
            line["model"],
            f"{line['auc']:.3f}",
            f"{line['calibration']:.4f}",
            f"{line['linked_without']:,}",
            f"{line['linked_with']:,}",
            f"{line['suppressed']:,} of {line['carriers']:,}",
            f"{line['fit_seconds']:.1f}",
            f"{line['search_seconds']:.1f}",
        )
        for line in results["models"]["lines"]
    ]
    return table(head, rows)


def several(results: dict[str, Any]) -> str:
    """What it takes to protect several columns at once."""
    head = ("columns", "r", "verdict", "people with an event", "suppressed, with an event",
            "groups of one signature", "others", "search, seconds", "audit", "in all")  # fmt: skip
    rows = [
        (
            line["columns"],
            f"{line['r']:g}",
            verdict_words(line["robust"]),
            f"{line['carriers']:,}",
            f"{line['suppressed']:,}, {line['suppressed_with_event']:,}",
            f"{line['alike_groups']:,}",
            f"{line['other_groups']:,}",
            f"{line['search_seconds']:.1f}",
            f"{line['audit_seconds']:.1f}",
            f"{line['seconds']:.1f}",
        )
        for line in results["several"]["lines"]
    ]
    return table(head, rows)


BLOCKS: dict[str, Callable[[dict[str, Any]], str]] = {
    "worst": worst_tables.reached,
    "attackers": worst_tables.named,
    "true": worst_tables.true,
    "counted": worst_tables.counted,
    "chains": chain_tables.months,
    "chained": chain_tables.attacked,
    "every": every,
    "arx": arx,
    "surprise": sentences.surprise,
    "fast": sentences.fast,
    "undecided": undecided,
    "methods": methods,
    "models": models,
    "several": several,
    "redteam": attack_tables.redteam,
    "neighbours": attack_tables.neighbours,
    "speed": speed_tables.speed,
    "large": speed_tables.large,
    "peers": speed_tables.peers,
    "spark": speed_tables.spark,
    "sparkfile": speed_tables.spark_file,
    "cells": speed_tables.cells,
    "workbench": speed_tables.workbench,
}
