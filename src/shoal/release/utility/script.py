"""What README.txt's scripts in other languages need to know of a release's CSV files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from shoal.data.sources.guard import guarded_text
from shoal.data.table.frames import free_name
from shoal.release.utility.sql import example

if TYPE_CHECKING:
    from shoal.release import Release

OWN = ("case", "size", "number", "count", "chance", "weight", "total", "person")
"""Columns that a script makes."""


@dataclass(frozen=True)
class Cell:
    """A cell asked for in a first count."""

    column: str
    text: str
    numeric: bool


@dataclass(frozen=True)
class Script:
    """One release: its columns, which values are protected, and what is counted first."""

    people: dict[str, bool]
    held: dict[str, bool]
    """The columns of both files in order, and which hold numbers."""
    attributes: list[str]
    values: list[str]
    """Sensitive columns that a list can tell of together."""
    apart: bool
    """Whether there are others."""
    cases: list[str]
    """Protected values, as the file shows them."""
    all_cases: bool
    """Whether every value is protected."""
    weight: str | None
    """The column with everybody's weight, if people of a group have different ones."""
    asked: list[Cell]

    @classmethod
    def of(cls, release: Release) -> Script:
        spec = release.spec
        columns = list(spec.sensitive_columns)
        weighed = release.weight is not None and release.form == "bucketized"
        return cls(
            people=_numeric(release.qi_runs.distinct.schema),
            held=_numeric(release.sensitive_runs.distinct.schema),
            attributes=list(spec.qi),
            values=columns[:1] if spec.publish_apart else columns,
            apart=spec.publish_apart,
            cases=[
                guarded_text(text)
                for event in (spec.protect or () if len(columns) == 1 else ())
                for text in dict.fromkeys((event.label, *event.values))
            ],
            all_cases=spec.protect is None and weighed,
            weight=release.weight if weighed else None,
            asked=_asked(release),
        )

    def own(self, form: str) -> dict[str, str]:
        """Names for what is made, which no column has."""
        taken = {*self.people, *self.held}
        return {name: free_name(form.format(name), taken) for name in OWN}


def _numeric(schema: Mapping[str, pl.DataType]) -> dict[str, bool]:
    return {name: kind.is_numeric() for name, kind in schema.items()}


def _asked(release: Release) -> list[Cell]:
    """That of README.txt's first query; in ranges, of the value alone."""
    sensitive, value, column = example(release)
    asked = [Cell(sensitive, guarded_text(value), False)]
    if column is None or release.form == "generalized":
        return asked
    if column.values.dtype == pl.String:
        return [Cell(column.name, guarded_text(column.labels[0]), False), *asked]
    (cell,) = column.values.to_frame().write_csv(include_header=False).splitlines()
    return [Cell(column.name, cell, column.values.dtype.is_numeric()), *asked]
