"""Groups of several events: the exact check against every world written down, and the search."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest

from shoal.auditing.audit import audit
from shoal.data.datasets import HOSPITAL_QI, HOSPITAL_SENSITIVE, hospital
from shoal.data.spec import Event, Spec
from shoal.data.table import Table
from shoal.methods.art import Art
from shoal.methods.art.kernels.absorbing import Whereabouts, absorb
from shoal.methods.art.kernels.mixed import Known, excess
from shoal.methods.art.kernels.mixing import (
    MixedGroups,
    Places,
    add_swaps,
    grow,
    nearest,
    pack_alike,
)
from tests.dealing import row_groups
from tests.oracle.worlds import binary_posterior, joint_posterior

COMMON = ("Hypertension", "Back pain", "Heart disease", "Influenza", "Fracture")
"""More than half of the hospital's patients: there is not enough filler for all of them."""
READERS = [("joint",), ("binary",), ("joint", "binary")]


def known_of(
    views: list[list[list[float]]], cells: list[tuple[int, int]], event: list[int], r: list[float]
) -> Known:
    """`views[w][s]` is the distribution of signature s; cells are (signature, value)."""
    signatures, width = len(views[0]), len(views[0][0])
    rows = np.array(views).reshape(-1, width)
    chances = np.array([[row[np.array(event) == e].sum() for e in range(len(r))] for row in rows])
    at = np.arange(len(views))[None] * signatures + np.arange(signatures)[:, None]
    return Known(
        np.array([s for s, _ in cells]),
        np.array([v for _, v in cells]),
        np.ascontiguousarray(at, np.int32),
        rows,
        np.array(event),
        chances,
        np.array(r),
        True,
        False,
        False,
        256,
        np.arange(len(views)),
    )


def is_safe(group: np.ndarray[Any, Any], size: int, known: Known) -> bool:
    return excess(group, size, known, np.inf) == 0.0


def asking(known: Known, readers: tuple[str, ...], limit: str) -> Known:
    """The same for other readers and another limit."""
    return known._replace(
        joint="joint" in readers, binary="binary" in readers, prior=limit == "prior"
    )


def random_known(rng: np.random.Generator, event: list[int], r: list[float]) -> Known:
    """Two views of five signatures that differ a little, every (signature, value) a cell."""
    views = rng.uniform(0.6, 1.4, (2, 5, len(event)))
    views[0] = views[0, rng.integers(0, 5, 5)]
    views /= views.sum(axis=2, keepdims=True)
    cells = [(s, v) for s in range(5) for v in range(len(event))]
    return known_of(views.tolist(), cells, event, r)


def slow_links(rows: list[list[Fraction]], held: list[int], known: Known, e: int) -> list[Any]:
    """Everybody's posterior of one event, from every possible world, as the readers have it."""
    mine = np.flatnonzero(known.event == e)
    together = sum(value in mine for value in held)
    found = []
    if known.joint:
        found.append([sum(one[v] for v in mine) for one in joint_posterior(rows, held)])
    if known.binary and together:
        found.append(binary_posterior([sum(row[v] for v in mine) for row in rows], together))
    return [max(links) for links in zip(*found, strict=True)]


def slow_excess(group: list[int], known: Known) -> Fraction:
    """The sum over views of max(0, worst link - 1), a link being a posterior over its limit."""
    total, held = Fraction(0), [int(known.value[c]) for c in group]
    for w in range(known.at.shape[1]):
        rows = [
            [Fraction(float(p)) for p in known.rows[known.at[known.signature[c], w]]] for c in group
        ]
        worst = Fraction(0)
        for e in range(len(known.r)):
            for row, linked in zip(rows, slow_links(rows, held, known, e), strict=False):
                limit = 1 / Fraction(float(known.r[e]))
                if known.prior:
                    limit = max(limit, sum(row[v] for v in np.flatnonzero(known.event == e)))
                worst = max(worst, linked / limit)
        total += max(Fraction(0), worst - 1)
    return total


def rounding(known: Known) -> float:
    """An event's probability, which the honest limit is, is a rounded sum."""
    return 1e-15 if known.prior else 0.0


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("readers", READERS)
@pytest.mark.parametrize("limit", ["absolute", "prior"])
def test_excess_is_that_of_all_worlds(seed: int, readers: tuple[str, ...], limit: str) -> None:
    rng = np.random.default_rng(seed)
    event, r = [
        ([0, 1, 2, 3], [2.0, 2.0, 3.0, 1.5]),
        ([0, 0, 1, -1], [1.7, 2.0]),
        ([0, 0, 1, -1], [4.0, 6.0]),
    ][seed % 3]
    known = asking(random_known(rng, event, r), readers, limit)
    group = rng.integers(0, len(known.value), rng.integers(2, 7))
    true = slow_excess(group.tolist(), known)
    found = excess(group, len(group), known, np.inf)
    assert found == pytest.approx(float(true), abs=1e-9)
    assert found > 0 or true <= rounding(known)
    if found > 0:
        assert excess(group, len(group), known, found) == np.inf
    assert sorted(known.order) == [0, 1]


def test_like_tuples_are_judged_in_whole_numbers() -> None:
    """Three alike at r = 3 are exactly at the limit; two at r = 2 that differ are not alike."""
    rows = [[0.2, 0.3, 0.5], [0.2, 0.3, 0.5], [0.3, 0.2, 0.5]]
    known = known_of([rows], [(0, 0), (1, 1), (1, 2), (2, 1)], [0, 1, 2], [3.0, 3.0, 3.0])
    assert is_safe(np.array([0, 1, 2]), 3, known)
    assert not is_safe(np.array([0, 1]), 2, known)
    pair = known._replace(r=np.full(3, 2.0))
    assert is_safe(np.array([0, 1]), 2, pair)
    assert not is_safe(np.array([0, 3]), 2, pair)


@pytest.mark.parametrize("readers", READERS)
def test_like_tuples_may_tell_what_was_known_of_them(readers: tuple[str, ...]) -> None:
    """Under the honest limit, whatever the rounding of one over a share."""
    for people in range(2, 16):
        for carriers in range(1, people):
            rows = [[carriers / people, 1 - carriers / people]]
            known = known_of([rows], [(0, 0), (0, 1)], [0, -1], [60.0])
            known = asking(known, readers, "prior")
            group = np.repeat([0, 1], [carriers, people - carriers])
            assert is_safe(group, people, known)
            assert not is_safe(group, people - 1, known)


def test_what_cannot_be_told_is_not_safe() -> None:
    """No world has any weight, or there are too many states."""
    impossible = known_of([[[0.0, 1.0], [0.0, 1.0]]], [(0, 0), (1, 1)], [0, 1], [2.0, 2.0])
    assert excess(np.array([0, 1]), 2, impossible, np.inf) == np.inf
    kinds = 10
    many = known_of(
        [[[1 / kinds] * kinds]], [(0, v) for v in range(kinds)], list(range(kinds)), [2.0] * kinds
    )
    assert excess(np.arange(kinds), kinds, many, np.inf) == np.inf
    assert is_safe(np.arange(kinds - 1), kinds - 1, many)
    assert is_safe(np.arange(kinds), kinds, many._replace(most_states=512))


def test_swaps_are_ratios_of_worlds() -> None:
    known = random_known(np.random.default_rng(0), [0, 1, 1, -1], [2.0, 2.0])
    for a, b in ((0, 5), (0, 7), (5, 6), (1, 2), (4, 12), (3, 19)):
        found = np.zeros(2, np.float32)
        add_swaps(a, b, known, found)
        x, y = known.value[a], known.value[b]
        for w in range(2):
            mine, theirs = (known.rows[known.at[known.signature[c], w]] for c in (a, b))
            hides = x != y and not known.event[x] == known.event[y] >= 0
            true = mine[y] * theirs[x] / (mine[x] * theirs[y]) if hides else 0.0
            assert found[w] == pytest.approx(true, rel=1e-5)


def test_nearest_are_the_nearest() -> None:
    place = np.random.default_rng(3).standard_normal((50, 4)).astype(np.float32)
    for s, length in ((0, 7), (49, 50), (20, 80), (5, 1)):
        distance = ((place - place[s]) ** 2).sum(axis=1)
        expected = np.argsort(distance, kind="stable")[:length]
        assert nearest(place, s, length).tolist() == expected.tolist()


def searched(
    seed: int, event: list[int], r: list[float], readers: tuple[str, ...], limit: str
) -> tuple[Known, MixedGroups, Places]:
    rng = np.random.default_rng(seed)
    known = asking(random_known(rng, event, r), readers, limit)
    free = rng.integers(0, 4, len(known.value))
    groups = MixedGroups(free, np.zeros((80, 12), np.int64), np.zeros(80, np.int64))
    place = rng.standard_normal((5, 3)).astype(np.float32)
    return known, groups, Places(place, np.arange(6) * len(event))


def check(known: Known, groups: MixedGroups, made: int, rows: np.ndarray[Any, Any]) -> None:
    """Every group is safe, and every row is free or in one group."""
    used = np.zeros(len(rows), np.int64)
    for g in range(made):
        group = groups.members[g, : groups.sizes[g]]
        np.add.at(used, group, 1)
        if len(group) and len(group) <= 7:
            assert slow_excess(group.tolist(), known) <= rounding(known)
        assert not len(group) or is_safe(group, len(group), known)
    assert (groups.free >= 0).all()
    assert (used + groups.free == rows).all()


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(
    ("readers", "limit"),
    [(("joint",), "absolute"), (("joint", "binary"), "absolute"), (("joint", "binary"), "prior")],
)
def test_what_the_search_makes_is_safe_and_loses_nobody(
    seed: int, readers: tuple[str, ...], limit: str
) -> None:
    event, r = [([0, 1, 2, 3, 4], [2.0, 2.5, 2.0, 1.5, 3.0]), ([0, 0, 1, 2, -1], [2.0] * 3)][
        seed % 2
    ]
    known, groups, places = searched(seed, event, r, readers, limit)
    rows = groups.free.copy()
    kinds = np.unique(known.at, axis=0, return_inverse=True)[1].reshape(-1)[known.signature]
    cells = np.argsort(kinds, kind="stable")
    start = np.searchsorted(kinds[cells], np.arange(kinds.max() + 2))
    starts = np.flatnonzero(known.event[known.value] >= 0)
    left = np.bincount(known.value, groups.free).astype(np.int64)
    made = pack_alike(0, start, cells, known, groups, 0, left)
    check(known, groups, made, rows)
    made = grow(starts, known, places, groups, made, 5, 100, 6, 10)
    check(known, groups, made, rows)
    at = [
        known.signature[groups.members[g, j]] for g in range(made) for j in range(groups.sizes[g])
    ]
    owner = np.repeat(np.arange(made), groups.sizes[:made])
    by_signature = np.argsort(at, kind="stable")
    where = Whereabouts(
        np.searchsorted(np.sort(at), np.arange(6)),
        owner[by_signature],
        np.arange(80),
        np.zeros(81, np.int64),
    )
    waiting = groups.free[starts].sum()
    made = absorb(starts, known, places, groups, where, made, 5, 100, 12, 10, 4)
    check(known, groups, made, rows)
    assert groups.free[starts].sum() <= waiting


def most_packed(counts: list[int], r: int) -> int:
    """The largest number of rows of one class that groups of r different values can hold."""
    return max(n for n in range(0, sum(counts) + 1, r) if sum(min(c, n // r) for c in counts) >= n)


@pytest.mark.parametrize("r", [2, 3, 5, 7])
@pytest.mark.parametrize("seed", range(5))
def test_a_class_is_packed_as_far_as_counts_allow(seed: int, r: int) -> None:
    """At least: a group may take in what is left over."""
    counts = np.random.default_rng(seed).integers(1, 30, 9).tolist()
    values = [value for value, count in zip("abcdefghi", counts, strict=True) for _ in range(count)]
    frame = pl.DataFrame({"q": ["same"] * len(values), "v": values})
    table = Table.from_frame(frame, Spec(qi=("q",), sensitive="v", r=r))
    grouping = Art(max_suppression=1).anonymize(table)
    assert table.rows - (table.rows - grouping.published) >= most_packed(counts, r)
    assert audit(table, grouping).by_adversary["joint"].robust is True


@pytest.mark.parametrize(
    ("changes", "most_lost"),
    [
        ({"r": 1.5}, 0.0),
        ({"r": 2}, 0.0),
        ({"r": 3}, 0.005),
        ({"r": 9, "qi": ("sex",)}, 0.16),
        ({"r": 2, "protect": tuple(Event((value,)) for value in COMMON)}, 0.0),
    ],
    ids=["1.5", "2", "3", "9", "with filler"],
)
def test_hospital_with_many_events(changes: Any, most_lost: float) -> None:
    given = {"qi": HOSPITAL_QI[:3], "sensitive": HOSPITAL_SENSITIVE, "protect": None}
    table = Table.from_frame(hospital(4000, 4), Spec(**(given | changes)))
    grouping = Art(max_suppression=1).anonymize(table, seed=1)
    found = audit(table, grouping, adversary=["joint", "binary"])
    assert all(one.robust for one in found.by_adversary.values())
    assert found.exact_share == 1
    assert (table.rows - grouping.published) <= most_lost * table.rows
    again = Art(max_suppression=1).anonymize(table, seed=1)
    assert (row_groups(table, again) == row_groups(table, grouping)).all()
