"""Published: the tables of a release, coded for counting. All that a recipient has, no more.

In the bucketized form a group answers a query with (values asked for) x (share of its tuples that
match). Summed over groups, that is a count over expected cells: a group of N tuples, n of them
with signature s, that publishes c times value v adds n c / N rows to the cell (s, v). The cells do
not depend on the query, so that they are added up once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from shoal.errors import InputError
from shoal.grouping import Form
from shoal.grouping.partition import OTHER
from shoal.spec import MISSING
from shoal.table import Column, IntArray, code_column, factorize

if TYPE_CHECKING:
    from shoal.release import Release

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
GID, COUNT = "gid", "count"


@dataclass(frozen=True, eq=False)
class Cells:
    """Rows per unit and value; the values of unit i are `start[i]` to `start[i+1]`."""

    start: Ints
    value: IntArray
    rows: Floats

    @classmethod
    def of(cls, matrix: sparse.csr_array) -> Cells:
        matrix.sort_indices()
        return cls(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data)

    def matrix(self, values: int) -> sparse.csr_array:
        """units x values."""
        shape = (len(self.start) - 1, values)
        return sparse.csr_array((self.rows, self.value, self.start), shape=shape)


@dataclass(frozen=True, eq=False)
class Published:
    """A release's tables as integers."""

    form: Form
    columns: tuple[Column, ...]
    """The domain of each QI, as far as it is published."""
    values: tuple[str, ...]
    """The published values of the sensitive attribute; the pooled one among them, if any."""
    rows: int
    coded: IntArray
    """Bucketized: a signature's QI codes. Generalized: a class's range per QI."""
    covers: tuple[NDArray[np.bool_], ...]
    """Generalized, per QI: ranges x domain, what each range covers."""
    cells: Cells
    """The rows expected of each signature (or class) with each value."""
    totals: Ints
    """How often each value is published."""
    event_of: dict[str, str]
    """Each member value of a labelled set event, with that label."""
    member_share: dict[str, float]
    """The share of such a member value in its event, in the whole table."""
    in_event: NDArray[np.bool_]
    """Per published value, whether it belongs to an event."""

    @classmethod
    def of(cls, release: Release) -> Published:
        name = release.spec.sensitive
        shown, value = code_column(release.sensitive[name])
        gids = np.unique(release.qi[GID].to_numpy())
        group = np.searchsorted(gids, release.qi[GID].to_numpy()).astype(np.int32)
        of_value = release.sensitive[GID].to_numpy()
        owner = np.minimum(np.searchsorted(gids, of_value), len(gids) - 1)
        if not np.array_equal(gids[owner], of_value) or len(np.unique(owner)) < len(gids):
            raise InputError(
                "release-groups",
                "The QI table and the sensitive table do not hold the same groups.",
                "`shoal verify` says what is wrong with a release.",
            )
        counts = release.sensitive[COUNT].to_numpy().astype(np.float64)
        held = _by_group(owner, value, counts, (len(gids), len(shown)))
        event_of, member_share = _members(release.members)
        protected = {
            text for event in release.spec.protect or () for text in (event.label, *event.values)
        }
        everything = release.spec.protect is None
        covers: tuple[NDArray[np.bool_], ...] = ()
        if release.form == "generalized":
            columns, coded, covers = _ranges(release, group, len(gids))
        else:
            columns, coded, held = _signatures(release, group, held)
        return cls(
            form=release.form,
            columns=columns,
            values=shown.labels,
            rows=release.qi.height,
            coded=coded,
            covers=covers,
            cells=Cells.of(held),
            totals=np.bincount(value, weights=counts, minlength=len(shown)).astype(np.int64),
            event_of=event_of,
            member_share=member_share,
            in_event=np.array([everything or text in protected for text in shown.labels]),
        )

    def value_shares(self, labels: tuple[str, ...]) -> Floats:
        """published values x labels: which part of a published value stands for a true value.

        A value stands for itself; an event's label for its members, by their table-wide shares;
        the pooled value for the values outside every event, in proportion to how often those are
        published openly elsewhere in the release (evenly, if none is).
        """
        shares = np.zeros((len(self.values), len(labels)))
        position = {text: v for v, text in enumerate(self.values)}
        for column, label in enumerate(labels):
            if label in position:
                shares[position[label], column] = 1.0
            elif self.event_of.get(label) in position:
                shares[position[self.event_of[label]], column] = self.member_share[label]
        if OTHER in position and OTHER not in labels:
            shares[position[OTHER]] = self._pooled_shares(labels, position)
        return shares

    def _pooled_shares(self, labels: tuple[str, ...], position: dict[str, int]) -> Floats:
        open_ = ~self.in_event
        open_[position[OTHER]] = False
        total = int(self.totals[open_].sum())
        if total:
            return np.array(
                [
                    self.totals[position[label]] / total
                    if label in position and open_[position[label]]
                    else 0.0
                    for label in labels
                ]
            )
        hidden = np.array(
            [label not in position and label not in self.event_of for label in labels]
        )
        return np.asarray(hidden / max(1, hidden.sum()))


def _by_group(
    owner: Ints, value: IntArray, counts: Floats, shape: tuple[int, int]
) -> sparse.csr_array:
    """groups x values."""
    order = np.argsort(owner, kind="stable")
    start = np.searchsorted(owner, np.arange(shape[0] + 1), sorter=order).astype(np.int32)
    held = sparse.csr_array((counts[order], value[order], start), shape=shape)
    held.sum_duplicates()
    return held


def _members(members: pl.DataFrame) -> tuple[dict[str, str], dict[str, float]]:
    event_of: dict[str, str] = {}
    share: dict[str, float] = {}
    for (label,), lines in members.group_by("event", maintain_order=True):
        total = int(lines[COUNT].sum())
        for value, count in lines.select("value", COUNT).iter_rows():
            event_of[value] = str(label)
            share[value] = count / total if total else 1 / lines.height
    return event_of, share


def _signatures(
    release: Release, group: IntArray, held: sparse.csr_array
) -> tuple[tuple[Column, ...], IntArray, sparse.csr_array]:
    """Domains, the signatures that are published, and the values expected of each."""
    coded = [code_column(release.qi[qi]) for qi in release.spec.qi]
    codes = [of_row for _, of_row in coded]
    columns = tuple(column for column, _ in coded)
    row_signature, keys = factorize(codes, [len(column) for column in columns])
    first = np.unique(row_signature, return_index=True)[1]
    signatures = np.stack([of_row[first] for of_row in codes], axis=1).astype(np.int32)
    # Most groups have one value: their rows are counted, so that these cells are whole numbers.
    plain = np.diff(held.indptr) == 1
    shape, size = (len(keys), held.shape[1]), np.bincount(group)
    rows = np.flatnonzero(plain[group])
    value = held.indices[held.indptr[group[rows]]]
    cell, cells = factorize([row_signature[rows], value], list(shape))
    counted = sparse.csr_array(
        (np.bincount(cell).astype(np.float64), np.divmod(cells, shape[1])), shape=shape
    )
    rows = np.flatnonzero(~plain[group])
    inside = (1.0 / size[group[rows]], (row_signature[rows], group[rows]))
    mixed = sparse.csr_array(inside, shape=(len(keys), len(size))) @ held
    return columns, signatures, sparse.csr_array(counted + mixed)


def _ranges(
    release: Release, group: IntArray, groups: int
) -> tuple[tuple[Column, ...], IntArray, tuple[NDArray[np.bool_], ...]]:
    """Domains, the range of each class in each QI, and what each range covers."""
    if release.ranges is None:
        raise InputError(
            "release-ranges",
            "The release is generalized and has no table of ranges.",
            "`shoal verify` says what is wrong with a release.",
        )
    columns, covers = [], []
    coded = np.empty((groups, len(release.spec.qi)), dtype=np.int32)
    for position, qi in enumerate(release.spec.qi):
        lines = release.ranges.filter(pl.col("attribute") == qi)
        domain, value = code_column(_typed(lines["value"]).alias(qi))
        shown, node = code_column(lines["label"])
        covered = np.zeros((len(shown), len(domain)), dtype=bool)
        covered[node, value] = True
        number = {label: code for code, label in enumerate(shown.labels)}
        labels, of_row = code_column(release.qi[qi].cast(pl.String))
        try:
            known = np.array([number[label] for label in labels.labels], dtype=np.int32)
        except KeyError as error:
            raise InputError(
                "release-ranges",
                f'The table of ranges does not say what "{error.args[0]}" of "{qi}" covers.',
                "`shoal verify` says what is wrong with a release.",
            ) from None
        coded[group, position] = known[of_row]
        columns.append(domain)
        covers.append(covered)
    return tuple(columns), coded, tuple(covers)


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
