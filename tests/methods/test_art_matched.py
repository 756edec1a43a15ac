"""The matched sample: who is drawn, what the event is independent of, and what members count as."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import polars as pl
import pytest

from shoal.auditing.audit import audit
from shoal.data.spec import Event, Spec
from shoal.data.table import Table
from shoal.knowledge import Knowledge, as_readers
from shoal.knowledge.entropy import all_counts
from shoal.knowledge.kernels.bernoulli import conditional_bernoulli
from shoal.methods.art import Art
from shoal.methods.art.asked import Asked
from shoal.methods.art.cells import Cells
from shoal.methods.art.kernels.cut import cut
from shoal.methods.art.kernels.links import weigh
from shoal.methods.art.lookalikes import MORE_JOINED
from shoal.methods.art.sample import matched_sample
from shoal.methods.art.seeds import Seeds
from tests.methods.test_art_blind import hospital_table


def drawn_table(seed: int, people: int, chance: np.ndarray) -> Table:
    """People of as many kinds as there are chances, each of whom carries by their own."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, len(chance), people)
    carries = rng.random(people) < chance[kind]
    other = rng.choice([*"abc"], people)
    frame = pl.DataFrame({"q": kind.astype(str), "v": np.where(carries, "x", other)})
    spec = Spec(qi=("q",), sensitive="v", protect=(Event(("x",)),), r=3, min_support=1)
    return Table.from_frame(frame, spec)


CHANCE = np.geomspace(0.01, 0.3, 40)
ROUNDED, FEW_ABOVE, MANY_ABOVE = 1.2, 0.04, 0.1


def test_inside_the_sample_carrying_is_independent_of_the_attributes() -> None:
    """Tables drawn from known chances: one in R carries, or as many as were known to."""
    carriers, sampled = np.zeros(len(CHANCE)), np.zeros(len(CHANCE))
    for seed in range(400):
        table = drawn_table(seed, 600, CHANCE)
        cells, random = Cells.of(table), np.random.default_rng(seed)
        name = table.qi[0].labels
        known = np.array([CHANCE[int(name[code])] for code in table.signatures[:, 0]])
        drawn = matched_sample(cells, known / (1 - known), 5.0, random)
        kind = np.array([int(name[code]) for code in table.signatures[cells.signature, 0]])
        carriers += np.bincount(kind, np.where(cells.event >= 0, cells.rows, 0), len(CHANCE))
        sampled += np.bincount(kind, drawn, len(CHANCE))
    share = carriers / (carriers + sampled)
    expected = np.maximum(1 / 5, CHANCE)
    error = np.sqrt(expected * (1 - expected) / (carriers + sampled))
    assert (np.abs(share - expected) < 4 * error).all()


def believed_of_seeds(tables: int, *, joined: bool) -> tuple[np.ndarray, ...]:
    """Of each person of a cell with a case, in tables drawn from known chances: what whoever knows
    the program, the chances and who was sampled believes, the limit, and whether they carry."""
    r, rate = 3.0, 12.0
    found: list[tuple[float, float, float]] = []
    for seed in range(tables):
        table, random = drawn_table(seed, 600, CHANCE), np.random.default_rng(seed)
        cells = Cells.of(table)
        name = table.qi[0].labels
        known = np.array([CHANCE[int(name[code])] for code in table.signatures[:, 0]])
        drawn = matched_sample(cells, known / (1 - known), rate, random)
        kinds = len(known)
        sampled = np.bincount(cells.signature, drawn, kinds).astype(np.int64)
        carrying = np.bincount(
            cells.signature, np.where(cells.event >= 0, cells.rows, 0), kinds
        ).astype(np.int64)
        place = np.log(known / (1 - known))[:, None].astype(np.float32)
        noise = random.random(kinds, np.float32) * np.float32(1e-3)
        limit = np.maximum(1 / r, known)
        share = limit if joined else np.ones(kinds)
        seeds = Seeds.dealt(
            *cut(place, sampled + carrying, noise, 7), carrying, share, random, MORE_JOINED
        )
        odds = np.maximum(known / (1 - known), 1 / (rate - 1))
        for i, (first, last) in enumerate(pairwise(seeds.start)):
            kind, people = seeds.kind[first:last], seeds.people[first:last]
            chance = conditional_bernoulli(
                odds[kind], np.ones(len(kind)), people, int(seeds.carriers[i])
            )
            each = zip(chance, limit[kind], people, seeds.carrying[first:last], strict=True)
            for believed, most, n, carry in each:
                found += [(believed, most, 1.0)] * int(carry * seeds.copies[i])
                found += [(believed, most, 0.0)] * int((n - carry) * seeds.copies[i])
    return tuple(np.array(found).T)


def test_whoever_knows_program_chances_and_sample_is_right_as_often_as_they_believe() -> None:
    """Where the cells of a block that is too rich are joined, it does not tell which half was so.
    Few are above max(1/r, chance) by a fifth (in a cell people differ in their chances, and numbers
    of carriers are whole); many would be if cells were not joined."""
    believed, most, carries = believed_of_seeds(1500, joined=True)
    for low in np.arange(0.0, 1.0, 0.05):
        some = (believed >= low) & (believed < low + 0.05)
        if some.sum() > 500:
            error = np.sqrt(np.mean(believed[some] * (1 - believed[some])) / some.sum())
            assert abs(carries[some].mean() - believed[some].mean()) < 4 * error + 0.002
    assert (believed > most * ROUNDED).mean() < FEW_ABOVE
    apart, limit, _ = believed_of_seeds(300, joined=False)
    assert (apart > limit * ROUNDED).mean() > MANY_ABOVE


def test_people_are_drawn_by_their_odds_as_evenly_as_whole_numbers_allow() -> None:
    table = hospital_table(min_support=20)
    cells, odds = Cells.of(table), np.full(len(table.signatures), 0.05)
    drawn = matched_sample(cells, odds, 5.0, np.random.default_rng(1))
    filler = cells.event < 0
    assert not drawn[~filler].any()
    assert (drawn <= cells.free).all()
    upto = np.cumsum(np.where(filler, cells.free * 0.2, 0.0))
    assert np.abs(np.cumsum(drawn) - upto).max() < 1 + 1e-9
    everybody = matched_sample(cells, odds, np.inf, np.random.default_rng(1))
    assert everybody.tolist() == np.where(filler, cells.free, 0).tolist()


def by_enumeration(odds: np.ndarray, carriers: int) -> np.ndarray:
    """Everybody's chance, from all ways to choose who carries."""
    chance, total = np.zeros(len(odds)), 0.0
    for who in combinations(range(len(odds)), carriers):
        weight = float(np.prod(odds[list(who)]))
        chance[list(who)] += weight
        total += weight
    return chance / total


@pytest.mark.parametrize("seed", range(40))
def test_members_count_as_their_chance_within_limits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    number = rng.integers(1, 4, int(rng.integers(2, 5)))
    lines, people = len(number), int(number.sum())
    sampled = rng.random(lines) < 0.7
    sampled[0] = True
    odds, most = rng.lognormal(-1, 1, lines), rng.uniform(0.2, 1.0, lines)
    carriers = int(rng.integers(1, max(2, people // 2)))
    weight = np.full(lines, np.nan)
    weigh(np.array([0, lines]), number, sampled, odds, most, np.array([carriers]), weight)
    counts = sampled if (number * most)[sampled].sum() >= carriers else np.ones(lines, bool)
    if (number * most)[counts].sum() < carriers:
        assert np.isnan(weight).all()
        return
    assert (weight * number).sum() == pytest.approx(carriers)
    assert (weight <= most * (1 + 1e-12)).all()
    assert not weight[~counts].any()
    who = np.repeat(np.flatnonzero(counts), number[counts])
    if carriers >= len(who):
        return
    chance = np.zeros(lines)
    chance[who] = by_enumeration(odds[who], carriers)
    if (chance <= most).all():
        np.testing.assert_allclose(weight, chance, rtol=1e-9)
    below = counts & (weight < most * (1 - 1e-9))
    ratio = weight[below] / chance[below]  # whoever is not cut off keeps the proportions
    np.testing.assert_allclose(ratio, ratio[:1].repeat(len(ratio)), rtol=1e-9)


@pytest.mark.parametrize("limit", ["absolute", "prior"])
def test_weights_of_a_table_add_up_and_nobody_is_above_what_all_counts_allow(limit: str) -> None:
    table = hospital_table(rows=6000, r=4, min_support=30, limit=limit)
    known = Knowledge.of(table)
    grouping = Art(knowledge=known).anonymize(table, seed=2)
    assert grouping.weight is not None
    assert grouping.claims["sample_rate"] == 16
    told = ~np.isnan(grouping.weight)
    cases = np.where(table.value_event[grouping.value] >= 0, grouping.rows, 0)
    total = np.bincount(grouping.group, grouping.rows * np.nan_to_num(grouping.weight))
    held = np.bincount(grouping.group, cases)
    assert total[held > 0] == pytest.approx(held[held > 0])
    chance = all_counts(table, known).chance[grouping.signature, 0]
    odds = 4 * chance[told] / (1 - chance[told])
    most = np.where(chance[told] > 1 / 4, odds / (1 + odds), 1 / 4)
    assert (grouping.weight[told] <= most * (1 + 1e-12)).all()
    assert (grouping.weight[(cases > 0) & told] > 0).all(), "a carrier counts"
    assert (grouping.weight[told] == 0).any(), "people added by need do not"
    found = audit(table, grouping, knowledge=known, adversary=("joint", "binary"))
    assert found.robust is True


def test_counts_by_weights_are_nearer_than_by_equal_shares() -> None:
    table = hospital_table(rows=20_000, r=4, min_support=50)
    known = Knowledge.of(table)
    weighted, equal = [], []
    for seed in range(3):
        grouping = Art(knowledge=known).anonymize(table, seed=seed)
        assert grouping.weight is not None
        cases = np.where(table.value_event[grouping.value] >= 0, grouping.rows, 0)
        share = (np.bincount(grouping.group, cases) / grouping.sizes)[grouping.group]
        own = np.where(np.isnan(grouping.weight), share, grouping.weight)
        for view in known.class_views:
            row = view.index[grouping.signature]
            true, by_weight, by_share = (
                np.bincount(row, one * grouping.copies[grouping.group], len(view.distributions))
                for one in (cases, own * grouping.rows, share * grouping.rows)
            )
            large = np.flatnonzero(true >= 50)
            weighted += (np.abs(by_weight - true) / np.maximum(true, 1))[large].tolist()
            equal += (np.abs(by_share - true) / np.maximum(true, 1))[large].tolist()
    assert np.mean(weighted) < min(0.016, 0.65 * np.mean(equal))


def test_without_anything_counted_everybody_is_as_likely_as_the_event_is_common() -> None:
    table = hospital_table(min_support=20)
    rows = np.tile([0.5, *[0.5 / (len(table.values) - 1)] * (len(table.values) - 1)], (1, 1))
    known = Knowledge.model(table, "given", np.repeat(rows, len(table.signatures), axis=0))
    asked = Asked(table, known, as_readers(("joint", "binary")))
    common = table.event_rows[0] / table.rows
    assert asked.counted(0) == pytest.approx(common)
