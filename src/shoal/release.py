"""Release: what is published of a table, and the proof that goes with it.

Two tables and nothing that links a person in the one to a value in the other but the group:
the QI table (gid and QI values, one line per published row) and the sensitive table (gid, value,
count). In the generalized form QI values are ranges, and a third table says what each covers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.frames import like
from shoal.grouping import Form, Grouping
from shoal.partition import OTHER
from shoal.spec import Spec
from shoal.table import IntArray, Table
from shoal.verdict import Audit

if TYPE_CHECKING:
    from shoal.utility.published import Published

GID = "gid"
ROWS_AT_ONCE = 1 << 17


@dataclass(frozen=True, eq=False)
class Release:
    """A release in memory. Make one with `shoal.anonymize`, or load a saved one."""

    spec: Spec
    form: Form
    qi: pl.DataFrame
    """gid and QI values, one line per published row, in canonical order; texts are Enums."""
    sensitive: pl.DataFrame
    """gid, value, count."""
    members: pl.DataFrame
    """event, value, count: table-wide totals of the values behind each set event's label."""
    ranges: pl.DataFrame | None
    """attribute, label, value: what each generalized label covers; None if bucketized."""
    certificate: dict[str, Any]
    row_groups: IntArray | None = None
    """For the publisher only: the gid of every input row, -1 if suppressed."""
    audit: Audit | None = None
    """For the publisher only: the audit behind the certificate."""
    seconds: dict[str, float] = field(default_factory=dict)
    """How long each stage took: never saved, so that the same input gives the same bytes."""
    native: Any = field(default=None, repr=False)

    @property
    def qi_table(self) -> Any:
        """The QI table as the kind of frame that the caller gave."""
        return self._for_caller(self.qi)

    @property
    def sensitive_table(self) -> Any:
        """The sensitive table as the kind of frame that the caller gave."""
        return self._for_caller(self.sensitive)

    def _for_caller(self, frame: pl.DataFrame) -> Any:
        return like(frame.with_columns(pl.col(pl.Enum).cast(pl.String)), self.native)

    @cached_property
    def robust(self) -> bool | None:
        """The auditor's verdict, as the certificate states it."""
        return self.certificate["audit"]["robust"]  # type: ignore[no-any-return]

    @cached_property
    def coded(self) -> Published:
        """The published tables as integers, made when the first count is asked for."""
        from shoal.utility.published import Published

        return Published.of(self)

    def count(self, where: Mapping[str, Any] | None = None) -> float:
        """How many people match, estimated from the published tables alone.

        `where` gives for an attribute one value, a list of values, a `range` of whole numbers, or
        `shoal.utility.Between(low, high)`; without it, everybody counts.
        """
        from shoal.utility.count import count

        return count(self, where)

    def save(
        self,
        path: str | Path,
        *,
        format: str = "csv",
        force: bool = False,
        private: str | Path | None = None,
    ) -> None:
        """Writes the release folder, and what must stay inside to the `private` folder."""
        from shoal.release_files import save

        save(self, Path(path), format=format, force=force, private=private)

    @classmethod
    def load(cls, path: str | Path) -> Release:
        """Reads a release folder; `shoal.verify` says whether it is what it claims to be."""
        from shoal.release_files import load

        return load(Path(path))


def build_tables(
    table: Table, grouping: Grouping
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame, pl.DataFrame | None, IntArray]:
    """QI table, sensitive table, members, ranges, and each row's gid (-1: suppressed)."""
    if grouping.groups.max(initial=-1) < 0:
        raise InputError("nothing-published", "No row is in a group.", "Publish at least one row.")
    for name in (*table.spec.qi, table.spec.sensitive):
        if name in (GID, "count"):
            raise InputError(
                "column-name",
                f'The column "{name}" has a name that the published tables need themselves.',
                "Rename it.",
            )
    row_gid = np.append(_gids(table, grouping), np.int32(-1))[grouping.groups]
    kept = np.flatnonzero(row_gid >= 0)
    if grouping.form == "bucketized":
        # Signatures are numbered in the order of their values, so this order is canonical.
        lines = row_gid[kept].astype(np.int64) * len(table.signatures)
        lines += table.row_signature[kept]
        lines.sort()
        line_gid = (lines // len(table.signatures)).astype(np.int32)
        lines %= len(table.signatures)
        columns = [
            _coded(column.values).gather(table.signatures[lines, position]).alias(column.name)
            for position, column in enumerate(table.qi)
        ]
    else:
        rows = kept[np.argsort(row_gid[kept], kind="stable")]
        line_gid, group = row_gid[rows], grouping.groups[rows]
        columns = [
            _coded(pl.Series(column.name, recoding.labels)).gather(recoding.node[group])
            for column, recoding in zip(table.qi, grouping.recodings, strict=True)
        ]
    qi = pl.DataFrame([pl.Series(GID, line_gid), *columns])
    return (
        qi,
        _sensitive(table, grouping, row_gid, kept),
        _members(table, kept),
        _ranges(table, grouping),
        row_gid,
    )


def _sensitive(
    table: Table, grouping: Grouping, row_gid: IntArray, kept: NDArray[np.int64]
) -> pl.DataFrame:
    """gid, value, count, in this order."""
    width = len(table.values) + 1
    keys = row_gid[kept].astype(np.int64)
    keys *= width
    keys += _published_values(table, grouping, kept)
    keys.sort()
    first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    count = np.diff(first, append=len(keys))
    keys = keys[first]
    texts = pl.Series([*table.values, OTHER], dtype=pl.String)
    return pl.DataFrame(
        {
            GID: (keys // width).astype(np.int32),
            table.spec.sensitive: _coded(texts).gather(keys % width),
            "count": count,
        }
    )


def _coded(texts: pl.Series) -> pl.Series:
    """Texts as an Enum, which takes a byte or two per line instead of sixteen."""
    if texts.dtype != pl.String:
        return texts
    return texts.cast(pl.Enum(texts.drop_nulls().unique(maintain_order=True)))


def _gids(table: Table, grouping: Grouping) -> IntArray:
    """Group numbers 1 to K in the order of a hash of what each group publishes: they say nothing
    that the group's content does not say."""
    total = np.zeros(grouping.count, np.uint64)
    with np.errstate(over="ignore"):
        for first in range(0, table.rows, ROWS_AT_ONCE):
            rows = np.arange(first, min(table.rows, first + ROWS_AT_ONCE))
            rows = rows[grouping.groups[rows] >= 0]
            group = grouping.groups[rows]
            held = _published_values(table, grouping, rows).astype(np.uint64)
            np.add.at(total, group, _mix(held + np.uint64(1 << 40)))
            if grouping.form == "bucketized":
                shown = table.row_signature[rows].astype(np.uint64)
                np.add.at(total, group, _mix(shown + np.uint64(1)))
        for recoding in grouping.recodings:
            total = _mix(total + recoding.node.astype(np.uint64) + np.uint64(1))
        order = np.argsort(_mix(total), kind="stable")
    gid = np.empty(grouping.count, np.int32)
    gid[order] = np.arange(1, grouping.count + 1)
    return gid


def _published_values(table: Table, grouping: Grouping, rows: NDArray[np.int64]) -> IntArray:
    """The value code of some rows as published; `len(table.values)` where it is pooled."""
    value: IntArray = grouping.row_values(table)[rows]
    if grouping.pooled is None:
        return value
    hidden = grouping.pooled[grouping.groups[rows]] & (table.value_event[value] < 0)
    return np.where(hidden, len(table.values), value).astype(np.int32)


def _mix(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A 64-bit finalizer: similar numbers end up far apart."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


def _members(table: Table, kept: NDArray[np.int64]) -> pl.DataFrame:
    """Totals of the member values that labels stand for: the dataset based distribution."""
    counts = np.bincount(table.row_member[kept], minlength=len(table.members))
    lines = [
        (event.label, value, int(counts[table.members.labels.index(value)]))
        for event in table.events
        if event.is_set and not table.spec.publish_members
        for value in event.values
    ]
    schema = {"event": pl.String, "value": pl.String, "count": pl.Int64}
    return pl.DataFrame(lines, schema=schema, orient="row")


def _ranges(table: Table, grouping: Grouping) -> pl.DataFrame | None:
    if grouping.form == "bucketized":
        return None
    parts = []
    for column, recoding in zip(table.qi, grouping.recodings, strict=True):
        used = np.unique(recoding.node)
        node, code = np.nonzero(recoding.members[used])
        labels = pl.Series([recoding.labels[n] for n in used], dtype=pl.String)
        parts.append(
            pl.DataFrame(
                {
                    "attribute": pl.Series([column.name] * len(node), dtype=pl.String),
                    "label": labels[node],
                    "value": pl.Series(list(column.labels), dtype=pl.String)[code],
                }
            )
        )
    return pl.concat(parts).unique().sort("attribute", "label", "value")
