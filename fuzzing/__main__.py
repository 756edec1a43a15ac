"""Runs a trial and says what came of it.

python -m fuzzing kills [--seed 1] [--count 1000]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m fuzzing", description=__doc__)
    trials = parser.add_subparsers(dest="trial", required=True)
    kills = trials.add_parser("kills", help="runs that are killed while they write a release")
    kills.add_argument("--seed", type=int, default=1)
    kills.add_argument("--count", type=int, default=1000, help="kills at random moments")
    asked = parser.parse_args(arguments)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        _kills(Path(folder), asked.seed, asked.count)
    print(f"{time.monotonic() - began:.0f} seconds.")


def _kills(folder: Path, seed: int, count: int) -> None:
    from fuzzing.kills import Trials, at_every_step, at_random

    trials = Trials(folder)
    for exchanges in (True, False):
        steps = at_every_step(trials, exchanges=exchanges)
        way = "names exchanged" if exchanges else "names changed one by one"
        print(f"{steps} kills, one before each step ({way}): {trials.found}", flush=True)
        trials.found.clear()
    at_random(trials, count, seed)
    print(f"{count} kills at random moments: {trials.found}")


main(sys.argv[1:])
