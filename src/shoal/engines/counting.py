"""Counting: the distinct combinations of some columns, and how many rows have each."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import polars as pl

from shoal.arrays import IntArray
from shoal.data.sources.formats import file_kind
from shoal.data.sources.read import read_table
from shoal.data.sources.streamed import Rows
from shoal.data.spec import Spec
from shoal.data.storage import replace_file
from shoal.data.table import Table
from shoal.data.table.frames import free_name, places_in
from shoal.data.table.persons import Persons
from shoal.errors import InputError
from shoal.groups.grouping import Progress, silent
from shoal.memory import allowed_memory, size_words

ROWS = "rows"
MERGED = 1 << 21
"""So many counted lines are gathered before equal ones are added up."""
MOST_PACKED = 2**62
"""So many combinations have a number each."""
PACKED = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.Categorical)
CELL_BYTES = 64
"""About what a cell takes in memory, column by column and with its codes."""


def count_name(columns: Sequence[str]) -> str:
    """A name for the column of counts that no other column has."""
    return free_name(ROWS, columns)


def columns_of(spec: Spec) -> list[str]:
    """The columns that a table is counted by: people of different survey weights are apart."""
    weight = [] if spec.weight is None else [spec.weight]
    return list(dict.fromkeys([*spec.qi, *spec.sensitive_columns, *weight]))


def count_rows(
    frames: Iterable[pl.DataFrame], columns: Sequence[str], *, progress: Progress = silent
) -> pl.DataFrame:
    """The distinct combinations of the columns, in the types of the frames, and their counts."""
    name, parts, lines, done = count_name(columns), list[pl.DataFrame](), 0, 0
    # Texts are numbers while they are counted, which takes a third of the memory.
    coded = pl.col(pl.String).cast(pl.Categorical)
    for frame in frames:
        part = frame.select(pl.col(columns)).with_columns(coded)
        parts.append(_grouped(part, columns, pl.len().cast(pl.Int64).alias(name)))
        done += frame.height
        progress("rows counted", done, 0)
        lines += parts[-1].height
        if lines > MERGED:
            parts = [_merged(parts, columns, name)]
            lines = parts[0].height
            refuse_cells(parts[0], columns)
    if not parts:
        raise InputError("table-empty", "The table has no rows.", "Give a table with people in it.")
    cells = _merged(parts, columns, name)
    refuse_cells(cells, columns)
    texts = [column for column, kind in frame.schema.items() if kind == pl.String]
    return cells.with_columns(pl.col(texts).cast(pl.String))


def _merged(parts: list[pl.DataFrame], columns: Sequence[str], name: str) -> pl.DataFrame:
    return _grouped(pl.concat(parts), columns, pl.col(name).sum())


def _grouped(frame: pl.DataFrame, columns: Sequence[str], count: pl.Expr) -> pl.DataFrame:
    """The distinct combinations of the columns, counted. As many columns as fit make up one
    number together, by which rows are grouped in a third of the time."""
    key, packed = _packed(frame, columns)
    if len(packed) < 2:
        return frame.group_by(columns).agg(count)
    name = free_name("key", frame.columns)
    others = [column for column in columns if column not in packed]
    grouped = frame.with_columns(key.alias(name)).group_by(name, *others)
    return grouped.agg(pl.col(packed).first(), count).drop(name).select(*columns, pl.last())


def _packed(frame: pl.DataFrame, columns: Sequence[str]) -> tuple[pl.Expr, list[str]]:
    """A number that differs where some of the columns do, and which these are: whole numbers and
    categories, as long as there are numbers left. Nought stands for a missing value."""
    key, size, packed = pl.lit(0, pl.Int64), 1, list[str]()
    for column in columns:
        if frame[column].dtype not in PACKED:
            continue
        held = frame[column].to_physical()
        low, high = cast(int | None, held.min()), cast(int | None, held.max())
        span = 1 if low is None or high is None else high - low + 2
        if size * span > MOST_PACKED:
            continue
        place = pl.col(column).to_physical().cast(pl.Int64) - low + 1
        key, size = key * span + place.fill_null(0), size * span
        packed.append(column)
    return key, packed


def refuse_cells(cells: pl.DataFrame, columns: Sequence[str]) -> None:
    """An InputError for more cells than may be held, with the columns to blame."""
    allowed = allowed_memory() // (CELL_BYTES * len(columns))
    if cells.height <= allowed:
        return
    distinct = {name: cells[name].n_unique() for name in columns}
    worst = sorted(distinct, key=distinct.__getitem__, reverse=True)[:3]
    named = ", ".join(f'"{name}" ({distinct[name]:,} values)' for name in worst)
    without = cells.n_unique(subset=[name for name in columns if name != worst[0]])
    raise InputError(
        "cells-many",
        f"The columns have more than {allowed:,} combinations of values, which is what "
        f"{size_words(allowed_memory())} of memory hold. Most values have {named}.",
        f'Recode these or leave them out: without "{worst[0]}" there were {without:,} of the '
        f"{cells.height:,} combinations so far.",
    )


@dataclass(frozen=True, eq=False)
class CountedTable:
    """A table as counts: its distinct combinations of values, and how many rows have each."""

    lines: pl.DataFrame
    """The combinations as the rows have them: of CSV, texts."""
    count: pl.Series
    rows: Rows | None = None
    """Where the rows can be read again, if they can."""
    persons: Persons | None = None
    """The people that they are, if somebody saw who is who."""
    rule: str | None = None
    """By which rule they were chosen, where cells come from a file."""

    @classmethod
    def of(
        cls,
        cells: pl.DataFrame,
        columns: Sequence[str],
        rows: Rows | None = None,
        persons: Persons | None = None,
    ) -> CountedTable:
        return cls(cells.select(columns), cells[count_name(columns)], rows, persons)

    @property
    def cells(self) -> pl.DataFrame:
        """With types, the same whoever counted, in an order that tells nothing."""
        typed = self._typed
        summed = (
            typed.with_columns(self.count)
            .group_by(typed.columns)
            .agg(pl.col(self.count.name).sum())
        )
        return summed.sort(typed.columns)

    def table(self, spec: Spec) -> Table:
        asked = spec.person is not None
        if asked and (self.persons is None or self.rule not in (None, spec.rows_per_person)):
            raise InputError(
                "cells-person",
                "These cells were counted without looking at whose rows are whose."
                if self.persons is None
                else f'These cells were counted with rows_per_person = "{self.rule}".',
                "Count them again with the same --person and --rows-per-person, or leave both out.",
            )
        table = Table.from_cells(self._typed.with_columns(self.count), spec, rows=self.count.name)
        source = None if self.rows is None else CountedRows(self.lines, self.rows)
        return replace(table, source=source, persons=self.persons if asked else None)

    @property
    def _typed(self) -> pl.DataFrame:
        return self.lines if self.rows is None else self.rows.finished(self.lines)


class CountedRows:
    """Where the rows of a counted table are: each has the values of one counted line."""

    def __init__(self, lines: pl.DataFrame, rows: Rows) -> None:
        self._lines, self._rows = lines, rows

    def coded(self, table: Table) -> Iterator[tuple[IntArray, IntArray]]:
        """The signature and the sensitive value of the rows, some after the other."""
        assert table.counted is not None
        for frame in self._rows.frames(self._lines.columns):
            found = places_in(self._lines, frame)
            if found.null_count():
                raise InputError(
                    "source-changed",
                    "The table has changed while it was being published.",
                    "Run it again, on a copy that nobody writes to.",
                )
            line = found.to_numpy()
            yield table.counted.signature[line], table.counted.member[line]


# Counted cells as a file: all that has to travel from where the rows are.
#
# A Parquet file with the QI columns, the sensitive ones and a count, which says of itself what it
# is. Cells are as private as the table: who is the only one of their kind is in them.

FORMAT = "shoal-cells/1"
NOTE = b"shoal"


def write_cells(counted: CountedTable, path: str | Path, spec: Spec) -> pl.DataFrame:
    """Writes the cells that a spec asks for, and gives them."""
    import pyarrow.parquet as pq

    if file_kind(Path(path)) != "parquet":
        raise InputError(
            "cells-kind",
            f'Cells are kept as Parquet, and "{path}" is no name for it.',
            "Name a .parquet file.",
        )
    cells = counted.cells
    told: dict[str, Any] = {"format": FORMAT, "count": counted.count.name}
    if counted.persons is not None:
        told["person"] = {"rule": spec.rows_per_person, **counted.persons.to_dict()}
    note = json.dumps(told)
    table = cells.to_arrow()
    with replace_file(path) as new:
        pq.write_table(table.replace_schema_metadata({NOTE: note}), new, compression="zstd")
    return cells


def cells_of(rows: Rows | None) -> CountedTable | None:
    """The cells that were opened as a table, or None if it is something else."""
    return read_cells(rows.files[0]) if rows is not None and len(rows.files) == 1 else None


def read_cells(source: str | Path) -> CountedTable | None:
    """The cells in a file, or None if it is something else."""
    path, told = Path(source), _noted(source)
    if told is None:
        return None
    frame, count = read_table(path), told.get("count")
    if count not in frame.columns:
        raise InputError(
            "cells-rows",
            f'The cells have no column "{count}" of whole numbers.',
            "Count the rows of each combination of values into one.",
        )
    lines, person = frame.drop(count), told.get("person")
    if person is None:
        return CountedTable(lines, frame[count])
    persons = Persons(person["rows"], person["people"])
    return CountedTable(lines, frame[count], persons=persons, rule=person["rule"])


def holds_cells(source: str | Path) -> bool:
    """Whether a file holds cells."""
    return _noted(source) is not None


def _noted(source: str | Path) -> dict[str, Any] | None:
    """What a file of cells says of itself; None for anything else."""
    path = Path(source)
    if "://" in str(source) or file_kind(path) != "parquet" or not path.is_file():
        return None
    import pyarrow.parquet as pq
    from pyarrow import ArrowException

    try:
        note = (pq.read_schema(path).metadata or {}).get(NOTE)
        told = None if note is None else json.loads(note)
    except (ArrowException, OSError, ValueError):
        return None  # whatever it is, reading it says what is wrong with it
    return told if isinstance(told, dict) and told.get("format") == FORMAT else None
