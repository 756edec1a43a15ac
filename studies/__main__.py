"""Repeats the paper's experiments, or runs your own. A stopped run goes on where it was.

python -m studies paper --data adult.csv.gz --out FOLDER     (or one study's name, or a .toml file)
python -m studies page RESULTS --out docs/results.md         (RESULTS: folder or CSV of a run)
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from shoal.errors import InputError
from shoal.planning.comparison.comparison import machine_note
from studies.figures import draw
from studies.page import write_page
from studies.results import Results, collect
from studies.run import run
from studies.study import read_studies


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs studies, or writes the page of a run."""
    parser = argparse.ArgumentParser(
        prog="python -m studies",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", help="paper (all studies), one study's name, a .toml file, or page")
    parser.add_argument("results", type=Path, nargs="?", help="for page: a run's folder or CSV")
    parser.add_argument("--out", type=Path, required=True, help="folder of the run, or the page")
    parser.add_argument("--data", type=Path, help="the table to study")
    parser.add_argument("--quick", action="store_true", help="fewer values and queries")
    parser.add_argument("--repeat", type=int, default=1, help="runs per cell, seeds counting up")
    parser.add_argument("--seed", type=int, default=0, help="first seed")
    asked = parser.parse_args(arguments)
    if (asked.results is not None) != (asked.what == "page"):
        parser.error("page takes the results of a run; nothing else does")
    try:
        if asked.what == "page":
            written = write_page(Results.load(asked.results), asked.out)
        else:
            if asked.data is None or asked.repeat < 1:
                parser.error("name a table with --data, and repeat at least once")
            written = _measured(asked)
    except InputError as error:
        parser.error(str(error))
    print(*written, sep="\n")


def _measured(asked: argparse.Namespace) -> list[Path]:
    studies = read_studies(asked.what, quick=asked.quick)
    lines = run(
        studies,
        asked.data,
        asked.out,
        repeat=asked.repeat,
        seed=asked.seed,
        say=lambda text: print(text, file=sys.stderr),
    )
    command = f"python -m studies {Path(asked.what).name} --data {asked.data.name}"
    command += f" --repeat {asked.repeat} --seed {asked.seed}" + " --quick" * asked.quick
    results = collect(lines, studies, command=command, machine=machine_note())
    results.save(asked.out)
    return draw(results, asked.out / "figures")


if __name__ == "__main__":
    main()
