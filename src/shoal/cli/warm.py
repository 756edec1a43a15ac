"""`shoal warm`: what commands compile is compiled before anybody waits for it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from shoal.data.spec import Spec

ROWS, SUPPORT = 3_000, 20
MAIN, PLAIN = "art", "anatomy"
"""The method that searches most, and one that does not search: what judges is left to compile."""


def warm(judge: bool = False) -> None:
    """Compile once what all commands use, as for an image of a container.

    Args:
        judge: Compile only what judges, and what ends a search.
    """
    import tempfile
    import time

    from shoal.compiling import clock

    with tempfile.TemporaryDirectory() as scratch:
        for name, work in steps(Path(scratch), judge=judge).items():
            began = time.monotonic()
            with clock() as others:
                work()
            typer.echo(f"{name}: {time.monotonic() - began - others():.1f} s of compiling")


@contextmanager
def helped() -> Iterator[None]:
    """Where something has to be compiled, another process compiles what is needed later, while this
    one goes on."""
    import subprocess

    from shoal.compiling import telling

    helpers: list[subprocess.Popen[bytes]] = []

    def start() -> None:
        if (os.cpu_count() or 1) > 1:
            command, none = [sys.executable, "-m", "shoal", "warm", "--judge"], subprocess.DEVNULL
            helpers.append(subprocess.Popen(command, stdin=none, stdout=none, stderr=none))

    with telling(start):
        try:
            yield
        finally:
            for helper in helpers:
                helper.terminate()
                helper.wait()


def hospital_spec(**more: Any) -> Spec:
    """What the demonstration asks of a hospital's table."""
    from shoal.data import datasets
    from shoal.data.spec import Event, Spec

    return Spec(
        qi=datasets.HOSPITAL_QI,
        sensitive=datasets.HOSPITAL_SENSITIVE,
        protect=(Event(datasets.HOSPITAL_EVENT),),
        identifiers=("patient",),
        r=5,
        **more,
    )


def steps(scratch: Path, *, judge: bool = False) -> dict[str, Callable[[], None]]:
    """What is run on a small table, by name."""
    import numpy as np

    from shoal.api.anonymize import anonymize
    from shoal.api.attack import attack
    from shoal.auditing.adversaries.adversary import BOTH
    from shoal.auditing.audit import audit
    from shoal.data import datasets
    from shoal.data.table import Table
    from shoal.errors import InputError
    from shoal.knowledge import Knowledge, as_readers
    from shoal.methods.art.asked import Asked
    from shoal.methods.art.assembly import Assembly
    from shoal.methods.art.everybody import gather_everybody
    from shoal.methods.art.seeds import Seeds
    from shoal.methods.registry import make_method, method_names
    from shoal.release.facts import release_facts
    from shoal.release.verification.verify import verify

    frame = datasets.hospital(ROWS, 0)
    spec = hospital_spec(min_support=SUPPORT)
    table = Table.from_frame(frame, spec)

    def release(method: str) -> Callable[[], None]:
        def run() -> None:
            made, folder = anonymize(table, spec, method=method, seed=0), scratch / method
            made.save(folder, facts=release_facts(made, table))
            verify(folder, table=frame)
            if not judge:
                attack(made, table=table)

        return run

    def alone(method: str) -> Callable[[], None]:
        def run() -> None:
            try:
                groups = make_method(method, {}).anonymize(table, seed=0)
            except InputError:  # a small table may be refused: what it took to see that is compiled
                return
            for adversary in ("binary", "joint"):
                audit(table, groups, adversary=adversary)

        return run

    def end() -> None:
        """What a search takes from when cells are cut, but for what fills them."""
        asked = Asked.of(table, Knowledge.of(table), as_readers(BOTH))
        groups, two = Assembly.of(asked), np.ones(2, np.int64)
        share, random = np.ones(2), np.random.default_rng(0)
        Seeds.dealt(two - 1, np.arange(2), 2 * two, two, two, share, random)
        filler = np.flatnonzero(groups.cells.event < 0)[:2]
        groups.take(np.append(np.flatnonzero(groups.cells.event >= 0)[:1], filler), "pure")
        for values, which in groups.by_values().items():
            groups.are_safe(which, *values, asked)
        gather_everybody(table, groups.grouping(), 2, 3, strict=False)
        groups.grouping(asked)

    if judge:
        return {"end of a search": end, PLAIN: release(PLAIN)}
    others = {name: alone(name) for name in method_names() if name != MAIN}
    return {MAIN: release(MAIN), **others}
