"""Runs the benchmarks, shows them, and keeps them in benchmarks/results/latest.json.

python -m benchmarks [--only stages|ratios|every|arx|undecided|methods|models|several|redteam|
    worst-case|chains|neighbours|cells|large|spark|sparkfile|workbench]
    [--rows 100000,1000000] [--peers]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).with_name("results") / "latest.json"
SECTIONS = (
    "stages",
    "ratios",
    "every",
    "arx",
    "undecided",
    "methods",
    "models",
    "several",
    "redteam",
    "worst-case",
    "chains",
    "neighbours",
    "cells",
    "large",
    "spark",
    "sparkfile",
    "workbench",
)
PEERS = "peers"
"""It fetches tools, and so runs only if it is asked for."""
WARM = (["worst-case"], ["chains"], [PEERS])
"""For these alone nothing is compiled beforehand."""
NEED_ADULT = ("every", "arx", "undecided", "methods", "models", "redteam")


def main(arguments: Sequence[str]) -> None:
    """Each section that was run replaces its old self in the file, with a note of how."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", help=f"sections to run, of {','.join(SECTIONS)}")
    parser.add_argument("--rows", default="100000,1000000", help="sizes of the hospital tables")
    parser.add_argument("--out", type=Path, default=RESULTS, help="where the figures are kept")
    parser.add_argument("--peers", action="store_true", help="other tools beside shoal, alone")
    asked = parser.parse_args(arguments)
    sizes = [int(text) for text in asked.rows.split(",")]
    chosen = asked.only.split(",") if asked.only else list(SECTIONS)
    if asked.peers:
        chosen = [PEERS]
    for name in chosen:
        if name not in (*SECTIONS, PEERS):
            parser.error(f"there is no section {name}; there are {', '.join(SECTIONS)}")
    kept = json.loads(asked.out.read_text("utf-8")) if asked.out.is_file() else {}
    only = [] if asked.only is None else ["--only", asked.only]
    rows = ["--rows", asked.rows] if asked.rows != parser.get_default("rows") else []
    peers = ["--peers"] if asked.peers else []
    command = " ".join(["python -m benchmarks", *only, *rows, *peers])
    # An empty cache: what is reported as compiling is compiled, here and in child processes.
    with tempfile.TemporaryDirectory() as cache:
        if chosen not in WARM:
            os.environ["NUMBA_CACHE_DIR"] = cache
        kept |= _run(chosen, sizes, command)
    asked.out.parent.mkdir(exist_ok=True)
    asked.out.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", "utf-8")
    print(f"Kept in {asked.out}")


def _run(chosen: Sequence[str], sizes: Sequence[int], command: str) -> dict[str, Any]:
    from benchmarks import achieved
    from benchmarks.cells import measure_cells
    from benchmarks.chains import measure_chains
    from benchmarks.large import measure_large
    from benchmarks.models import measure_models
    from benchmarks.neighbours import measure_neighbours
    from benchmarks.peers import measure_peers
    from benchmarks.ratios import measure_ratios
    from benchmarks.redteam import measure_redteam
    from benchmarks.settings import adult_frame, adult_subject, hospital_subject
    from benchmarks.several import measure_several
    from benchmarks.spark import measure_spark
    from benchmarks.spark_file import measure_spark_file
    from benchmarks.stages import measure_stages, warm_up
    from benchmarks.undecided import measure_undecided
    from benchmarks.workbench import measure_workbench
    from benchmarks.worst_case import measure_worst_case
    from shoal.planning.comparison.comparison import machine_note

    def stages(say: Callable[[str], None]) -> list[dict[str, Any]]:
        lines: list[dict[str, Any]] = []
        adult = adult_subject()
        for subject in [adult] if adult else []:
            say(f" {subject.name}, {subject.frame.height:,} rows")
            lines += measure_stages(subject, say)
        for rows in sizes:
            say(f" hospital, {rows:,} rows")
            lines += measure_stages(hospital_subject(rows), say)
        return lines

    work: dict[str, Callable[[Callable[[str], None]], list[dict[str, Any]]]] = {
        "stages": stages,
        "ratios": lambda say: measure_ratios(sizes, say),
        "every": achieved.measure_every,
        "arx": achieved.measure_arx,
        "undecided": measure_undecided,
        "methods": achieved.measure_methods,
        "models": measure_models,
        "several": measure_several,
        "redteam": measure_redteam,
        "worst-case": measure_worst_case,
        "chains": measure_chains,
        "neighbours": measure_neighbours,
        "cells": measure_cells,
        "large": measure_large,
        "spark": measure_spark,
        "sparkfile": measure_spark_file,
        "workbench": measure_workbench,
        PEERS: measure_peers,
    }
    no_adult = adult_frame() is None
    if no_adult:
        print("Adult was not found (set SHOAL_DATA to a folder with adult.csv.gz): skipped.")
    say = partial(print, flush=True)
    compiling = None if list(chosen) in WARM else warm_up(say)
    done: dict[str, Any] = {}
    for name in chosen:
        if no_adult and name in NEED_ADULT:
            continue
        say(name)
        load = os.getloadavg()[0]
        done[name] = {
            "command": command,
            "date": datetime.now(UTC).date().isoformat(),
            "machine": machine_note(),
            "load_before": round(load, 2),
            "lines": work[name](say),
        }
        if name == "stages":
            done[name]["compiling"] = compiling
    return done


if __name__ == "__main__":
    main(sys.argv[1:])
