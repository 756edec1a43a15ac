"""The recipient's estimator as SQL, for DuckDB over the files of a saved release.

Everything that SQL is shown for goes through here: `sql_for_count`, and the example in a release's
README.txt. Literals are written as the files hold them: in CSV, texts that a spreadsheet might run
stand behind an apostrophe, and every cell is text; in Parquet, columns have types.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.sources.guard import guarded_text
from shoal.spec import MISSING
from shoal.table import Column, code_column
from shoal.utility.count import allowed_values, check_names, value_weights
from shoal.utility.published import GID

if TYPE_CHECKING:
    from shoal.release import Release

Asked = Mapping[str, tuple[Column, NDArray[np.bool_]]]
"""By QI: its domain, and which of its values are asked for."""


def sql_for_count(
    release: Release, where: Mapping[str, Any] | None = None, *, format: str | None = None
) -> str:
    """SQL that gives what `release.count(where)` gives, run in the release's folder.

    `format` is that of the folder's tables; without it, the one that the release was loaded from,
    or csv for a release that was just made.
    """
    published, where = release.coded, where or {}
    check_names(release, where)
    asked = {
        column.name: (column, allowed_values(column, where[column.name]))
        for column in published.columns
        if column.name in where
    }
    weights = None
    if release.spec.sensitive in where:
        found = value_weights(published, release.spec.sensitive, where)
        weights = dict(zip(published.values, found.tolist(), strict=True))
    return _query(release, _Files.of(release, format), asked, weights)


def example(release: Release) -> tuple[str, Column | None]:
    """A sensitive value, and an attribute of somebody in its group as a domain of one value: for a
    first count. The former is of an event, if any is published: such values are never pooled."""
    sensitive, protect = release.sensitive, release.spec.protect or ()
    texts = [text for event in protect for text in (event.label, *event.values)]
    line = sensitive[release.spec.sensitive].cast(pl.String).is_in(texts).arg_max() or 0
    value = str(sensitive[release.spec.sensitive][line])
    people = release.qi.filter(pl.col(GID) == sensitive[GID][line])
    for qi in release.spec.qi:
        known = people[qi].drop_nulls()
        if release.ranges is not None:
            covered = release.ranges.filter(attribute=qi, label=str(known[0]))["value"]
            known = covered.filter(covered != MISSING).alias(qi)
        if len(known):
            return value, code_column(known.head(1))[0]
    return value, None


def example_sql(release: Release, *, format: str) -> str:
    """SQL for the example's count, without coding the whole release."""
    value, column = example(release)
    asked = {} if column is None else {column.name: (column, np.ones(1, bool))}
    return _query(release, _Files.of(release, format), asked, {value: 1.0})


@dataclass(frozen=True)
class _Files:
    """How the tables of a release are named, read and compared with in SQL."""

    format: str
    columns: dict[str, list[str]]
    """The columns of each table."""

    @classmethod
    def of(cls, release: Release, format: str | None) -> _Files:
        chosen = format or release.loaded_from or "csv"
        if chosen not in ("csv", "parquet"):
            raise InputError(
                "release-format", f'There is no format "{chosen}".', "Choose csv or parquet."
            )
        tables = {"qi": release.qi, "sensitive": release.sensitive}
        return cls(chosen, {name: frame.columns for name, frame in tables.items()})

    def source(self, table: str) -> str:
        """What stands after FROM."""
        file = f"{table}.{self.format}"
        if self.format == "csv":
            # Nothing is left to DuckDB's guesses, which hostile values could lead astray.
            dialect = "delim = ',', quote = '\"', escape = '\"', comment = ''"
            text = f"read_csv('{file}', header = true, all_varchar = true,\n    {dialect})"
        else:
            text = f"read_parquet('{file}')"
        names = self._names(table)
        if names != self._shown(table):
            text += f" AS {table} ({', '.join(map(_identifier, names))})"
        return text

    def name(self, table: str, column: str) -> str:
        """A column of a table."""
        return _identifier(self._names(table)[self.columns[table].index(column)])

    def _shown(self, table: str) -> list[str]:
        columns = self.columns.get(table, [])
        return [guarded_text(column) for column in columns] if self.format == "csv" else columns

    def _names(self, table: str) -> list[str]:
        """Names that differ by more than case, by which alone SQL cannot tell columns apart."""
        names: list[str] = []
        for column in self._shown(table):
            name, number = column, 1
            while name.lower() in [taken.lower() for taken in names]:
                number += 1
                name = f"{column} ({number})"
            names.append(name)
        return names

    def text(self, text: str) -> str:
        """A text as the tables show it."""
        return _literal(guarded_text(text) if self.format == "csv" else text)

    def typed(self, name: str, values: pl.Series) -> tuple[str, list[str]]:
        """A column of values that are not text, and literals of values to compare it with."""
        cells = values.to_frame().write_csv(include_header=False).splitlines()
        if self.format == "csv" and values.dtype.is_numeric():
            name = f"CAST({name} AS {'HUGEINT' if values.dtype.is_integer() else 'DOUBLE'})"
        if values.dtype.is_integer():
            return name, cells
        return name, [_literal(cell) for cell in cells]


def _query(
    release: Release, files: _Files, asked: Asked, weights: Mapping[str, float] | None
) -> str:
    """Per group, the values asked for times the share of people who match, added up."""
    parts = [_asked(release.spec.sensitive, files, weights)]
    if release.form == "bucketized":
        parts.append(_matched(files, asked))
        share = "matched.people / matched.size"
    else:
        parts += [_overlap(f"share{i}", files, *one) for i, one in enumerate(asked.values())]
        parts.append(_classes(files, list(asked)))
        share = "matched.share"
    return (
        f"WITH {', '.join(parts)}\n"
        f"SELECT coalesce(sum(asked.people * {share}), 0) AS estimate\n"
        "FROM asked JOIN matched USING (gid);"
    )


def _asked(sensitive: str, files: _Files, weights: Mapping[str, float] | None) -> str:
    """Per group, how many of its values are asked for."""
    people = 'CAST("count" AS BIGINT)'
    if weights is not None:
        cases = "".join(
            f"\n      WHEN {files.text(value)} THEN {float(weight)!r}"
            for value, weight in weights.items()
            if weight > 0
        )
        name = files.name("sensitive", sensitive)
        people += f" * CASE {name}{cases}\n      ELSE 0.0 END" if cases else " * 0.0"
    return (
        f"asked AS (\n  SELECT gid, sum({people}) AS people\n"
        f"  FROM {files.source('sensitive')} GROUP BY gid\n)"
    )


def _matched(files: _Files, asked: Asked) -> str:
    """Per group, how many of its people match, and its size."""
    conditions = [_condition(files, column, allowed) for column, allowed in asked.values()]
    matching = f" FILTER (WHERE {' AND '.join(conditions)})" if conditions else ""
    return (
        f"matched AS (\n  SELECT gid, count(*){matching} AS people, count(*) AS size\n"
        f"  FROM {files.source('qi')} GROUP BY gid\n)"
    )


def _condition(files: _Files, column: Column, allowed: NDArray[np.bool_]) -> str:
    codes = np.flatnonzero(allowed)
    chosen = column.values.gather(codes)
    named = chosen.drop_nulls()
    name, options = files.name("qi", column.name), []
    if len(named) and named.dtype == pl.String:
        options.append(f"{name} IN ({', '.join(files.text(text) for text in named)})")
    elif len(named):
        number, cells = files.typed(name, named)
        run = codes[len(named) - 1] - codes[0] == len(named) - 1
        if column.numeric and len(named) > 2 and run:
            options.append(f"{number} BETWEEN {cells[0]} AND {cells[-1]}")
        else:
            options.append(f"{number} IN ({', '.join(cells)})")
    if chosen.null_count():
        options.append(f"{name} IS NULL")
    return f"({' OR '.join(options)})" if options else "false"


def _overlap(name: str, files: _Files, column: Column, allowed: NDArray[np.bool_]) -> str:
    """For each range of one QI, the share of its domain values that is asked for."""
    listed = ", ".join(files.text(column.labels[code]) for code in np.flatnonzero(allowed))
    inside = f"value IN ({listed})" if listed else "false"
    return (
        f"{name} AS (\n  SELECT label, avg(CASE WHEN {inside} THEN 1.0 ELSE 0.0 END) AS part\n"
        f"  FROM {files.source('ranges')}\n"
        f"  WHERE attribute = {files.text(column.name)} GROUP BY label\n)"
    )


def _classes(files: _Files, asked: Sequence[str]) -> str:
    """Per class, the product of its ranges' shares."""
    shares = [f"share{number}" for number in range(len(asked))]
    product = " * ".join(f"{share}.part" for share in shares) or "1.0"
    columns = "".join(f", {files.name('qi', qi)}" for qi in asked)
    joins = "".join(
        f"\n  JOIN {share} ON classes.{files.name('qi', qi)} = {share}.label"
        for share, qi in zip(shares, asked, strict=True)
    )
    return (
        f"matched AS (\n  SELECT gid, {product} AS share\n"
        f"  FROM (SELECT DISTINCT gid{columns} FROM {files.source('qi')}) AS classes{joins}\n)"
    )


def _literal(text: str) -> str:
    """A text in SQL, on one line: characters that cannot be seen are named by number."""
    quoted = text.replace("'", "''")
    parts = [one if one.isprintable() else f"' || chr({ord(one)}) || '" for one in quoted]
    return f"({literal})" if "||" in (literal := f"'{''.join(parts)}'") else literal


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
