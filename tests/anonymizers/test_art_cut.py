"""Cutting people into cells, and dealing carriers out to them: nobody is lost, chance decides."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from shoal.anonymizers.art.kernels.cut import cut
from shoal.anonymizers.art.seeds import Seeds

SEEDS = range(25)


def some_people(seed: int) -> tuple[Any, Any, Any]:
    """Places, numbers and noise of kinds; in some cases most kinds are in one place."""
    rng = np.random.default_rng(seed)
    kinds = int(rng.integers(1, 60))
    place = rng.standard_normal((kinds, 4)).astype(np.float32)
    if seed % 3 == 0:
        place = np.round(place / 3) * np.float32([1.0, 0.83, 0.61, 0.37])  # no two equally wide
    people = rng.integers(0, [3, 12, 200][seed % 3], kinds)
    return place, people, rng.random(kinds, np.float32) * np.float32(1e-3)


def slow_cut(place: Any, people: Any, noise: Any, smallest: int) -> list[Counter[int]]:
    """The same cells, person by person: halves along the widest feature, the last half first."""
    everybody = np.repeat(np.arange(len(people)), people)
    if len(everybody) < 2 * smallest:
        return [Counter(everybody.tolist())] if len(everybody) else []
    parts, cells = [everybody], list[Counter[int]]()
    while parts:
        part = parts.pop()
        if len(part) < 2 * smallest:
            cells.append(Counter(part.tolist()))
            continue
        spread = place[part].astype(np.float64).var(axis=0)
        widest = int(np.argmax(spread))
        part = part[np.argsort((place[:, widest] + noise)[part], kind="stable")]
        many = len(part) // smallest
        at = len(part) * (many // 2) // many
        parts += [part[:at], part[at:]]
    return cells


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("smallest", [1, 3, 8, 20])
def test_everybody_is_in_one_cell_of_the_right_size(seed: int, smallest: int) -> None:
    place, people, noise = some_people(seed)
    cell, kind, number = cut(place, people, noise, smallest)
    assert np.bincount(kind, number, len(people)).tolist() == people.tolist()
    assert (number > 0).all()
    assert len(set(zip(cell.tolist(), kind.tolist(), strict=True))) == len(cell)
    assert (np.diff(cell) >= 0).all()
    sizes = np.bincount(cell, number)
    if people.sum() >= smallest:
        assert sizes.min() >= smallest
    assert len(sizes) <= 1 or sizes.max() < 2 * smallest


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("smallest", [3, 8])
def test_the_cells_are_those_of_the_slow_twin(seed: int, smallest: int) -> None:
    place, people, noise = some_people(seed)
    cell, kind, number = cut(place, people, noise, smallest)
    found = [Counter[int]() for _ in range(cell.max(initial=-1) + 1)]
    for c, k, n in zip(cell, kind, number, strict=True):
        found[c][int(k)] += int(n)
    assert found == slow_cut(place, people, noise, smallest)


def test_the_same_noise_cuts_the_same_cells_and_other_noise_others() -> None:
    place, people, noise = some_people(3)
    one, two, other = (cut(place, people, n, 4) for n in (noise, noise.copy(), noise[::-1].copy()))
    assert [a.tolist() for a in one] == [a.tolist() for a in two]
    assert [a.tolist() for a in one] != [a.tolist() for a in other]


def dealt(seed: int, random: int) -> tuple[Seeds, Any, Any, Any, Any]:
    place, people, noise = some_people(seed)
    cells = cut(place, people, noise, 4)
    carrying = np.random.default_rng(seed).binomial(people, 0.1)
    return (
        Seeds.dealt(*cells, carrying, np.ones(len(carrying)), np.random.default_rng(random)),
        *cells,
        carrying,
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_cells_with_a_carrier_are_dealt_whole(seed: int) -> None:
    seeds, cell, kind, number, carrying = dealt(seed, 1)
    found = np.bincount(seeds.kind[seeds.carries], minlength=len(carrying))
    assert found.tolist() == carrying.tolist()
    assert (seeds.carriers > 0).all()
    assert seeds.carriers.sum() == carrying.sum()
    assert len(seeds.start) == len(seeds) + 1
    whole = Counter[Any]()
    for c in range(cell.max(initial=-1) + 1):
        mine = cell == c
        whole[tuple(np.repeat(kind[mine], number[mine]))] += 1
    for i in range(len(seeds)):
        members = tuple(seeds.kind[seeds.start[i] : seeds.start[i + 1]])
        assert whole[members] > 0
        whole[members] -= 1


def test_who_of_a_kind_carries_is_chance() -> None:
    """Five people of one kind in two cells, two of whom carry: each pair is as likely as any."""
    cell, kind, number = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 2]), np.array([2, 3, 3, 2])
    carrying = np.array([2, 0, 1])
    random, times = np.random.default_rng(0), 6000
    seen = Counter[tuple[int, int]]()
    for _ in range(times):
        seeds = Seeds.dealt(cell, kind, number, carrying, np.ones(len(carrying)), random)
        mine = seeds.carries & (seeds.kind == 0)
        in_first = int(mine[seeds.cell == 0].sum()) if 1 in seeds.kind else 0
        seen[in_first, int(mine.sum()) - in_first] += 1
    pairs = Counter(
        (sum(who < 2 for who in pair), sum(who >= 2 for who in pair))
        for pair in combinations(range(5), 2)
    )
    for split, ways in pairs.items():
        share = ways / 10
        spread = (share * (1 - share) / times) ** 0.5
        assert seen[split] / times == pytest.approx(share, abs=4 * spread)
    assert seen.total() == times


@pytest.mark.parametrize("seed", SEEDS)
def test_parts_have_one_carrier_each_and_everybody(seed: int) -> None:
    seeds, *_ = dealt(seed, 2)
    parts = seeds.parted(np.random.default_rng(5))
    assert parts.carriers.tolist() == [1] * int(seeds.carriers.sum())
    first = 0
    for i, carriers in enumerate(seeds.carriers):
        whole = seeds.kind[seeds.start[i] : seeds.start[i + 1]]
        mine = slice(parts.start[first], parts.start[first + carriers])
        assert sorted(parts.kind[mine]) == sorted(whole)
        sizes = np.diff(parts.start[first : first + carriers + 1])
        assert sizes.max() - sizes.min() <= 1
        first += carriers
    assert first == len(parts)


@pytest.mark.parametrize("seed", SEEDS)
def test_some_cells_in_another_order(seed: int) -> None:
    seeds, *_ = dealt(seed, 3)
    people = [
        list(zip(seeds.kind[a:b], seeds.carries[a:b], strict=True))
        for a, b in zip(seeds.start[:-1], seeds.start[1:], strict=True)
    ]
    order = np.random.default_rng(seed).permutation(len(seeds))
    which = np.random.default_rng(seed).random(len(seeds)) < 0.5
    for made, expected in (
        (seeds.ordered(order), [people[i] for i in order]),
        (seeds.some(which), [people[i] for i in np.flatnonzero(which)]),
    ):
        found = [
            list(zip(made.kind[a:b], made.carries[a:b], strict=True))
            for a, b in zip(made.start[:-1], made.start[1:], strict=True)
        ]
        assert found == expected
        kernel = made.for_kernel()
        assert kernel.carriers.tolist() == [sum(c for _, c in cell) for cell in expected]


@pytest.mark.parametrize("seed", range(20))
def test_cells_with_too_many_carriers_are_joined_to_the_next(seed: int) -> None:
    """Everybody in one cell still; a cell has room for its carriers, or is of several."""
    rng = np.random.default_rng(seed)
    people = rng.integers(1, 6, 40)
    carrying = rng.binomial(people, 0.3)
    cells = cut(rng.standard_normal((40, 3)).astype(np.float32), people, noise_of(40), 4)
    apart = Seeds.dealt(*cells, carrying, np.ones(40), np.random.default_rng(1))
    wide = Seeds.dealt(*cells, carrying, np.full(40, 0.25), np.random.default_rng(1))
    assert apart.carries.sum() == wide.carries.sum() == carrying.sum()
    assert len(wide) <= len(apart)
    sizes = np.bincount(wide.cell)
    narrow = sizes * 0.25 < wide.carriers
    assert (sizes[narrow] >= 4 * 4).sum() >= narrow.sum() - 1, "only the last may end narrow"


def noise_of(kinds: int) -> Any:
    return np.zeros(kinds, np.float32)
