"""Reads damaged files: each gives one sentence or an answer; never a traceback, abort or hang."""

from __future__ import annotations

import faulthandler
import random
import shutil
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

import shoal
from fuzzing.mutate import mutated
from fuzzing.samples import Sample, make_samples
from shoal.data.spec import InputWarning

SECONDS = 30
"""A file that takes longer to read counts as a hang."""
MEMORY = "500MB"
ADDRESSES = 6 * 10**9


def fuzz_readers(
    seed: int, *, seconds: float, count: int | None = None, only: str | None = None, first: int = 0
) -> Counter[str]:
    """Mutates files of every kind in turn, until the time or the count is up; how often what came
    of it. An abort or a hang ends this process, and leaves the file that did it."""
    _limit_addresses()
    faulthandler.enable()
    folder, outcomes = Path(tempfile.mkdtemp()).resolve(), Counter[str]()
    until, number = time.monotonic() + seconds, first
    samples = make_samples(folder)
    chosen = [name for name in samples if only in (None, name)]
    while time.monotonic() < until and (count is None or number < first + count):
        for name in chosen:
            outcome = _read(name, samples[name], random.Random(f"{seed} {name} {number}"))
            if outcome.startswith("FAILED") and outcome not in outcomes:
                print(f"{outcome}, by --seed {seed} --only {name} --first {number}", flush=True)
            outcomes[outcome] += 1
        number += 1
    shutil.rmtree(folder)
    return outcomes


def _read(name: str, sample: Sample, chance: random.Random) -> str:
    content = mutated(sample.content, name, chance)
    sample.place.write_bytes(content)
    faulthandler.dump_traceback_later(SECONDS, exit=True)
    try:
        with warnings.catch_warnings(), shoal.memory_limit(MEMORY):
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", InputWarning)
            sample.read()
        outcome = "read"
    except shoal.InputError as error:
        outcome = f"refused: {error.code}"
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        outcome = f"FAILED: {name}, {type(error).__name__} in {_raised(error)}"
    finally:
        faulthandler.cancel_dump_traceback_later()
    if sample.place.parent.exists():
        sample.place.write_bytes(sample.content)
    return outcome


def _raised(error: BaseException) -> str:
    """The last line of shoal's own on the way to an error."""
    own = [line for line in traceback.extract_tb(error.__traceback__) if "shoal" in line.filename]
    return f"{Path(own[-1].filename).name}:{own[-1].lineno}" if own else "another library"


def _limit_addresses() -> None:
    """So that a reader who asks for any amount of memory does not take the machine's."""
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, resource.RLIM_INFINITY))
