"""Runs a trial and says what came of it.

python -m fuzzing groups|tables|persons [--seed 1] [--seconds 60] [--count N] [--first N]
python -m fuzzing kills [--seed 1] [--count 1000]
python -m fuzzing readers [--seed 1] [--seconds 60] [--count N] [--only t.csv] [--first N]
python -m fuzzing all [--seed 1] [--seconds 60]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

JUDGED = ("groups", "tables", "persons")


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m fuzzing", description=__doc__)
    trials = parser.add_subparsers(dest="trial", required=True)
    kills = trials.add_parser("kills", help="runs that are killed while they write a release")
    kills.add_argument("--seed", type=int, default=1)
    kills.add_argument("--count", type=int, default=1000, help="kills at random moments")
    readers = trials.add_parser("readers", help="damaged files of every kind that shoal reads")
    readers.add_argument("--seed", type=int, default=1)
    readers.add_argument("--seconds", type=float, default=60)
    readers.add_argument("--count", type=int, help="mutations of each file, at most")
    readers.add_argument("--only", help="one kind of file")
    readers.add_argument("--first", type=int, default=0, help="the number of the first mutation")
    for name in JUDGED:
        judged = trials.add_parser(name, help=f"random {name} against every possible world")
        judged.add_argument("--seed", type=int, default=1)
        judged.add_argument("--seconds", type=float, default=60)
        judged.add_argument("--count", type=int, help=f"{name}, at most")
        judged.add_argument("--first", type=int, default=0, help="the number of the first try")
        judged.add_argument("--record", type=Path, help="a JSON file that is told of the run")
    everything = trials.add_parser("all", help="groups, tables, people, readers, kills, in turn")
    everything.add_argument("--seed", type=int, default=1)
    everything.add_argument("--seconds", type=float, default=60, help="of each but the kills")
    asked = parser.parse_args(arguments)
    if asked.trial == "all":
        more = ["--seed", str(asked.seed)]
        for name in (*JUDGED, "readers"):
            main([name, *more, "--seconds", str(asked.seconds)])
        main(["kills", *more, "--count", "100"])
        return
    began = time.monotonic()
    if asked.trial == "kills":
        with tempfile.TemporaryDirectory() as folder:
            _kills(Path(folder), asked.seed, asked.count)
    elif asked.trial == "readers":
        _readers(asked)
    else:
        _judged(asked)
    print(f"{time.monotonic() - began:.0f} seconds.")


def _judged(asked: argparse.Namespace) -> None:
    from fuzzing.trial import fuzz

    run = fuzz(asked.trial, asked.seed, asked.seconds, asked.count, asked.first)
    print(f"{run.count:,} {run.what}: {run.failed} of {run.tries:,} tries failed.", flush=True)
    if asked.record is not None:
        run.record(asked.record)
    if run.failed:
        sys.exit(1)


def _readers(asked: argparse.Namespace) -> None:
    from fuzzing.readers import fuzz_readers

    outcomes = fuzz_readers(
        asked.seed, seconds=asked.seconds, count=asked.count, only=asked.only, first=asked.first
    )
    print(f"{outcomes.total()} damaged files: {outcomes['read']} read.")
    for outcome, times in outcomes.most_common():
        print(f"  {times} {outcome}")
    if any(outcome.startswith("FAILED") for outcome in outcomes):
        sys.exit(1)


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


if __name__ == "__main__":
    main(sys.argv[1:])
