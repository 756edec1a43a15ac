"""The generalized form: for each group and QI a range of values, and a table of what each covers.

A group answers a query with (values asked for) x the product over QIs of the share of the range's
domain values that the query allows: a range is spread evenly over what it covers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.arrays import Bools, Floats, IntArray, Ints, Whole, Words
from shoal.data.spec import MISSING, Spec
from shoal.data.table import Column, Table, code_column
from shoal.engines import GID, Runs
from shoal.errors import InputError
from shoal.groups import FormName, Grouping
from shoal.release.forms.form import Coded, PublishedPeople
from shoal.release.numbering import as_enum, hashed_people, hashed_ranges
from shoal.release.weights import Alike, published_weights

if TYPE_CHECKING:
    from scipy import sparse

    from shoal.release import Release
    from shoal.release.record import Record
    from shoal.release.utility.published import Published
    from shoal.release.utility.sql import Asked, Files

Covers = dict[str, dict[str, Bools]]
"""For each attribute and label, which codes of its domain the label covers."""


class Generalized:
    """One range per group and QI."""

    name: FormName = "generalized"
    more_tables: Mapping[str, str] = {"ranges": "which values each generalized label covers"}

    def tables(self, table: Table, grouping: Grouping) -> tuple[Runs, pl.DataFrame]:
        return _qi_table(table, grouping), _ranges(table, grouping)

    def hashed(self, total: Words, grouping: Grouping, signature_rank: IntArray) -> Words:
        labels = (pl.Series(one.labels).gather(one.node) for one in grouping.recodings)
        total = hashed_ranges(total, labels)
        weight, nobody = grouping.weight, np.zeros_like(grouping.group)
        if weight is None:
            return total
        return hashed_people(total, grouping.group, nobody, grouping.rows, weight)

    def published(self, total: Words, qi: Runs, spec: Spec) -> tuple[list[Whole], Words]:
        first = qi.lines[qi.start[:-1]]
        texts = (first[name].cast(pl.String) for name in spec.qi)
        total, (weight, place) = hashed_ranges(total, texts), published_weights(qi, spec)
        if weight is not None:
            total = hashed_people(total, qi.group, np.zeros_like(qi.group), qi.times, weight)
        return [qi.group, place], total

    def people(
        self, release: Release, qi: Runs, table: Table, record: Record | None
    ) -> tuple[PublishedPeople | None, str]:
        """The publisher's own record is checked against the published ranges; without it, rows are
        told apart by the ranges, which works only where these do not overlap and nobody is
        suppressed."""
        covers = _covers(release, table)
        groups = qi.distinct[qi.start[:-1]]
        if record is None:
            gid = _told_apart(groups, table, covers)
            kept = np.flatnonzero(gid >= 0)
            group = np.searchsorted(qi.first, gid[kept])
            return PublishedPeople(kept.astype(np.int32), group, table.signature_rows[kept]), ""
        if problem := _contradiction(groups, table, covers, record):
            return None, problem
        return PublishedPeople(
            record.signature, np.searchsorted(qi.first, record.gid), record.people
        ), ""

    def coded(self, release: Release, qi: Runs, held: sparse.csr_array, equal: Bools) -> Coded:
        """A unit is a group."""
        ranges, columns, covers = release.frames["ranges"], [], []
        units = np.empty((held.shape[0], len(release.spec.qi)), dtype=np.int32)
        group = qi.group.astype(np.int32)
        for position, name in enumerate(release.spec.qi):
            lines = ranges.filter(pl.col("attribute") == name)
            domain, value = code_column(_typed(lines["value"]).alias(name))
            shown, node = code_column(lines["label"])
            covered = np.zeros((len(shown), len(domain)), dtype=bool)
            covered[node, value] = True
            labels, of_row = code_column(qi.lines[name].cast(pl.String))
            units[group, position] = _numbers(labels, shown, name)[of_row]
            columns.append(domain)
            covers.append(covered)
        return Coded(tuple(columns), units, tuple(covers), held, group)

    def answers(
        self, published: Published, allowed: Sequence[Bools], weights: Floats
    ) -> Callable[[slice], Floats]:
        from shoal.release.utility.kernels import answer_classes, offsets

        cells, coded = published.cells, published.coded + offsets(published.covers)

        def answer(block: slice) -> Floats:
            overlap = np.concatenate(_overlaps(published, [some[:, block] for some in allowed]))
            return answer_classes(coded, *cells.arrays, overlap, weights[block])

        return answer

    def matching(self, published: Published, allowed: Sequence[Bools]) -> Floats:
        part = np.ones(len(published.coded))
        for position, overlap in enumerate(_overlaps(published, allowed)):
            part *= overlap[published.coded[:, position], 0]
        return part

    def spread(self, published: Published, domains: Sequence[Floats]) -> list[Floats]:
        weight = [cover / cover.sum(axis=1, keepdims=True) for cover in published.covers]
        return [part @ to for part, to in zip(weight, domains, strict=True)]

    def example_values(self, release: Release, people: pl.DataFrame, qi: str) -> pl.Series:
        label = str(people[qi].drop_nulls()[0])
        covered = release.frames["ranges"].filter(attribute=qi, label=label)["value"]
        return covered.filter(covered != MISSING).alias(qi)

    def matched_sql(self, files: Files, asked: Asked) -> tuple[list[str], str]:
        parts = [_overlap_sql(f"share{i}", files, *one) for i, one in enumerate(asked.values())]
        return [*parts, _classes_sql(files, list(asked))], "matched.share"


def _overlaps(published: Published, allowed: Sequence[Bools]) -> list[Floats]:
    """Per QI, ranges x queries: which part of a range's domain values is allowed."""
    return [
        (
            cover.astype(np.float32) @ some.astype(np.float32) / cover.sum(axis=1, keepdims=True)
        ).astype(np.float64)
        for cover, some in zip(published.covers, allowed, strict=True)
    ]


def _qi_table(table: Table, grouping: Grouping) -> Runs:
    """gid and the ranges of its group, once for every person."""
    columns = [
        as_enum(pl.Series(column.name, recoding.labels)).gather(recoding.node)
        for column, recoding in zip(table.qi, grouping.recodings, strict=True)
    ]
    group, _, people, weight = Alike.of(table, grouping, shown=False)
    lines = pl.DataFrame(columns)[group].with_columns(weight)
    return Runs.numbered(group, grouping.copies, people, lines)


def _ranges(table: Table, grouping: Grouping) -> pl.DataFrame:
    """What each published label covers, of the values that published rows have."""
    signatures = table.signatures[np.unique(grouping.signature)]
    parts = []
    for position, (column, recoding) in enumerate(zip(table.qi, grouping.recodings, strict=True)):
        used, shown = np.unique(recoding.node), np.unique(signatures[:, position])
        node, code = np.nonzero(recoding.members[np.ix_(used, shown)])
        labels = pl.Series([recoding.labels[n] for n in used], dtype=pl.String)
        parts.append(
            pl.DataFrame(
                {
                    "attribute": pl.Series([column.name] * len(node), dtype=pl.String),
                    "label": labels[node],
                    "value": pl.Series(list(column.labels), dtype=pl.String)[shown[code]],
                }
            )
        )
    return pl.concat(parts).unique().sort("attribute", "label", "value")


def _covers(release: Release, table: Table) -> Covers:
    covers: Covers = {}
    for column in table.qi:
        code = {label: i for i, label in enumerate(column.labels)}
        mine = covers.setdefault(column.name, {})
        lines = release.frames["ranges"].filter(attribute=column.name)
        for label, value in lines[["label", "value"]].iter_rows():
            inside = mine.setdefault(label, np.zeros(len(column), bool))
            if value in code:
                inside[code[value]] = True
    return covers


def _contradiction(groups: pl.DataFrame, table: Table, covers: Covers, record: Record) -> str:
    """What in the publisher's record is against the published ranges, or an empty text."""
    ids = groups[GID].to_numpy()
    if not np.isin(record.gid, ids).all():
        return "the private record names groups that are not published"
    place = np.searchsorted(ids, record.gid)
    codes = table.signatures[record.signature]
    for position, column in enumerate(table.qi):
        labels = groups[column.name].cast(pl.String).to_list()
        inside = np.stack([covers[column.name][label] for label in labels])
        if not inside[place, codes[:, position]].all():
            return f'somebody lies outside the published range of "{column.name}"'
    return ""


def _told_apart(groups: pl.DataFrame, table: Table, covers: Covers) -> Ints:
    """The gid of each signature, from the ranges alone; -1 where none covers it."""
    distinct = groups.unique(subset=list(table.spec.qi), keep="none")
    if distinct.height < groups.height:
        raise _overlapping()
    found = np.full(len(table.signatures), -1, np.int64)
    for line in groups.iter_rows(named=True):
        inside = np.ones(len(table.signatures), bool)
        for position, column in enumerate(table.qi):
            inside &= covers[column.name][str(line[column.name])][table.signatures[:, position]]
        if (found[inside] >= 0).any():
            raise _overlapping()
        found[inside] = line[GID]
    return found


def _overlapping() -> InputError:
    return InputError(
        "verify-private",
        "The published ranges overlap, so the release alone does not say who is in which group.",
        "Give the publisher's private folder with --private.",
    )


def _numbers(labels: Column, shown: Column, qi: str) -> IntArray:
    """The numbers that labels of the QI table have among those of the table of ranges."""
    number = {label: code for code, label in enumerate(shown.labels)}
    try:
        return np.array([number[label] for label in labels.labels], dtype=np.int32)
    except KeyError as error:
        raise InputError(
            "release-ranges",
            f'The table of ranges does not say what "{error.args[0]}" of "{qi}" covers.',
            "`shoal verify` says what is wrong with a release.",
        ) from None


def _typed(texts: pl.Series) -> pl.Series:
    """Numbers where every text is one, so that ranges of values can be asked for. The label of
    missing values then stands for no number."""
    missing = (texts == MISSING).any()
    given = texts.set(texts == MISSING, None) if missing else texts
    if given.null_count() == len(given):
        return texts
    for kind in (pl.Int64, pl.Float64):
        numbers = given.cast(kind, strict=False)
        plain = numbers.cast(pl.String).str.strip_suffix(".0")
        if numbers.null_count() == given.null_count() and (plain == given).all():
            return numbers
    return texts


def _overlap_sql(name: str, files: Files, column: Column, allowed: Bools) -> str:
    """For each range of one QI, the share of its domain values that is asked for."""
    listed = ", ".join(files.text(column.labels[code]) for code in np.flatnonzero(allowed))
    inside = f"value IN ({listed})" if listed else "false"
    return (
        f"{name} AS (\n  SELECT label, avg(CASE WHEN {inside} THEN 1.0 ELSE 0.0 END) AS part\n"
        f"  FROM {files.source('ranges')}\n"
        f"  WHERE attribute = {files.text(column.name)} GROUP BY label\n)"
    )


def _classes_sql(files: Files, asked: Sequence[str]) -> str:
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
