"""Seconds of each stage on one table, from the file to the verified release."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.clock import best, timed
from benchmarks.settings import METHODS, Subject
from shoal.api.anonymize import anonymize
from shoal.auditing.audit import audit
from shoal.cli.warm import steps
from shoal.data.sources import read_table
from shoal.data.table import Table
from shoal.errors import InputError
from shoal.groups import Grouping
from shoal.knowledge import Knowledge
from shoal.methods.art import Art
from shoal.planning.comparison.trial import equip
from shoal.release.verification.verify import verify

Say = Callable[[str], None]


def measure_stages(subject: Subject, say: Say) -> list[dict[str, Any]]:
    """One line per stage: seconds once compiled, and what compiling it took (0 if shared)."""
    lines: list[dict[str, Any]] = []

    def note(stage: str, seconds: float, **more: Any) -> None:
        line = {
            "table": subject.name,
            "rows": subject.frame.height,
            "stage": stage,
            "seconds": round(seconds, 4),
            **more,
        }
        lines.append(line)
        say(f"  {stage:<34}{seconds:9.3f} s {more.get('note', '')}")

    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        csv, parquet = folder / "table.csv", folder / "table.parquet"
        subject.frame.write_csv(csv)
        subject.frame.write_parquet(parquet)
        note("read (CSV)", best(lambda: read_table(csv))[1])
        frame, seconds = best(lambda: read_table(parquet))
        note("read (Parquet)", seconds)
        table, seconds = best(lambda: Table.from_frame(frame, subject.spec))
        note("table", seconds, signatures=len(table.signatures))
        knowledge, seconds = best(lambda: Knowledge.of(table))
        note("knowledge", seconds, views=len(knowledge.views))
        _methods(subject, table, knowledge, note)
        release, seconds = timed(lambda: anonymize(table, subject.spec))
        note("anonymize (knowledge to tables)", seconds)
        note("save (Parquet)", timed(lambda: release.save(folder / "out", format="parquet"))[1])
        checked, seconds = timed(lambda: verify(folder / "out", table=frame))
        note("verify with the table", seconds, confirmed=checked.confirmed)
    return lines


def _methods(
    subject: Subject, table: Table, knowledge: Knowledge, note: Callable[..., None]
) -> None:
    """Each method, and both audits of what ART and Anatomy made."""
    for support in (100, 300) if subject.name == "Adult" else (100,):
        other = Table.from_frame(subject.frame, subject.spec.with_(min_support=support))
        _, seconds = best(lambda: Art(max_suppression=1).anonymize(other))  # noqa: B023
        note(f"ART search, min_support {support}", seconds)
    for name in METHODS:
        if name != "art":
            try:
                method = equip(name, {}, subject.hierarchies)
                grouping, seconds = best(lambda: method.anonymize(table, seed=0))  # noqa: B023
            except InputError as error:
                note(name, 0.0, failed=str(error), note=f"no release: {error}")
                continue
            note(name, seconds)
        if name == "anatomy":
            _audits("Anatomy's groups", table, grouping, knowledge, note)
    grouping = Art(max_suppression=1, knowledge=knowledge).anonymize(table)
    _audits("ART's groups", table, grouping, knowledge, note)


def _audits(
    what: str, table: Table, grouping: Grouping, knowledge: Knowledge, note: Callable[..., None]
) -> None:
    for adversary in ("binary", "joint"):
        _, seconds = best(
            lambda: audit(table, grouping, knowledge=knowledge, adversary=adversary)  # noqa: B023
        )
        note(f"{adversary} audit of {what}", seconds)


def warm_up(say: Say) -> list[dict[str, Any]]:
    """What `shoal warm` does, and its seconds: compiles every kernel that the rest uses."""
    lines = []
    with tempfile.TemporaryDirectory() as scratch:
        for name, work in steps(Path(scratch)).items():
            _, seconds = timed(work)
            lines.append({"stage": name, "seconds": round(seconds, 3)})
            say(f"  compiling: {name:<23}{seconds:9.2f} s")
    return lines
