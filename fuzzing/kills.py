"""Kills runs while they replace a release and its private folder, and reads what is left.

What a reader finds has to be the old pair or the new pair, byte for byte; where there was no old
one, nothing or the new pair. Both are of one chain, the new one after the old one, with the ledger
that each has. Runs are children of one warm process that itself starts no threads.
"""

from __future__ import annotations

import os
import pickle
import random
import shutil
import signal
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from shoal.data.storage import Place, recover_folder, replace_folders, swap
from shoal.data.storage.moves import _digest as digest_of
from shoal.errors import InputError
from shoal.release.stated import read_certificate

STEPS = ("rename", "replace", "unlink", "rmdir", "mkdir", "fsync")
"""What is counted of `os`, beside the exchange of two names."""
NAMES = ("one", "other")


@dataclass
class Trials:
    """A folder in which pairs are made, replaced, and looked at."""

    folder: Path
    kills: int = 0
    found: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _child(partial(_prepare, self.folder))
        self.pairs = {self._digests(self.folder / name): name for name in NAMES}

    def place(self, old: str | None) -> tuple[Path, Path]:
        """A release and a private folder as an earlier run left them, in folders of their own."""
        here = self.folder / "here"
        shutil.rmtree(here, ignore_errors=True)
        (here / "inside").mkdir(parents=True)
        release, private = here / "release", here / "inside" / "private"
        if old is not None:
            shutil.copytree(self.folder / old / "release", release)
            shutil.copytree(self.folder / old / "private", private)
        return release, private

    def judge(self, old: str | None, new: str, release: Path, private: Path) -> None:
        """Reads the pair as everybody does, and counts what was found."""
        self.kills += 1
        with suppress(InputError):  # nothing is there
            read_certificate(release)
        here = self._digests(release.parent, private)
        seen = self.pairs.get(here) or (None if here == ("", "") else "neither")
        assert seen in (old, new), f"after kill {self.kills}: {seen}, not {old} or {new}"
        kind = "new pair" if seen == new else "old pair" if old else "nothing"
        self.found[kind] = self.found.get(kind, 0) + 1

    def read_whole(self, release: Path, private: Path) -> None:
        """Loads and verifies what is there."""
        if release.exists():
            _child(partial(_verify, release, private))

    def tidy_after(self, release: Path, private: Path) -> None:
        """The next run clears up what killed ones left."""
        _child(partial(_copy, self.folder / "one", release, private))
        left = sorted(entry.name for at in (release, private) for entry in at.parent.iterdir())
        assert left == ["inside", "private", "release"], left

    def _digests(self, folder: Path, private: Path | None = None) -> tuple[str, str]:
        both = folder / "release", private or folder / "private"
        return tuple(digest_of(one) if one.exists() else "" for one in both)  # type: ignore[return-value]


def at_every_step(trials: Trials, *, exchanges: bool = True) -> int:
    """Kills before each step of a replacement, over an old pair and over nothing, where names can
    be exchanged or not; returns how often. What is written are copies, which takes seconds."""
    total = 0
    for old in ("one", None) if exchanges else ("one",):
        steps = 0
        while True:
            release, private = trials.place(old)
            work = partial(_copy, trials.folder / "other", release, private)
            killed = _killed_at(steps, work, exchanges=exchanges)
            if not killed:
                break
            trials.judge(old, "other", release, private)
            steps += 1
        total += steps
    trials.read_whole(release, private)
    release, private = trials.place("one")
    _killed_at(steps // 2, partial(_copy, trials.folder / "other", release, private))
    trials.tidy_after(release, private)
    return total


def at_random(trials: Trials, count: int, seed: int) -> None:
    """Kills real runs of `Release.save`, at moments drawn by time and by steps in turn, and every
    second time the reader who mends too."""
    chance = random.Random(seed)
    life, steps, number = 0.3, 50.0, 0
    while number < count:
        old, new = chance.choice([("one", "other"), ("other", "one"), (None, "one")])
        release, private = trials.place(old)
        kept = pickle.loads((trials.folder / new / "kept").read_bytes())
        work = partial(_save, kept, release, private)
        # How long a run lives is learned on the way: about every sixth gets away.
        if number % 2:
            killed = _killed_after(chance.random() * life, work)
            life *= 1.02 if killed else 0.9
        else:
            killed = _killed_at(int(chance.random() * steps), work)
            steps *= 1.02 if killed else 0.9
        if not killed:
            continue
        number += 1
        if chance.random() < 0.5:
            _killed_at(chance.randrange(8), partial(recover_folder, release))
        trials.judge(old, new, release, private)
        if number % 20 == 0:
            trials.read_whole(release, private)
            trials.tidy_after(release, private)


def _prepare(folder: Path) -> None:
    """Two releases of a chain, each with its private folder and all that saving it takes."""
    import shoal
    from shoal.release.facts import release_facts

    table = shoal.datasets.hospital(600, seed=0)
    spec = shoal.Spec(
        qi=["sex", "region"], sensitive="diagnosis", protect=[["HIV", "Schizophrenia"]], r=3
    )
    begin = {"ledger": True, "key": "patient"}
    for name, people, chain in (
        (NAMES[0], table.head(400), begin),
        (NAMES[1], table, {"after": folder / NAMES[0] / "private"}),
    ):
        made = shoal.anonymize(people, spec, seed=0, **chain)
        facts = release_facts(made, made.made.table)
        (folder / name).mkdir()
        made.save(folder / name / "release", private=folder / name / "private", facts=facts)
        (folder / name / "kept").write_bytes(pickle.dumps((made, facts)))


def _save(kept: Any, release: Path, private: Path) -> None:
    made, facts = kept
    made.save(release, private=private, facts=facts, force=True)


def _copy(source: Path, release: Path, private: Path) -> None:
    places = [Place(release, "certificate.json"), Place(private, "row_groups.parquet")]
    with replace_folders(places, force=True) as news:
        for new, name in zip(news, ("release", "private"), strict=True):
            shutil.copytree(source / name, new, dirs_exist_ok=True)


def _verify(release: Path, private: Path) -> None:
    import shoal
    from shoal.release.ledger import LEDGER, read_ledger

    shoal.Release.load(release)
    assert shoal.verify(release, private / LEDGER, private=private).confirmed
    read_ledger(private)


def _killed_after(seconds: float, work: Callable[[], None]) -> bool:
    """Whether the work took so long as to be killed then."""
    child = _fork(work)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1] == signal.SIGKILL


def _killed_at(step: int, work: Callable[[], None], *, exchanges: bool = True) -> bool:
    """Whether the work came so far as to be killed before that step."""

    def counted() -> None:
        left = step

        def watched(function: Callable[..., Any]) -> Callable[..., Any]:
            def call(*given: Any, **named: Any) -> Any:
                nonlocal left
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                left -= 1
                return function(*given, **named)

            return call

        os.fsync = lambda handle: None  # a kill, other than a power cut, loses nothing written
        for name in STEPS:
            setattr(os, name, watched(getattr(os, name)))
        if exchanges:
            swap.exchange = watched(swap.exchange)
        else:
            swap.exchange = lambda one, other: False
        work()

    status = os.waitpid(_fork(counted), 0)[1]
    assert status in (0, signal.SIGKILL), status
    return status == signal.SIGKILL


def _child(work: Callable[[], None]) -> None:
    assert os.waitpid(_fork(work), 0)[1] == 0


def _fork(work: Callable[[], None]) -> int:
    """A child that does the work and nothing else. Libraries that wait for work in threads of their
    own are not in use before."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child:
        return child
    code = 1
    try:
        work()
        code = 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(code)
