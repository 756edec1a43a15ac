"""The tables of time and memory, each from one section of the results."""

from __future__ import annotations

from typing import Any

from benchmarks.markdown import Lines, seconds, table


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
    return table(head, rows) + "\n" + _ratios(results) + "\n" + _machine(results)


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
    released = [_released([line for line in lines if line["rows"] == size]) for size in sizes]
    return table(head, [*rows, ("size of the release", *released)])


def _released(lines: Lines) -> str:
    sizes = [line["released"] for line in lines if "released" in line]
    return f"{sizes[0] / 1e6:.1f} MB" if sizes else ""


def _taken(line: dict[str, Any] | None) -> str:
    return "" if line is None else f"{line['cpu']:.0f} s, {line['peak'] / 1e9:.2f} GB"


def peers(results: dict[str, Any]) -> str:
    """Other tools on the same tables."""
    lines: Lines = results["peers"]["lines"]
    tables = list(dict.fromkeys((line["table"], line["rows"]) for line in lines))
    found = {(line["table"], line["rows"], line["tool"]): line for line in lines}
    head = ("CPU seconds, peak of memory", *(f"{name}, {rows:,} rows" for name, rows in tables))
    rows = []
    for tool in dict.fromkeys(line["tool"] for line in lines):
        ones = [found[*table, tool] for table in tables]
        told = [one["failed"] if "failed" in one else _taken(one) for one in ones]
        rows.append((tool, *told, ones[0]["promise"]))
    return table((*head, "what it promises"), rows)


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
    return table(head, rows)


def spark_file(results: dict[str, Any]) -> str:
    """What the stages of a large file take on one machine with Spark."""
    lines: Lines = results["sparkfile"]["lines"]
    head = (f"{lines[0]['rows']:,} rows, {lines[0]['cells']:,} cells", "Python", "Java")
    rows = [
        (
            line["stage"],
            *(
                f"{line['cpu'][who]:.0f} s, {line['peak_mb'][who] / 1000:.2f} GB"
                for who in ("python", "java")
            ),
        )
        for line in lines
    ]
    return table(head, rows)


def workbench(results: dict[str, Any]) -> str:
    """How fast the workbench answers."""
    rows = [
        (line["what"], f"{line['median']:.2f} s", f"{line['longest']:.2f} s")
        for line in results["workbench"]["lines"]
    ]
    return table(("", "median", "longest"), rows)


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
    return table(head, rows)


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
    return table(head, rows)


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
    return "no release" if "failed" in line else seconds(line["seconds"])
