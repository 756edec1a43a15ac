"""Cutting people into cells, and dealing carriers out to them: nobody is lost, chance decides."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, groupby
from typing import Any

import numpy as np
import pytest

from shoal.methods.art.kernels.cut import cut
from shoal.methods.art.kernels.deal import JOINED
from shoal.methods.art.seeds import Seeds

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


def cut_apart(place: Any, people: Any, noise: Any, smallest: int) -> tuple[Any, Any, Any]:
    """The cell, kind and number of people of each entry, every cell by itself."""
    cell, kind, number, times = cut(place, people, noise, smallest)
    cells = np.zeros(cell.max(initial=-1) + 1, np.int64)
    cells[cell] = times
    each = np.repeat(np.arange(len(cell)), times)
    within = np.arange(len(each)) - np.repeat(np.cumsum(times) - times, times)
    return (np.cumsum(cells) - cells)[cell[each]] + within, kind[each], number[each]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("smallest", [1, 3, 8, 20])
def test_everybody_is_in_one_cell_of_the_right_size(seed: int, smallest: int) -> None:
    place, people, noise = some_people(seed)
    cell, kind, number = cut_apart(place, people, noise, smallest)
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
    cell, kind, number = cut_apart(place, people, noise, smallest)
    found = [Counter[int]() for _ in range(cell.max(initial=-1) + 1)]
    for c, k, n in zip(cell, kind, number, strict=True):
        found[c][int(k)] += int(n)
    # Alike cells, which people of one kind are cut into, may come in another order.
    assert sorted_runs(found) == sorted_runs(slow_cut(place, people, noise, smallest))


def sorted_runs(cells: list[Counter[int]]) -> list[list[tuple[int, int]]]:
    """The cells with neighbours of the same one kind in the order of their sizes."""
    told = [sorted(cell.items()) for cell in cells]
    runs = [list(run) for _, run in groupby(told, lambda one: one[0][0] if len(one) == 1 else one)]
    return [cell for run in runs for cell in sorted(run)]


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
        *cut_apart(place, people, noise, 4),
        carrying,
    )


def contents(seeds: Seeds) -> list[tuple[tuple[int, int, int], ...]]:
    """The kind, people and carriers of the entries of each cell, each of those that are alike."""
    entries = list(zip(seeds.kind, seeds.people, seeds.carrying, strict=True))
    return [
        tuple((int(kind), int(people), int(carrying)) for kind, people, carrying in entries[a:b])
        for a, b, copies in zip(seeds.start[:-1], seeds.start[1:], seeds.copies, strict=True)
        for _ in range(copies)
    ]


@pytest.mark.parametrize("seed", SEEDS)
def test_cells_with_a_carrier_are_dealt_whole(seed: int) -> None:
    seeds, cell, kind, number, carrying = dealt(seed, 1)
    found = np.bincount(
        seeds.kind, seeds.carrying * seeds.copies[seeds.cell], minlength=len(carrying)
    )
    assert found.tolist() == carrying.tolist()
    assert (seeds.carrying <= seeds.people).all()
    assert (seeds.carriers > 0).all()
    assert len(seeds.start) == len(seeds) + 1
    whole = Counter[Any]()
    for c in range(cell.max(initial=-1) + 1):
        mine = cell == c
        whole[tuple(zip(kind[mine], number[mine], strict=True))] += 1
    for one in contents(seeds):
        cell_of = tuple((kind, people) for kind, people, _ in one)
        assert whole[cell_of] > 0
        whole[cell_of] -= 1


def slow_deal(cells: Any, runs: Any, carrying: Any, share: Any, rng: Any) -> Counter[Any]:
    """Person by person: who of a kind carries is drawn. `runs` are the cells that are alike; of the
    others, blocks are joined, from the smallest up."""
    cell, kind, number = cells
    person = np.repeat(np.arange(len(kind)), number)
    carries = np.zeros(len(person), bool)
    for k, count in enumerate(carrying):
        carries[rng.choice(np.flatnonzero(kind[person] == k), count, replace=False)] = True

    def people(of: Any) -> Any:
        return np.flatnonzero(np.isin(cell[person], of))

    def held(of: Any) -> int:
        return int(carries[people(of)].sum())

    def over(of: Any) -> bool:
        return bool(held(of) > share[kind[person[people(of)]]].sum())

    def block(of: list[Any]) -> tuple[list[list[int]], bool]:
        """The units that cells (or runs) side by side become, and whether they are one too rich."""
        if len(of) == 1:
            return [of[0]], len(of[0]) == 1 and over(of[0])
        half = 1 << ((len(of) - 1).bit_length() - 1)
        (left, first), (right, last) = block(of[:half]), block(of[half:])
        if (first or last) and all(len(one) == 1 for one in of):
            together = [c for one in of for c in one]
            return [together], over(together)
        return left + right, False

    units = []
    for first in range(0, len(runs), JOINED):
        units += block(runs[first : first + JOINED])[0]
    made = []
    alike = {tuple(run) for run in runs if len(run) > 1}
    for unit in units:
        if tuple(unit) not in alike:
            made.append(unit)
            continue
        seeds, now = [], []
        for c in unit:
            if not now and not held([c]):
                continue
            now.append(c)
            if not over(now) or len(now) == JOINED:
                seeds, now = [*seeds, now], []
        while now and over(now) and seeds:
            poorest = min(seeds, key=lambda one: held(one) / len(people(one)))
            seeds.remove(poorest)
            now = now + poorest
        made += [*seeds, now] if now else seeds
    return Counter(
        tuple(
            sorted(
                Counter(zip(kind[person[who]].tolist(), carries[who].tolist(), strict=True)).items()
            )
        )
        for who in map(people, made)
        if carries[who].any()
    )


CUTS = {
    "runs": ([0, 0, 1, 2, 3, 3], [0, 1, 1, 1, 1, 2], [3, 2, 4, 5, 2, 3], [1, 1, 5, 3, 1, 1]),
    "blocks": ([0, 0, 1, 2, 2, 3, 4], [0, 1, 1, 1, 2, 2, 0], [3, 2, 4, 1, 3, 4, 5], [1] * 7),
}


@pytest.mark.parametrize("how", CUTS)
def test_alike_cells_are_dealt_to_as_all_others(how: str) -> None:
    """How many seeds of each content there are, on average over many deals of both twins."""
    cells = tuple(np.array(one) for one in CUTS[how])
    cell, kind, number, times = cells
    upto = np.append(0, np.cumsum([times[cell == c].max() for c in range(cell.max() + 1)]))
    apart = (
        np.concatenate([upto[c] + np.arange(n) for c, n in zip(cell, times, strict=True)]),
        np.repeat(kind, times),
        np.repeat(number, times),
    )
    runs = [list(range(upto[c], upto[c + 1])) for c in range(cell.max() + 1)]
    carrying = {"runs": np.array([1, 9, 1]), "blocks": np.array([2, 2, 2])}[how]
    share = np.full(3, 0.25)
    rng, turns = np.random.default_rng(3), 3000
    fast, slow = Counter[Any](), Counter[Any]()
    for _ in range(turns):
        for one in contents(Seeds.dealt(*cells, carrying, share, rng)):
            members = Counter[Any]()
            for k, people, mine in one:
                members.update({(k, False): people - mine, (k, True): mine})
            fast[tuple(sorted((+members).items()))] += 1
        slow.update(slow_deal(apart, runs, carrying, share, rng))
    assert max(len(content) for content in fast) > 1
    for content in fast | slow:
        spread = (max(fast[content], slow[content]) * 2) ** 0.5
        assert abs(fast[content] - slow[content]) <= 5 * spread


def test_who_of_a_kind_carries_is_chance() -> None:
    """Five people of one kind in two cells, two of whom carry: each pair is as likely as any."""
    cell, kind, number = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 2]), np.array([2, 3, 3, 2])
    carrying = np.array([2, 0, 1])
    random, times, once = np.random.default_rng(0), 6000, np.ones(4, np.int64)
    seen = Counter[tuple[int, int]]()
    for _ in range(times):
        seeds = Seeds.dealt(cell, kind, number, once, carrying, np.ones(len(carrying)), random)
        mine = np.where(seeds.kind == 0, seeds.carrying, 0)
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
        mine, whole = (parts.cell >= first) & (parts.cell < first + carriers), seeds.cell == i
        for name in ("people", "carrying"):
            dealt_out, had = (
                np.bincount(one.kind[some], getattr(one, name)[some], 99)
                for one, some in ((parts, mine), (seeds, whole))
            )
            assert dealt_out.tolist() == had.tolist()
        sizes = np.bincount(parts.cell[mine] - first, parts.people[mine])
        assert sizes.max() - sizes.min() <= 1
        assert set(parts.copies[first : first + carriers]) == {seeds.copies[i]}
        first += carriers
    assert first == len(parts)


@pytest.mark.parametrize("seed", SEEDS)
def test_some_cells_in_another_order(seed: int) -> None:
    seeds, *_ = dealt(seed, 3)
    once = seeds.some(np.ones(len(seeds), np.int64))
    order = np.random.default_rng(seed).permutation(len(seeds))
    number = np.random.default_rng(seed).integers(0, 3, len(seeds))
    ordered, some = seeds.ordered(order), seeds.some(number)
    people = contents(once)
    assert contents(ordered.some(np.ones(len(seeds), np.int64))) == [people[i] for i in order]
    assert ordered.copies.tolist() == seeds.copies[order].tolist()
    assert contents(some) == [one for one, n in zip(people, number, strict=True) for _ in range(n)]
    kernel = some.for_kernel()
    expected = [sum(c for _, _, c in one) for one, n in zip(people, number, strict=True) if n]
    assert kernel.carriers.tolist() == expected


@pytest.mark.parametrize("seed", range(20))
def test_cells_with_too_many_carriers_are_joined_to_the_next(seed: int) -> None:
    """Everybody in one cell still; a cell has room for its carriers, or is of several."""
    rng = np.random.default_rng(seed)
    people = rng.integers(1, 6, 40)
    carrying = rng.binomial(people, 0.3)
    cells = cut(rng.standard_normal((40, 3)).astype(np.float32), people, noise_of(40), 4)
    apart = Seeds.dealt(*cells, carrying, np.ones(40), np.random.default_rng(1))
    wide = Seeds.dealt(*cells, carrying, np.full(40, 0.25), np.random.default_rng(1))
    for one in (apart, wide):
        assert (one.carriers @ one.copies) == carrying.sum()
    assert wide.copies.sum() <= apart.copies.sum()
    sizes = np.bincount(wide.cell, wide.people)
    narrow = sizes * 0.25 < wide.carriers
    assert (sizes[narrow] >= 4 * 4).sum() >= narrow.sum() - 1, "only the last may end narrow"


def noise_of(kinds: int) -> Any:
    return np.zeros(kinds, np.float32)
