"""Tables held in memory while their source stays the same: read once, counted once per choice of
columns, and given up for another."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shoal.data.sources import read_codebook, read_table
from shoal.data.sources.brought import forget
from shoal.data.spec import Spec
from shoal.data.storage.location import source_path
from shoal.data.table import Table, code_column
from shoal.data.table.frames import to_polars
from shoal.data.table.persons import by_person, check_identifiers
from shoal.data.table.recoding import recoded
from shoal.data.table.table import check_roles, protected_rows
from shoal.engines.counting import columns_of, count_name, count_rows
from shoal.file_names import CERTIFICATE
from shoal.planning.propose import Proposal, propose_spec
from shoal.release import Release
from shoal.workbench.project import Source

# What a column holds, in figures: type, distinct values, missing, unique, and its shape.

BINS = 20
FEW = 20
"""A column with so many values or fewer is shown by value, not by range."""


@dataclass(frozen=True)
class Profile:
    """One column."""

    name: str
    kind: str
    """number, date, text or other."""
    rows: int
    distinct: int
    missing: int
    alone: int
    """Values that one row alone has."""
    counts: tuple[int, ...]
    """Rows by range of numbers, or by value, the commonest first."""
    low: str = ""
    high: str = ""

    @property
    def numeric(self) -> bool:
        return self.kind == "number"

    @property
    def unique_share(self) -> float:
        """The share of rows that the column tells from all others by itself."""
        return self.alone / self.rows if self.rows else 0.0


def profile_of(column: pl.Series) -> Profile:
    """The figures of a column."""
    kind = _kind(column.dtype)
    if kind == "other":
        return Profile(column.name, kind, len(column), 0, column.null_count(), 0, ())
    filled = column.drop_nulls()
    counts = filled.value_counts(sort=True, name="so many rows")["so many rows"]
    low, high = (filled.min(), filled.max()) if kind != "text" and len(filled) else ("", "")
    return Profile(
        name=column.name,
        kind=kind,
        rows=len(column),
        distinct=len(counts),
        missing=column.null_count(),
        alone=int((counts == 1).sum()),
        counts=_shape(filled, counts, kind),
        low=str(low),
        high=str(high),
    )


def _kind(dtype: pl.DataType) -> str:
    if dtype.is_numeric():
        return "number"
    if dtype.is_temporal():
        return "date"
    text = isinstance(dtype, pl.String | pl.Categorical | pl.Enum | pl.Boolean)
    return "text" if text else "other"


def _shape(filled: pl.Series, counts: pl.Series, kind: str) -> tuple[int, ...]:
    if kind != "number" or len(counts) <= FEW:
        return tuple(counts.head(BINS).to_list())
    numbers = filled.cast(pl.Float64).to_numpy()
    finite = numbers[np.isfinite(numbers)]
    if not len(finite):
        return ()
    return tuple(int(count) for count in np.histogram(finite, bins=BINS)[0])


Identity = tuple[Source, str, int, int]
FEW_COUNTS = 4
SHOWN_ROWS = 20


def key_of(text: str) -> str:
    """A short name for a column or a value, to stand in a form in its place."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=9).hexdigest()


@dataclass(eq=False)
class Held:
    """One table: texts as numbers, so that a million rows take little, and what was counted."""

    identity: Identity
    frame: pl.DataFrame
    head: pl.DataFrame
    profiles: dict[str, Profile]
    _proposal: Proposal | None = None
    _values: dict[tuple[str, str], list[tuple[str, int]]] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def __post_init__(self) -> None:
        self._cells = lru_cache(FEW_COUNTS)(lambda columns: _cells(self.frame, columns))
        self._table = lru_cache(FEW_COUNTS)(self._coded)

    @classmethod
    def read(cls, identity: Identity) -> Held:
        source, address, *_ = identity
        frame = to_polars(read_table(address, **source.reading))
        small = frame.with_columns(pl.col(pl.String).cast(pl.Categorical))
        profiles = {column.name: profile_of(column) for column in small}
        held = cls(identity, small, frame.head(SHOWN_ROWS), profiles)
        if frame.height:
            held._proposal = propose_spec(frame, read_codebook(address, **source.reading))
        return held

    @property
    def proposal(self) -> Proposal:
        """What `shoal init` proposes."""
        if self._proposal is None:
            return propose_spec(self.frame)
        return self._proposal

    @property
    def columns(self) -> list[str]:
        return self.frame.columns

    @property
    def rows(self) -> int:
        return self.frame.height

    def values(self, column: str, recipe: Any = None) -> list[tuple[str, int]]:
        """The values of a column as a spec names them once it is recoded, and their rows,
        commonest first."""
        told = (column, repr(recipe))
        with self._lock:
            if told not in self._values:
                counts = self._counted(column, recipe)
                self._values[told] = sorted(counts, key=lambda one: (-one[1], one[0]))
            return self._values[told]

    def _counted(self, column: str, recipe: Any) -> list[tuple[str, int]]:
        data = self.frame.select(column)
        if recipe:
            asked = Spec(qi=["another"], sensitive=column, r=2, recode={column: recipe})
            data = recoded(data, asked)
        coded, codes = code_column(data[column])
        rows = np.bincount(codes, minlength=len(coded)).tolist()
        return list(zip(coded.labels, rows, strict=True))

    def table(self, spec: Spec) -> Table:
        """The table that a spec asks for, from cells."""
        with self._lock:
            return self._table(spec)

    def _coded(self, spec: Spec) -> Table:
        columns = tuple(columns_of(spec))
        check_roles(self.columns, spec)
        frame, persons = by_person(self.frame, spec, lambda: protected_rows(self.frame, spec))
        check_identifiers(frame, spec)
        cells = _cells(frame, columns) if persons else self._cells(columns)
        return Table.from_cells(cells, spec.with_(identifiers=()), rows=count_name(columns))


def _cells(frame: pl.DataFrame, columns: tuple[str, ...]) -> pl.DataFrame:
    return count_rows([frame.select(columns)], list(columns))


class HeldTables:
    """The tables that pages look at, the last two of them."""

    def __init__(self) -> None:
        self._read, self._lock = lru_cache(2)(Held.read), threading.Lock()

    def get(self, source: Source, folder: Path) -> Held:
        """The table of a source, read again only if the file is another."""
        with self._lock:
            return self._read(_identity(source, folder))

    def forget(self) -> None:
        """Has every table read again, for databases and servers, whose changes no file tells."""
        with self._lock:
            self._read.cache_clear()
            forget()


class HeldReleases:
    """The releases that pages look at, the last two of them."""

    def __init__(self) -> None:
        self._load = lru_cache(2)(lambda folder, noted: Release.load(folder))
        self._lock = threading.Lock()

    def get(self, folder: Path) -> Release:
        """The release of a folder, read again only if its certificate is another."""
        path = folder / CERTIFICATE
        with self._lock:
            return self._load(folder, path.stat().st_mtime_ns if path.is_file() else 0)


def _identity(source: Source, folder: Path) -> Identity:
    address = source.table_path(folder)
    path = source_path(address)
    try:
        stat = None if path is None else path.stat()
    except OSError:
        stat = None
    told = (0, 0) if stat is None else (stat.st_mtime_ns, stat.st_size)
    return (source, address, *told)
