"""What README.txt's scripts in other languages need to know of a release's files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from shoal.data.sources.guard import guarded_text
from shoal.data.table.frames import free_name
from shoal.release.labelled import Labelled
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
    cases: list[Cell]
    """Protected values, as the file shows them."""
    all_cases: bool
    """Whether every value is protected."""
    weight: str | None
    """The column with everybody's weight, if people of a group have different ones."""
    asked: list[Cell]

    @classmethod
    def of(cls, release: Release, format: str = "csv") -> Script:
        spec, shown = release.spec, _shown(release, format)
        columns = list(spec.sensitive_columns)
        weighed = release.weight is not None and release.form == "bucketized"
        return cls(
            people=_numeric(release.qi_runs.distinct.schema),
            held=_numeric(release.sensitive_runs.distinct.schema),
            attributes=list(spec.qi),
            values=columns[:1] if spec.publish_apart else columns,
            apart=spec.publish_apart,
            cases=[
                cell
                for event in (spec.protect or () if len(columns) == 1 else ())
                for text in dict.fromkeys((event.label, *event.values))
                if (cell := shown(columns[0], text)) is not None
            ],
            all_cases=spec.protect is None and weighed,
            weight=release.weight if weighed else None,
            asked=_asked(release, shown, format),
        )

    def own(self, form: str) -> dict[str, str]:
        """Names for what is made, which no column has."""
        taken = {*self.people, *self.held}
        return {name: free_name(form.format(name), taken) for name in OWN}


def _numeric(schema: Mapping[str, pl.DataType]) -> dict[str, bool]:
    return {name: kind.is_numeric() for name, kind in schema.items()}


def _shown(release: Release, format: str) -> Callable[[str, str], Cell | None]:
    """How files of a format show a text of a column: as it is, or as a number, if it has one."""
    if format == "csv":
        return lambda column, text: Cell(column, guarded_text(text), False)
    labelled = Labelled(release)
    codes = labelled.codes("qi") | labelled.codes("sensitive")

    def told(column: str, text: str) -> Cell | None:
        found = codes[column]
        if not found:
            return Cell(column, text, False)
        return Cell(column, str(found[text]), True) if text in found else None

    return told


def _asked(release: Release, shown: Callable[[str, str], Cell | None], format: str) -> list[Cell]:
    """That of README.txt's first query; in ranges, of the value alone."""
    sensitive, value, column = example(release)
    asked = [shown(sensitive, value)]
    if column is not None and release.form != "generalized":
        if column.values.dtype == pl.String:
            asked.insert(0, shown(column.name, column.labels[0]))
        elif format == "csv" or not column.values.dtype.is_temporal():
            (cell,) = column.values.to_frame().write_csv(include_header=False).splitlines()
            asked.insert(0, Cell(column.name, cell, column.values.dtype.is_numeric()))
    return [cell for cell in asked if cell is not None]
