"""The recipient's estimator as SQL, for DuckDB over the files of a saved release.

Everything that SQL is shown for goes through here: `sql_for_count`, and the example in a release's
README.txt. Literals are written as the files hold them: in CSV, texts that a spreadsheet might run
stand behind an apostrophe, and every cell is text; in Parquet, columns have types.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.arrays import Bools
from shoal.data.sources.database import quoted_name
from shoal.data.sources.guard import guarded_text
from shoal.data.spec import OTHER
from shoal.data.table import Column, code_column
from shoal.engines import GID
from shoal.errors import InputError
from shoal.release.forms import form_named
from shoal.release.utility import weight_sql
from shoal.release.utility.count import allowed_values, predicates, value_weights
from shoal.release.utility.published import COUNT
from shoal.release.utility.weighted import weight_column

if TYPE_CHECKING:
    from shoal.release import Release

Weights = dict[str, dict[str, float]]
"""By sensitive column that is asked for: which part of each of its values is."""
Asked = Mapping[str, tuple[Column, Bools]]
"""By QI: its domain, and which of its values are asked for."""


def sql_for_count(
    release: Release, where: Mapping[str, Any] | None = None, *, format: str | None = None
) -> str:
    """SQL that gives what `release.count(where)` gives, the estimate and its standard error, run in
    the release's folder.

    `format` is that of the folder's tables; without it, the one that the release was loaded from,
    or csv for a release that was just made.
    """
    published, where = release.coded, predicates(release, where or {})
    asked = {
        column.name: (column, allowed_values(column, where[column.name]))
        for column in published.columns
        if column.name in where
    }
    weights: Weights = {}
    several = len(release.spec.sensitive_columns) > 1
    for name in release.spec.sensitive_columns:
        if name in where:
            of = release.coded_alone[name] if several else published
            found = value_weights(of, name, where)
            weights[name] = dict(zip(of.values, found.tolist(), strict=True))
    return _query(release, Files.of(release, format), asked, weights)


def example(release: Release) -> tuple[str, str, Column | None]:
    """A sensitive column and one of its values, and an attribute of somebody in its group as a
    domain of one value: for a first count. The value is of an event, if any is published: such
    values are never pooled."""
    sensitive, spec = release.sensitive_runs.distinct, release.spec
    name, line = spec.sensitive_columns[0], 0
    for column in spec.sensitive_columns:
        events = spec.alone(column).protect or ()
        texts = [text for event in events for text in (event.label, *event.values)]
        held = sensitive[column].cast(pl.String).is_in(texts)
        if held.any():
            name, line = column, held.arg_max() or 0
            break
    value = str(sensitive[name][line])
    people = release.qi_runs.of_gid(int(sensitive[GID][line]))
    form = form_named(release.form)
    for qi in release.spec.qi:
        known = form.example_values(release, people, qi)
        if len(known):
            return name, value, code_column(known.head(1))[0]
    return name, value, None


def example_sql(release: Release, *, format: str) -> str:
    """SQL for the example's count, without coding the whole release."""
    name, value, column = example(release)
    asked = {} if column is None else {column.name: (column, np.ones(1, bool))}
    return _query(release, Files.of(release, format), asked, {name: {value: 1.0}})


def other_example(release: Release) -> tuple[str, str, int, int] | None:
    """For a first count where values are pooled: a sensitive column, one of its values that belong
    to no event, and how often it and all of these are published by name. None without any."""
    for name in release.spec.sensitive_columns:
        found = _other_example(release.alone(name), name)
        if found is not None:
            return name, *found
    return None


def _other_example(release: Release, name: str) -> tuple[str, int, int] | None:
    protect = release.spec.protect or ()
    events = [text for event in protect for text in (event.label, *event.values)]
    totals = release.sensitive_runs.totals(pl.col(name).cast(pl.String), "count")
    if not (totals[name] == OTHER).any():
        return None
    named = totals.filter(~pl.col(name).is_in([OTHER, *events]) & pl.col(name).is_not_null())
    if not named.height:
        return None
    value, count = named.sort("count", name, descending=[True, False]).row(0)
    return str(value), int(count), int(named["count"].sum())


def other_sql(release: Release, *, format: str) -> str:
    """SQL for how many people have the value of `other_example`, in pooled groups too."""
    found = other_example(release)
    assert found is not None, "asked for only where there is one"
    name, value, count, named = found
    weights = {name: {value: 1.0, OTHER: count / named}}
    return _query(release, Files.of(release, format), {}, weights)


def weights_sql(release: Release, *, format: str) -> str:
    """SQL that lists everybody with each value that they may have, and its weight; of columns that
    are published apart, those of the first."""
    files = Files.of(release, format)
    if _by_weight(release):
        return weight_sql.list_sql(release, files)
    columns = release.spec.sensitive_columns
    held = columns[:1] if release.spec.publish_apart else columns
    people = ["gid", *(files.name("qi", name) for name in release.spec.qi)]
    shown = ["people.*"] if release.weight is None else [f"people.{name}" for name in people]
    shown += [f"held.{files.name('sensitive', name)}" for name in held]
    return (
        f"WITH people AS (\n  SELECT * FROM {files.source('qi')}\n"
        f"), held AS (\n  SELECT * FROM {files.source('sensitive')}\n"
        "), sizes AS (\n  SELECT gid, count(*) AS size FROM people GROUP BY gid\n)\n"
        f"SELECT {', '.join(shown)}, CAST(held.{files.name('sensitive', COUNT)} AS DOUBLE) "
        f"/ sizes.size AS {files.weight(release)}\n"
        "FROM people JOIN sizes ON people.gid = sizes.gid JOIN held ON people.gid = held.gid;"
    )


def population_sql(release: Release, *, format: str) -> str:
    """SQL for the example's value in the population: everybody's weights times survey weights."""
    files, (sensitive, value, _) = Files.of(release, format), example(release)
    survey = f"CAST({files.name('qi', str(release.spec.weight))} AS DOUBLE)"
    return (
        f"SELECT sum({files.weight(release)} * {survey}) AS estimate FROM (\n"
        f"{weights_sql(release, format=format).removesuffix(';')}\n"
        f") WHERE {files.name('sensitive', sensitive)} = {files.text(value)};"
    )


@dataclass(frozen=True)
class Files:
    """How the tables of a release are named, read and compared with in SQL."""

    format: str
    columns: dict[str, list[str]]
    """The columns of each table."""
    parted: Collection[str] = ()
    """The tables that are folders of parts."""

    @classmethod
    def of(cls, release: Release, format: str | None) -> Files:
        chosen = format or release.loaded_from or "csv"
        if chosen not in ("csv", "parquet"):
            raise InputError(
                "release-format", f'There is no format "{chosen}".', "Choose csv or parquet."
            )
        columns = {name: runs.columns for name, runs in release.large.items()}
        return cls(chosen, columns, set(release.parted))

    def source(self, table: str, called: str = "") -> str:
        """What stands after FROM; the table may be `called` by a name."""
        file = f"{table}.{self.format}"
        file += f"/*.{self.format}" if table in self.parted else ""
        if self.format == "csv":
            # Nothing is left to DuckDB's guesses, which hostile values could lead astray.
            dialect = "delim = ',', quote = '\"', escape = '\"', comment = ''"
            text = f"read_csv('{file}', header = true, all_varchar = true,\n    {dialect})"
        else:
            text = f"read_parquet('{file}')"
        names = self._names(table)
        if names != self._shown(table):
            return f"{text} AS {table} ({', '.join(map(quoted_name, names))})"
        return f"{text} AS {called}" if called else text

    def name(self, table: str, column: str) -> str:
        """A column of a table."""
        return quoted_name(self._names(table)[self.columns[table].index(column)])

    def weight(self, release: Release) -> str:
        """What a column of weights is called, as in `Release.table`."""
        return quoted_name(weight_column(release))

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


def _by_weight(release: Release) -> bool:
    """Whether people of a group count differently, and are told apart."""
    return release.weight is not None and release.form == "bucketized"


def _query(release: Release, files: Files, asked: Asked, weights: Weights) -> str:
    """Per group, the values asked for times the share of people who match, added up; and the
    standard error of that."""
    part = _part(files, weights)
    if _by_weight(release):
        return weight_sql.count_sql(release, files, asked, part)
    matched, share = form_named(release.form).matched_sql(files, asked)
    number = f"CAST({files.name('sensitive', COUNT)} AS DOUBLE)"
    return f"""WITH held AS (
  SELECT gid, {number} AS number, {part} AS part
  FROM {files.source("sensitive")}
), asked AS (
  SELECT gid, sum(number) AS size, sum(number * part) AS people,
    sum(number * part * part) AS squares FROM held GROUP BY gid
), {", ".join(matched)}, counted AS (
  SELECT asked.*, {share} AS share FROM asked JOIN matched USING (gid)
)
SELECT coalesce(sum(people * share), 0) AS estimate,
  sqrt(greatest(coalesce(sum(share * (people - squares + (1 - share)
    * (squares - people * people / size) * size / greatest(size - 1, 1))), 0), 0)) AS standard_error
FROM counted;"""


def _part(files: Files, weights: Weights) -> str:
    """How much of a line of the sensitive table is asked for."""
    parts = []
    for sensitive, of_value in weights.items():
        cases = "".join(
            f"\n      WHEN {files.text(value)} THEN {float(weight)!r}"
            for value, weight in of_value.items()
            if weight > 0
        )
        name = files.name("sensitive", sensitive)
        parts.append(f"CASE {name}{cases}\n      ELSE 0.0 END" if cases else "0.0")
    return " * ".join(parts) or "1.0"


def _literal(text: str) -> str:
    """A text in SQL, on one line: characters that cannot be seen are named by number."""
    quoted = text.replace("'", "''")
    parts = [one if one.isprintable() else f"' || chr({ord(one)}) || '" for one in quoted]
    return f"({literal})" if "||" in (literal := f"'{''.join(parts)}'") else literal
