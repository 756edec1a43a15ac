"""Release: what is published of a table, and the proof that goes with it.

Two tables and nothing that links a person in the one to a value in the other but the group:
the QI table (gid and QI values, one line per published row) and the sensitive table (gid, value,
count). What the QI values look like is the form's: in the generalized form they are ranges, and a
third table says what each covers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from shoal.arrays import Floats, IntArray
from shoal.auditing.check_words import in_short
from shoal.auditing.checks import verdict
from shoal.auditing.findings import Judged
from shoal.auditing.verdict import Audit
from shoal.data.spec import Spec
from shoal.data.table import Table, code_column, factorize
from shoal.data.table.frames import like
from shoal.display import at_r, card, counted
from shoal.engines import Dealt, Distant, Engine, Runs
from shoal.errors import InputError
from shoal.groups import FormName, Grouping
from shoal.groups.lookup import Lookup
from shoal.release.forms import form_named
from shoal.release.ledger import Ledger
from shoal.release.people import People
from shoal.release.weights import weight_column
from shoal.wording import limit_named, verdict_words, visible

if TYPE_CHECKING:
    from shoal.release.facts import Facts
    from shoal.release.utility.errors import Estimate
    from shoal.release.utility.published import Published


# What making a release leaves behind that is no part of it: for the publisher alone.


@dataclass(frozen=True, eq=False)
class ReleaseRun:
    """How a release was made."""

    table: Table
    """What it was made of."""
    grouping: Grouping
    """How many people of each cell are in which group."""
    audit: Audit
    """The audit behind the certificate."""
    seed: int
    """Where everything random came from."""
    engine: Engine
    """Who counted the table, and writes the release."""
    dealt: Dealt | None = None
    """Which rows are in which group, where rows are at hand."""
    models: dict[str, bytes] = field(default_factory=dict)
    """What models say of everybody, as files by name."""
    seconds: dict[str, float] = field(default_factory=dict)
    """How long each stage took: never saved, so that the same input gives the same bytes."""
    ledger: Ledger | None = None
    """The chain that the release belongs to, if one is kept."""
    people: People | None = None
    """Who they are, where rows are at hand."""

    @property
    def row_groups(self) -> IntArray | None:
        """The gid of every input row, -1 if suppressed."""
        if self.dealt is None:
            return None
        return np.where(self.dealt.group >= 0, self.dealt.group + 1, -1).astype(np.int32)

    @property
    def row_weights(self) -> Floats | None:
        """The weight of every input row, if anybody has one."""
        return None if self.dealt is None else self.dealt.weight


@dataclass(frozen=True, eq=False)
class Release:
    """A release in memory. Make one with `shoal.anonymize`, or load a saved one."""

    spec: Spec
    form: FormName
    qi_held: pl.DataFrame | Runs
    """gid and QI values, one line per published row, in canonical order; texts are Enums."""
    sensitive_held: pl.DataFrame | Runs
    """gid, value, count."""
    members: pl.DataFrame
    """event, value, count: table-wide totals of the values behind each set event's label."""
    ranges: pl.DataFrame | None
    """attribute, label, value: what each range covers; None in a form without ranges."""
    certificate: dict[str, Any]
    run: ReleaseRun | None = field(default=None, repr=False)
    """How it was made, for the publisher; None if it was loaded."""
    written: dict[str, Runs] = field(default_factory=dict, repr=False)
    """Of a loaded release, its large tables as their cells are written."""
    loaded_from: str | None = None
    """The format of the folder that it was loaded from: csv or parquet."""
    parted: Mapping[str, Sequence[str]] = field(default_factory=dict, repr=False)
    """Of tables that are folders of parts there, the parts in order."""

    @property
    def made(self) -> ReleaseRun:
        """How it was made, or an InputError if it was loaded."""
        if self.run is None:
            raise InputError(
                "release-loaded",
                "This release was loaded, and how it was made is not in its folder.",
                "Use the release as it was made, or its private folder.",
            )
        return self.run

    @property
    def audit(self) -> Audit | None:
        """The audit behind the certificate; None if it was loaded."""
        return None if self.run is None else self.run.audit

    @property
    def row_groups(self) -> IntArray | None:
        """The gid of every input row, -1 if suppressed; None if that is not known here."""
        return None if self.run is None else self.run.row_groups

    @property
    def ledger(self) -> Ledger | None:
        """The chain that it belongs to, if one is kept; None if it was loaded."""
        return None if self.run is None else self.run.ledger

    def __repr__(self) -> str:
        lines = (": ".join(line) for line in self._figures())
        return "\n  ".join([self._title(), *lines])

    def _repr_html_(self) -> str:
        drawing = "" if self.audit is None else self.audit.histogram()
        return card(self._title(), self._figures(), drawing=drawing)

    def _title(self) -> str:
        if not self.certificate:
            return f"Release, {self.form}: not judged"
        name = self.certificate["method"]["name"]
        limits = at_r(event["r"] for event in self.certificate["events"])
        limits += limit_named(self.certificate["limit"])
        return f"Release by {visible(name)}, {self.form}: {verdict_words(self.robust)} {limits}"

    def _figures(self) -> list[tuple[str, str]]:
        """What it says, as names and figures."""
        columns = ", ".join(visible(name) for name in (*self.spec.qi, *self.spec.sensitive_columns))
        figures = [("columns", columns)]
        if self.certificate:
            rows, groups = self.certificate["rows"], self.certificate["groups"]
            figures += [
                (
                    "published",
                    f"{rows['published']:,} of {counted(rows['table'], 'row')} in "
                    f"{counted(groups['count'], 'group')}, {groups['with_event']:,} with an event",
                ),
                ("checks", in_short(self.judged.checks)),
                (
                    "lost",
                    f"{counted(rows['suppressed'], 'row')} suppressed, "
                    f"{counted(rows['values_changed'], 'value')} changed, "
                    f"{counted(groups['pooled'], 'group')} pooled",
                ),
            ]
        return figures

    @property
    def frames(self) -> dict[str, pl.DataFrame]:
        """All tables of its form, by name."""
        return {"qi": self.qi, "sensitive": self.sensitive, **self.small_frames}

    @property
    def parts(self) -> dict[str, pl.DataFrame]:
        """The tables with every line but once, which says as much of columns, types and values."""
        large = {name: runs.distinct for name, runs in self.large.items()}
        return {**large, **self.small_frames}

    @property
    def large(self) -> dict[str, Runs]:
        """The two tables that grow with the people published, as counts."""
        return {"qi": self.qi_runs, "sensitive": self.sensitive_runs}

    @property
    def small_frames(self) -> dict[str, pl.DataFrame]:
        """Those that do not grow with the people published."""
        frames = {"members": self.members}
        for name in form_named(self.form).more_tables:
            frame = getattr(self, name)
            if frame is None:
                raise InputError(
                    "release-ranges",
                    f"The release is {self.form} and has no table of {name}.",
                    "`shoal verify` says what is wrong with a release.",
                )
            frames[name] = frame
        return frames

    def alone(self, column: str) -> Release:
        """What it says of one of several sensitive columns."""
        if len(self.spec.sensitive_columns) == 1:
            return self
        front = f"{column}: "
        mine = self.members.filter(pl.col("event").str.starts_with(front))
        return replace(
            self,
            spec=self.spec.alone(column),
            sensitive_held=self.sensitive_runs.added_up(column, "count"),
            members=mine.with_columns(pl.col("event").str.strip_prefix(front)),
            run=None,
        )

    @cached_property
    def qi(self) -> pl.DataFrame:
        """The QI table, every line of it: gid and QI values."""
        return self._written_out(self.qi_held)

    @cached_property
    def sensitive(self) -> pl.DataFrame:
        """The sensitive table, every line of it: gid, value, count."""
        return self._written_out(self.sensitive_held)

    def _written_out(self, held: pl.DataFrame | Runs) -> pl.DataFrame:
        frame = held.frame() if isinstance(held, Runs) else held
        return frame if self.loaded_from is None else _with_texts(frame)

    @cached_property
    def qi_runs(self) -> Runs:
        """The QI table as counts."""
        return self.qi_held if isinstance(self.qi_held, Runs) else Runs.of(self.qi_held)

    @cached_property
    def sensitive_runs(self) -> Runs:
        """The sensitive table as counts."""
        held = self.sensitive_held
        return held if isinstance(held, Runs) else Runs.of(held)

    @property
    def qi_table(self) -> Any:
        """The QI table as the kind of frame that the caller gave."""
        if self.run is not None and isinstance(self.run.engine, Distant):
            return self.run.engine.frame(self.qi_runs)
        return self._for_caller(self.qi)

    @property
    def sensitive_table(self) -> Any:
        """The sensitive table as the kind of frame that the caller gave."""
        if self.run is not None and isinstance(self.run.engine, Distant):
            return self.run.engine.frame(self.sensitive_runs)
        return self._for_caller(self.sensitive)

    def _for_caller(self, frame: pl.DataFrame) -> Any:
        return like(_with_texts(frame), None if self.run is None else self.run.table.native)

    @cached_property
    def robust(self) -> bool | None:
        """The auditor's verdict, as the certificate states it."""
        return verdict(self.judged.checks)

    @cached_property
    def judged(self) -> Judged:
        """How it was judged, as the certificate states it."""
        return Judged.of(self.certificate["audit"])

    @cached_property
    def coded(self) -> Published:
        """The published tables as integers, made when the first count is asked for."""
        from shoal.release.utility.published import Published

        return Published.of(self)

    @cached_property
    def coded_alone(self) -> dict[str, Published]:
        """The published tables as integers, for each of several sensitive columns."""
        return {name: self.alone(name).coded for name in self.spec.sensitive_columns}

    @property
    def pooled_people(self) -> int:
        """How many people's values are published as the pooled one."""
        from shoal.release.codes import pooled_line

        by = self.sensitive_runs.totals(pooled_line(self.spec).alias("pooled"), "count")
        return int(by.filter("pooled")["count"].sum())

    @property
    def lookup(self) -> Lookup:
        """How many people have a published combination of QI values that few share, counted from
        the published table."""
        lines = self.qi_runs.lines
        columns = [code_column(lines[name].cast(pl.String)) for name in self.spec.qi]
        line, keys = factorize([codes for _, codes in columns], [len(one) for one, _ in columns])
        people = self.qi_runs.weight
        sharing = np.bincount(line, people, len(keys)).astype(np.int64)[line]
        return Lookup.of(sharing, people, self.spec.k)

    @cached_property
    def weight(self) -> str | None:
        """The column of the QI table with everybody's weight, if it has one."""
        name = weight_column(self.spec)
        return name if name in self.qi_held.columns else None

    def count(self, where: Mapping[str, Any] | None = None, *, weighted: bool = False) -> Estimate:
        """How many people match, estimated from the published tables alone: a number, with its
        `standard_error` and 95 % `interval`.

        `where` gives for an attribute one value, a list of values, a pair of numbers or dates
        `(low, high)`, both included, a `range` of whole numbers, or
        `shoal.utility.Between(low, high)`; without it, everybody counts. Values are named by label
        or by code.

        A group's cases (people with a protected event) are shared among its people by the QI
        table's column of weights, or equally where there is none. With `weighted` the people of the
        population are counted for whom they stand by their survey weights, where these are
        published. The standard error says what the release leaves open, not what the sample does.
        """
        from shoal.release.utility.count import count

        return count(self, where, weighted=weighted)

    def table(self) -> Any:
        """People's attributes with each value that they may have, and a weight: how many people are
        expected to have it. For anything that takes weights, such as a regression.

        A group's values are shared among its people as in `count`.
        "(other)" and the labels of events stay what they are.
        """
        from shoal.release.utility.weighted import weighted

        return self._for_caller(weighted(self))

    def draw(self, times: int = 5, *, seed: int | None = None) -> list[Any]:
        """So many plausible tables: everybody's attributes, each with one of their group's values,
        dealt by the chances that `count` goes by.

        A line is the same person in all of them. Estimate from each, and combine what is found by
        Rubin's rules: how the estimates differ says how far the release leaves them open.
        "(other)" and the labels of events stay what they are.
        """
        from shoal.release.utility.weighted import draws

        if times < 1:
            raise InputError("draw", f"{times} tables cannot be drawn.", "Draw one or more.")
        drawn = draws(self, np.random.default_rng(seed))
        return [self._for_caller(next(drawn)) for _ in range(times)]

    def to_pandas(self) -> dict[str, Any]:
        """All published tables as pandas frames, by name: qi, sensitive, members and so on."""
        from shoal.release.utility.weighted import as_pandas

        return {name: as_pandas(_with_texts(frame)) for name, frame in self.frames.items()}

    def save(
        self,
        path: str | Path,
        *,
        format: str = "csv",
        force: bool = False,
        private: str | Path | None = None,
        record: Literal["rows", "cells"] | None = None,
        facts: Facts | None = None,
        alone: bool = False,
    ) -> None:
        """Writes the release folder, and what must stay inside to the `private` folder: by `record`
        the group of every row, or how many people of each cell are in which group. By rows where
        they can be read, unless it is said. The `format` of the tables is csv, parquet, sav (for
        SPSS) or dta (for Stata).

        Among the latter are the `facts` that `shoal report` renders; without them they are
        gathered here, before anything is written.

        Beside a release of the same people nothing is written but one that follows it (`after`), or
        that is to be published `alone`.
        """
        from shoal.release.folder import save

        save(
            self,
            Path(path),
            format=format,
            force=force,
            private=private,
            record=record,
            facts=facts,
            alone=alone,
        )

    @classmethod
    def load(cls, path: str | Path) -> Release:
        """Reads a release folder; `shoal.verify` says whether it is what it claims to be."""
        from shoal.release.folder import load

        return load(Path(path))


def _with_texts(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.col(pl.Enum).cast(pl.String))
