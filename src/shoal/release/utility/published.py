"""Published: the tables of a release, coded for counting. All that a recipient has, no more.

The form says which people a query can tell apart: a unit is a signature or a whole group. What
does not depend on the query, the rows expected of each unit with each value, is added up once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from scipy import sparse

from shoal.arrays import Bools, Floats, IntArray, Ints
from shoal.data.spec import OTHER, Spec
from shoal.data.table import Column, code_column, digits, factorize
from shoal.engines import Runs
from shoal.errors import InputError
from shoal.groups import FormName
from shoal.groups.ragged import Counts
from shoal.release.forms import form_named
from shoal.release.utility.errors import Chances
from shoal.release.weights import line_weights

if TYPE_CHECKING:
    from shoal.release import Release

COUNT = "count"


@dataclass(frozen=True, eq=False)
class Published:
    """A release's tables as integers."""

    form: FormName
    columns: tuple[Column, ...]
    """The domain of each QI, as far as it is published."""
    values: tuple[str, ...]
    """The published values of the sensitive attribute; the pooled one among them, if any."""
    rows: int
    coded: IntArray
    """units x QIs: the codes of a unit's values, or the ranges of its group."""
    covers: tuple[Bools, ...]
    """Per QI, ranges x domain: what each range covers; empty where values are exact."""
    cells: Counts
    """The rows expected of each unit with each value."""
    totals: Ints
    """How often each value is published."""
    event_of: dict[str, str]
    """Each member value of a labelled set event, with that label."""
    member_share: dict[str, float]
    """The share of such a member value in its event, in the whole table."""
    in_event: Bools
    """Per published value, whether it belongs to an event."""
    chances: Chances
    """Who in a group has which value, for standard errors."""
    parts: tuple[tuple[str, ...], ...]
    """Per published value: what each sensitive column shows."""

    @classmethod
    def of(cls, release: Release) -> Published:
        qi, sensitive = same_groups(release)
        shown, _, parts, held = _held(release.spec, sensitive)
        event_of, member_share = _members(release.members)
        in_event = event_numbers(release.spec, shown.labels) >= 0
        case, told = _case_chances(release, qi, held, in_event)
        people = form_named(release.form).coded(release, qi, held, ~told)
        chances = Chances(
            people.line_unit, qi.group, qi.times, case, qi.copies, *_by_kind(held, in_event)
        )
        weighed = _by_weight(chances, qi, told, people.held.shape)
        expected = sparse.csr_array(people.held + weighed)
        expected.sort_indices()
        return cls(
            form=release.form,
            columns=people.columns,
            values=shown.labels,
            rows=qi.height,
            coded=people.units,
            covers=people.covers,
            cells=Counts(
                expected.indptr.astype(np.int64), expected.indices.astype(np.int32), expected.data
            ),
            totals=held.sum(axis=0).astype(np.int64),
            event_of=event_of,
            member_share=member_share,
            in_event=in_event,
            chances=chances,
            parts=parts,
        )

    def standing_for(self, each: Floats) -> Published:
        """This release with everybody counted as so many people, of each unit."""
        cells = self.cells
        return replace(self, cells=replace(cells, count=cells.count * each[cells.owner]))

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


def same_groups(release: Release, *, apart: bool = False) -> tuple[Runs, Runs]:
    """Both tables by the same groups; with `apart` every copy of one by itself. Copies may be taken
    for one group of as many times the people: its values are shared in the same way."""
    qi, sensitive = (runs.in_order() for runs in (release.qi_runs, release.sensitive_runs))
    if apart:
        qi = qi.split(qi.gids)
    if not np.array_equal(qi.first, sensitive.first):
        qi, sensitive = qi.split(sensitive.first), sensitive.split(qi.first)
    same = np.array_equal(qi.first, sensitive.first)
    if not (same and np.array_equal(qi.copies, sensitive.copies)):
        raise InputError(
            "release-groups",
            "The QI table and the sensitive table do not hold the same groups.",
            "`shoal verify` says what is wrong with a release.",
        )
    return qi, sensitive


def person_chances(release: Release, qi: Runs, sensitive: Runs) -> tuple[Floats, Bools]:
    """By the same groups: the chance of each line's people to have an event, and whether each line
    of the sensitive table is one."""
    shown, value, _, held = _held(release.spec, sensitive)
    in_event = event_numbers(release.spec, shown.labels) >= 0
    return _case_chances(release, qi, held, in_event)[0], in_event[value]


def _coded_values(
    spec: Spec, lines: pl.DataFrame
) -> tuple[Column, IntArray, tuple[tuple[str, ...], ...]]:
    """The published values, the code of each line, and what they are made of."""
    names = spec.sensitive_columns
    if len(names) == 1:
        shown, value = code_column(lines[names[0]])
        return shown, value, tuple((label,) for label in shown.labels)
    coded = [code_column(lines[name]) for name in names]
    sizes = [len(column) for column, _ in coded]
    value, keys = factorize([codes for _, codes in coded], sizes)
    parts = tuple(
        tuple(column.labels[code] for (column, _), code in zip(coded, row, strict=True))
        for row in digits(keys, sizes).tolist()
    )
    labels = tuple(" | ".join(row) for row in parts)
    name = " | ".join(names)
    return Column(name, pl.Series(labels), labels, False), value, parts


def event_numbers(spec: Spec, values: tuple[str, ...]) -> IntArray:
    """The number of the event that each published value belongs to, or -1; without any protected,
    each value is one."""
    if spec.protect is None:
        return np.arange(len(values), dtype=np.int32)
    number = {
        text: place
        for place, event in enumerate(spec.protect)
        for text in (event.label, *event.values)
    }
    return np.array([number.get(text, -1) for text in values], dtype=np.int32)


def _held(
    spec: Spec, sensitive: Runs
) -> tuple[Column, IntArray, tuple[tuple[str, ...], ...], sparse.csr_array]:
    """The published values, the code of each line, what they are made of, and how often each group
    has each."""
    shown, value, parts = _coded_values(spec, sensitive.lines)
    counts = (sensitive.lines[COUNT].to_numpy() * sensitive.weight).astype(np.float64)
    groups = len(sensitive.copies)
    start, code, count = Counts.of_lines(sensitive.group, value, counts, groups).arrays
    return shown, value, parts, sparse.csr_array((count, code, start), (groups, len(shown)))


def _case_chances(
    release: Release, qi: Runs, held: sparse.csr_array, in_event: Bools
) -> tuple[Floats, Bools]:
    """The chance of each line's people to have an event, and on which lines a weight tells it: the
    weights of a group, which are rounded, are scaled to be its cases. In the generalized form
    nobody in a group is told from others, and all count equally."""
    group = qi.group
    cases = (held @ in_event.astype(np.float64)) / qi.copies
    equal = (cases / qi.sizes)[group]
    if release.weight is None or release.form == "generalized":
        return equal, np.zeros(len(group), bool)
    weight = line_weights(qi, release.weight)
    total = np.bincount(group, qi.times * weight, len(cases))
    told = (total > 0)[group]
    scaled = weight * (cases / np.where(total > 0, total, 1.0))[group]
    return np.where(told, np.minimum(scaled, 1.0), equal), told


def _by_kind(held: sparse.csr_array, in_event: Bools) -> tuple[sparse.csr_array, sparse.csr_array]:
    """groups x values, of events and of no event: which part of a group's values of the kind each
    is."""
    parts = []
    for kind in (in_event, ~in_event):
        mine = sparse.csr_array(held @ sparse.diags_array(kind.astype(np.float64)))
        total = mine.sum(axis=1)
        scale = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)
        parts.append(sparse.csr_array(sparse.diags_array(scale) @ mine))
    return parts[0], parts[1]


def _by_weight(chances: Chances, qi: Runs, told: Bools, shape: tuple[int, int]) -> sparse.csr_array:
    """units x values: the rows expected of people whose weights are told."""
    lines = np.flatnonzero(told)
    group, unit = chances.group[lines], chances.unit[lines]
    groups = (shape[0], len(chances.copies))

    def by_group(amount: Floats) -> sparse.csr_array:
        return sparse.csr_array((amount, (unit, group)), shape=groups)

    people, case = qi.weight[lines].astype(np.float64), chances.case[lines]
    expected = by_group(people * case) @ chances.cases
    return sparse.csr_array(expected + by_group(people * (1.0 - case)) @ chances.others)


def _members(members: pl.DataFrame) -> tuple[dict[str, str], dict[str, float]]:
    """The event of each value behind a label, and its share there."""
    event_of: dict[str, str] = {}
    share: dict[str, float] = {}
    for (label,), lines in members.group_by("event", maintain_order=True):
        total = int(lines[COUNT].sum())
        for value, count in lines.select("value", COUNT).iter_rows():
            event_of[value] = str(label)
            share[value] = count / total if total else 1 / lines.height
    return event_of, share
