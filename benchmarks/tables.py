"""The tables of README.md and the docs, each from one section of the results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from shoal.wording import verdict_words

Lines = list[dict[str, Any]]


def art(results: dict[str, Any]) -> str:
    """ART's settings, of cells and of rows."""
    head = ("units", "QIs", "min_support", "r", "limit", "suppressed", "people per carrier",
            "cell", "both readers", "counter fails for", "absence", "seconds")  # fmt: skip
    rows = [
        (
            line["units"],
            line["qi"],
            line["min_support"],
            f"{line['r']:g}",
            line["limit"],
            *(_achieved(line) if "failed" not in line else (line["failed"], *[""] * 6)),
        )
        for line in results["art"]["lines"]
    ]
    return _table(head, rows)


def _achieved(line: dict[str, Any]) -> tuple[str, ...]:
    return (
        f"{line['suppressed']} ({_percent(line['suppressed_share'], 2)})",
        f"{line['people_per_carrier']:.1f}",
        str(line["cell"] or ""),
        "no breach" if not line["problematic"] else f"{line['problematic']:,} above",
        _percent(line["counter_share"]),
        "tells nothing" if line["absence"] else "tells",
        _seconds(line["search_seconds"]),
    )


def every(results: dict[str, Any]) -> str:
    """ART where each value is an event."""
    head = ("r", "suppressed rows", "mean group size", "worst posterior", "guess rate", "seconds")
    rows = [
        (
            f"{line['r']:g}",
            f"{line['suppressed']:,} of {line['rows']:,} "
            f"({_percent(line['suppressed'] / line['rows'], 2)})",
            f"{line['mean_size']:.1f}",
            f"{line['worst_posterior']:.3f}",
            _percent(line["guess_rate"]),
            _seconds(line["search_seconds"]),
        )
        for line in results["every"]["lines"]
    ]
    return _table(head, rows)


def arx(results: dict[str, Any]) -> str:
    """The audit of a release that ARX made."""
    head = ("adversary", "problematic people", "of those with the event", "worst posterior",
            "people not decided", "seconds")  # fmt: skip
    rows = [
        (
            line["adversary"],
            f"{line['problematic']:,} of {line['published']:,}",
            f"{line['problematic_carriers']:,} of {line['carriers']:,} "
            f"({_percent(line['problematic_share'])})",
            f"{line['worst_posterior']:.3f}",
            f"{line['undecided']:,}",
            f"{line['seconds']:.1f}",
        )
        for line in results["arx"]["lines"]
    ]
    return _table(head, rows)


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
            f"({_percent(line['undecided'] / line['published'])})",
            f"{line['seconds']:.1f}",
        )
        for line in results["undecided"]["lines"]
    ]
    return _table(head, rows)


def methods(results: dict[str, Any]) -> str:
    """Every method on Adult."""
    head = ("r", "method", "robust", "problematic", "people not decided", "worst posterior",
            "guess rate", "suppressed rows", "values changed", "seconds")  # fmt: skip
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
                _percent(line["problematic_share"]),
                f"{line['undecided']:,}",
                f"{line['worst_posterior']:.3f}",
                _percent(line["guess_rate"]),
                f"{line['suppressed']:,}",
                f"{line['changed']:,}",
                _seconds(line["seconds"]),
            )
        )
    return _table(head, rows)


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
    return _table(head, rows)


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
    return _table(head, rows)


def redteam(results: dict[str, Any]) -> str:
    """A line per attacker, a column per method."""
    lines: Lines = results["redteam"]["lines"]
    made = [line for line in lines if "failed" not in line]
    found = [{one["attacker"]: one for one in line["attackers"]} for line in made]
    names = list(dict.fromkeys(name for some in found for name in some))
    rows = [(name, *(_named(some.get(name)) for some in found)) for name in names]
    guessed = [max(one["everybody"]["tries"] for one in line["attackers"]
                   if one["control"]) for line in made]  # fmt: skip
    rows.append(("*people named*", *(f"{tries:,}" for tries in guessed)))
    rows.append(("*seconds*", *(f"{line['seconds']:.0f}" for line in made)))
    table = _table(("attacker", *(line["method"] for line in made)), rows)
    failed = [f"{line['method']}: {line['failed']}\n" for line in lines if "failed" in line]
    return table + "".join(failed)


def _named(one: dict[str, Any] | None) -> str:
    """How often somebody is right, of all and of people not known before; bold if beyond chance."""
    if one is None or not one["everybody"]["tries"]:
        return ""
    quiet = one["unknown_before"]
    shown = _percent(one["everybody"]["rate"])
    shown += f" / {_percent(quiet['rate'])}" if quiet["tries"] else ""
    return f"**{shown}**" if one["beats_limit"] else shown


def insider(results: dict[str, Any]) -> str:
    """Attackers from within on cells and on rows; of the insiders, the one who is right most."""
    head = ("table", "r", "1/r", "groups of", "limit", "suppressed", "people per carrier",
            "a random member", "best insider, everybody", "best insider, unknown before",
            "counting in all views")  # fmt: skip
    rows: list[tuple[Any, ...]] = []
    lines = results["insider"]["lines"]
    for line in sorted(lines, key=lambda one: (one["table"], one["r"])):
        setting = (line["table"], f"{line['r']:g}", _percent(1 / line["r"]), line["units"],
                   line["limit"])  # fmt: skip
        if "failed" in line:
            rows.append((*setting, line["failed"], *[""] * 5))
            continue
        found = {one["attacker"]: one for one in line["attackers"]}
        best = [_best_insider(line, whom) for whom in ("everybody", "unknown")]
        rows.append(
            (
                *setting,
                f"{line['suppressed']:,} of {line['carriers']:,}",
                f"{line['people_per_carrier']:.1f}",
                _percent(found["a random member"]["everybody"]["rate"]),
                *(_rate(one) for one in best),
                _rate(found["counting in all views at once"]["everybody"]),
            )
        )
    return _table(head, rows)


def named(results: dict[str, Any]) -> str:
    """The same for Adult in brief: how often a carrier is named."""
    head = ("r", "limit", "1/r", "insider, blind groups", "carriers not known beforehand",
            "insider, groups made row by row", "counting in all views, blind groups")  # fmt: skip
    lines = {
        (line["r"], line["units"]): line
        for line in results["insider"]["lines"]
        if line["table"] == "Adult" and "failed" not in line
    }
    rows = []
    for r, units in sorted(lines):
        if units == "cells":
            line = lines[r, units]
            found = {one["attacker"]: one["everybody"] for one in line["attackers"]}
            rows.append(
                (
                    f"{r:g}",
                    line["limit"],
                    _percent(1 / r),
                    _rate(_best_insider(line, "everybody")),
                    _rate(_best_insider(line, "unknown")),
                    _rate(_best_insider(lines[r, "rows"], "everybody")),
                    _rate(found["counting in all views at once"]),
                )
            )
    return _table(head, rows)


def _best_insider(line: dict[str, Any], whom: str) -> dict[str, float]:
    """The rate of the insider who is right most."""
    insiders = [one[whom] for one in line["attackers"] if one["kind"] == "insider"]
    return max(insiders, key=lambda rate: float(rate["rate"]))


def neighbours(results: dict[str, Any]) -> str:
    """What a change of one value changes for the person, and for others of its class."""
    head = ("change", "whose group", "holds an event before", "after", "mean size before",
            "after")  # fmt: skip
    rows = []
    for line in results["neighbours"]["lines"]:
        for who, name in (("changed", "the person's"), ("others", "others' of the class")):
            both = [line[who][side] for side in ("before", "after")]
            sizes = [f"{one['mean_size']:.2f}" for one in both]
            rows.append((line["change"], name, *(_rate(one) for one in both), *sizes))
    return _table(head, rows)


def speed(results: dict[str, Any]) -> str:
    """Seconds by stage and table, then the ratios."""
    lines: Lines = results["stages"]["lines"]
    tables = list(dict.fromkeys((line["table"], line["rows"]) for line in lines))
    found = {(line["table"], line["rows"], line["stage"]): line for line in lines}
    head = ("seconds", *(f"{name}, {rows:,} rows" for name, rows in tables))
    rows = []
    for stage in dict.fromkeys(line["stage"] for line in lines):
        cells = [found.get((*table, stage)) for table in tables]
        rows.append((stage, *(_cell(line) for line in cells)))
    return _table(head, rows) + "\n" + _ratios(results) + "\n" + _machine(results)


def large(results: dict[str, Any]) -> str:
    """Whole commands on large files, beside plain Polars."""
    lines: Lines = results["large"]["lines"]
    sizes = list(dict.fromkeys(line["rows"] for line in lines))
    found = {(line["rows"], line["what"]): line for line in lines}
    head = ("CPU seconds, peak of memory", *(f"{rows:,} rows" for rows in sizes))
    rows = [
        (what, *(_taken(found.get((size, what))) for size in sizes))
        for what in dict.fromkeys(line["what"] for line in lines)
    ]
    return _table(head, rows)


def _taken(line: dict[str, Any] | None) -> str:
    return "" if line is None else f"{line['cpu']:.0f} s, {line['peak'] / 1e9:.2f} GB"


def spark(results: dict[str, Any]) -> str:
    """What the driver holds as the rows on a cluster grow."""
    head = ("peak of memory", "driver, Python", "driver, Java", "each executor, at most")
    rows = [
        (
            f"{line['rows']:,} rows, {line['cells']:,} cells",
            f"{line['peak_mb']['python']:,} MB",
            f"{line['peak_mb']['java']:,} MB",
            f"{max(line['peak_mb']['executors'], default=0):,} MB",
        )
        for line in results["spark"]["lines"]
    ]
    return _table(head, rows)


def workbench(results: dict[str, Any]) -> str:
    """How fast the workbench answers."""
    rows = [
        (line["what"], f"{line['median']:.2f} s", f"{line['longest']:.2f} s")
        for line in results["workbench"]["lines"]
    ]
    return _table(("", "median", "longest"), rows)


def cells(results: dict[str, Any]) -> str:
    """Stages on counted cells."""
    lines: Lines = results["cells"]["lines"]
    tables = list(dict.fromkeys((line["table"], line["rows"]) for line in lines))
    found = {(line["table"], line["rows"], line["stage"]): line for line in lines}
    head = ("CPU seconds, peak of memory", *(f"{name}, {rows:,} rows" for name, rows in tables))
    rows = []
    for stage in dict.fromkeys(line["stage"] for line in lines):
        ones = [found.get((*table, stage)) for table in tables]
        told = ["refused" if one and "refused" in one else _taken(one) for one in ones]
        rows.append((stage, *told))
    return _table(head, rows)


def _ratios(results: dict[str, Any]) -> str:
    head = ("ratio", "rows", "shoal", "Polars", "ratio", "aim")
    rows = [
        (
            line["name"],
            f"{line['rows']:,}",
            f"{line['shoal']:.3g}",
            f"{line['other']:.3g}",
            f"{line['ratio']:.2f}",
            "" if "aim" not in line else f"{line['aim']:g}: {'met' if line['met'] else 'missed'}",
        )
        for line in results["ratios"]["lines"]
    ]
    return _table(head, rows)


def _machine(results: dict[str, Any]) -> str:
    machine, made = results["stages"]["machine"], results["stages"]
    libraries = ("shoal", "python", "numpy", "numba", "polars", "scipy")
    versions = ", ".join(f"{key} {machine[key]}" for key in libraries)
    compiling = sum(line["seconds"] for line in made["compiling"])
    return (
        f"Measured {made['date']} on {machine['processor']}, {machine['cores']} cores "
        f"(load before the run {made['load_before']}); {versions}. Compiling every kernel, "
        f"once per machine, took {compiling:.0f} s and is in none of the figures.\n"
    )


def _cell(line: dict[str, Any] | None) -> str:
    if line is None:
        return ""
    return "no release" if "failed" in line else _seconds(line["seconds"])


def _seconds(value: float) -> str:
    return f"{value:.3f}" if value < 1 else f"{value:.1f}"


def _percent(share: float, digits: int = 1) -> str:
    return f"{100 * share:.{digits}f} %"


def _rate(facts: dict[str, Any]) -> str:
    """A rate with its interval."""
    return f"{_percent(facts['rate'])} ({100 * facts['low']:.1f} to {100 * facts['high']:.1f})"


def _table(head: Sequence[Any], rows: Sequence[Sequence[Any]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(str(cell) for cell in line) + " |\n" for line in lines)


BLOCKS: dict[str, Callable[[dict[str, Any]], str]] = {
    "art": art,
    "every": every,
    "arx": arx,
    "undecided": undecided,
    "methods": methods,
    "models": models,
    "several": several,
    "redteam": redteam,
    "insider": insider,
    "named": named,
    "neighbours": neighbours,
    "speed": speed,
    "large": large,
    "spark": spark,
    "cells": cells,
    "workbench": workbench,
}
