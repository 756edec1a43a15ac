"""The bucketized form: exact QI values, and only the group between them and the values.

A group answers a query with (values asked for) x (share of its tuples that match). Summed over
groups, that is a count over expected cells: a group of N tuples, n of them with signature s, that
publishes c times value v adds n c / N rows to the cell (s, v). The cells do not depend on the
query, so that they are added up once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.arrays import Bools, Floats, IntArray, Ints, Whole, Words
from shoal.data.spec import MISSING, Spec
from shoal.data.table import Column, Table, code_column, factorize
from shoal.data.table.frames import places_in
from shoal.engines import Runs
from shoal.groups import FormName, Grouping
from shoal.release.forms.form import Coded, PublishedPeople
from shoal.release.numbering import as_enum, hashed_people
from shoal.release.weights import Alike, published_weights

if TYPE_CHECKING:
    from scipy import sparse

    from shoal.release import Release
    from shoal.release.record import Record
    from shoal.release.utility.published import Published
    from shoal.release.utility.sql import Asked, Files


class Bucketized:
    """Everybody's own QI values."""

    name: FormName = "bucketized"
    more_tables: Mapping[str, str] = {}

    def tables(self, table: Table, grouping: Grouping) -> tuple[Runs, None]:
        """In the order of gid, signature and weight: signatures are numbered in the order of their
        values, so that this order tells nothing."""
        group, signature, people, weight = Alike.of(table, grouping, shown=True)
        codes = table.signatures[signature]
        columns = [
            as_enum(column.values).gather(codes[:, position]).alias(column.name)
            for position, column in enumerate(table.qi)
        ]
        return Runs.numbered(group, grouping.copies, people, pl.DataFrame(columns + weight)), None

    def hashed(self, total: Words, grouping: Grouping, signature_rank: IntArray) -> Words:
        signature = signature_rank[grouping.signature]
        return hashed_people(total, grouping.group, signature, grouping.rows, grouping.weight)

    def published(self, total: Words, qi: Runs, spec: Spec) -> tuple[list[Whole], Words]:
        columns = [code_column(qi.lines[name]) for name in spec.qi]
        signature, _ = factorize([codes for _, codes in columns], [len(one) for one, _ in columns])
        weight, place = published_weights(qi, spec)
        total = hashed_people(total, qi.group, signature + 1, qi.times, weight)
        return [qi.group, signature, place], total

    def people(
        self, release: Release, qi: Runs, table: Table, record: Record | None
    ) -> tuple[PublishedPeople | None, str]:
        lines = {column.name: _codes(qi.lines[column.name], column) for column in table.qi}
        for name, codes in lines.items():
            if codes.null_count():
                return None, f'"{name}" has a value that is not in the table'
        known = {column.name: table.signatures[:, i] for i, column in enumerate(table.qi)}
        found = places_in(pl.DataFrame(known), pl.DataFrame(lines))
        if found.null_count():
            return None, "some people have attributes that nobody in the table has"
        return PublishedPeople(found.cast(pl.Int32).to_numpy(), qi.group, qi.times), ""

    def coded(self, release: Release, qi: Runs, held: sparse.csr_array, equal: Bools) -> Coded:
        """A unit is a signature."""
        coded = [code_column(qi.lines[name]) for name in release.spec.qi]
        codes = [of_row for _, of_row in coded]
        columns = tuple(column for column, _ in coded)
        row_signature = factorize(codes, [len(column) for column in columns])[0]
        first = np.unique(row_signature, return_index=True)[1]
        signatures = np.stack([of_row[first] for of_row in codes], axis=1).astype(np.int32)
        expected = _expected(row_signature, len(first), qi, held, equal)
        return Coded(columns, signatures, (), expected, row_signature)

    def answers(
        self, published: Published, allowed: Sequence[Bools], weights: Floats
    ) -> Callable[[slice], Floats]:
        from shoal.release.utility.kernels import answer_cells, offsets, packed

        cells, coded = published.cells, published.coded + offsets(allowed)

        def answer(block: slice) -> Floats:
            bits = packed(allowed, block)
            return answer_cells(coded, *cells.arrays, bits, weights[block])

        return answer

    def matching(self, published: Published, allowed: Sequence[Bools]) -> Floats:
        inside = np.ones(len(published.coded), bool)
        for position, some in enumerate(allowed):
            inside &= some[published.coded[:, position], 0]
        return inside.astype(np.float64)

    def spread(self, published: Published, domains: Sequence[Floats]) -> list[Floats]:
        return list(domains)

    def example_values(self, release: Release, people: pl.DataFrame, qi: str) -> pl.Series:
        return people[qi].drop_nulls()

    def matched_sql(self, files: Files, asked: Asked) -> tuple[list[str], str]:
        conditions = [condition(files, column, allowed) for column, allowed in asked.values()]
        matching = f" FILTER (WHERE {' AND '.join(conditions)})" if conditions else ""
        matched = (
            f"matched AS (\n  SELECT gid, count(*){matching} AS people, count(*) AS size\n"
            f"  FROM {files.source('qi')} GROUP BY gid\n)"
        )
        return [matched], "matched.people / matched.size"


def true_values(table: Table, people: Ints) -> list[Floats]:
    """For each QI, how many people have each of its values, if there are so many of each
    signature."""
    return [
        np.bincount(table.signatures[:, place], people, len(column)).astype(np.float64)
        for place, column in enumerate(table.qi)
    ]


def _codes(series: pl.Series, column: Column) -> pl.Series:
    """Codes of published values, null where unknown."""
    given, domain = (one.alias("value").to_frame() for one in _comparable(series, column))
    return places_in(domain, given).cast(pl.Int32)


def _comparable(series: pl.Series, column: Column) -> tuple[pl.Series, pl.Series]:
    """Published values and a column's domain in one type, in which no two values become one."""
    domain = column.values
    if series.dtype == domain.dtype:
        return series, domain
    if series.dtype.is_integer() and domain.dtype.is_integer():
        return series.cast(pl.Int128), domain.cast(pl.Int128)
    if series.dtype.is_numeric() and domain.dtype.is_numeric():
        return _as_number(series), _as_number(domain)
    labels = pl.Series(list(column.labels), dtype=pl.String)
    return series.cast(pl.String).fill_null(MISSING), labels


def _as_number(series: pl.Series) -> pl.Series:
    """Short floats and decimals mean what they look like: 0.1, not the nearest short float."""
    exact = series.dtype == pl.Float64 or series.dtype.is_integer()
    return series.cast(pl.Float64) if exact else series.cast(pl.String).cast(pl.Float64)


def _expected(
    row_signature: IntArray, signatures: int, qi: Runs, held: sparse.csr_array, equal: Bools
) -> sparse.csr_array:
    """signatures x values: the rows expected of each, of lines that share equally."""
    from scipy import sparse

    # Most groups have one value: their rows are counted, so that these cells are whole numbers.
    plain = np.diff(held.indptr) == 1
    group, people = qi.group, qi.weight
    shape, size = (signatures, held.shape[1]), np.bincount(group, people)
    rows = np.flatnonzero(plain[group] & equal)
    value = held.indices[held.indptr[group[rows]]]
    cell, cells = factorize([row_signature[rows], value], list(shape))
    counted = sparse.csr_array(
        (np.bincount(cell, people[rows], len(cells)), np.divmod(cells, shape[1])), shape=shape
    )
    rows = np.flatnonzero(~plain[group] & equal)
    inside = (people[rows] / size[group[rows]], (row_signature[rows], group[rows]))
    mixed = sparse.csr_array(inside, shape=(signatures, len(size))) @ held
    return sparse.csr_array(counted + mixed)


def condition(files: Files, column: Column, allowed: Bools) -> str:
    """SQL: whether a line of the QI table has one of the values allowed."""
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
