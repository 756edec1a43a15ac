"""Insiders: line-ups and rates against slow twins; right by chance on random groups, and far more
often where groups are grown row by row around their carriers."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from math import comb
from typing import Any

import numpy as np
import polars as pl
import pytest

from benchmarks.insider import Finding, Rate, attack
from benchmarks.insider.attack import likeliest_in_worst_view, score
from benchmarks.insider.distances import as_searched, in_logs, to_all_others
from benchmarks.insider.features import features, without
from benchmarks.insider.learning import boosting, learners, ranks
from benchmarks.insider.lineup import Lineup
from benchmarks.insider.odds import LARGEST
from benchmarks.insider.resampling import resampled
from benchmarks.insider.section import measured
from benchmarks.settings import hospital_subject, icd9_chapter
from shoal.anonymizers.art import Art
from shoal.datasets import HOSPITAL_EVENT, HOSPITAL_QI, HOSPITAL_SENSITIVE, hospital
from shoal.grouping import Grouping
from shoal.knowledge import Knowledge, View
from shoal.spec import Event, Spec
from shoal.table import Table
from tests.oracle.worlds import binary_posterior, joint_posterior

SEEDS = range(12)
QI = ("age", "sex", "town")
VALUES = ("flu", "cough", "gout", "HIV", "TB")
EVENTS = (Event("HIV"), Event("TB", r=4))


def made_up(seed: int, rows: int = 120, *, carriers: float = 0.3, min_support: int = 10) -> Table:
    """People whose value has nothing to do with who they are; everybody has a twin."""
    rng = np.random.default_rng(seed)
    share = np.array([*[(1 - carriers) / 3] * 3, *[carriers / 2] * 2])
    frame = pl.DataFrame(
        {
            "age": rng.integers(4, size=rows),
            "sex": rng.choice(["f", "m"], rows),
            "town": rng.choice(["A", "B", "C"], rows),
            "value": rng.choice(VALUES, rows, p=share),
        }
    )
    spec = Spec(qi=QI, sensitive="value", protect=EVENTS, r=2, min_support=min_support)
    return Table.from_frame(pl.concat([frame, frame]), spec)


def some_groups(table: Table, seed: int) -> Grouping:
    """Groups of any values, some of them pooled, some there twice (of twins); a few people are in
    none."""
    rng = np.random.default_rng([seed, 1])
    count = table.rows // 6
    groups = np.full(table.rows, -1, np.int32)
    groups[: table.rows // 2] = rng.permutation(np.arange(table.rows // 2) % (count + 1)) - 1
    copies, pooled = rng.integers(1, 3, count), rng.random(count) < 0.2
    return Grouping.of_rows(table, groups, copies=copies, pooled=pooled)


def lineup_of(seed: int) -> Lineup:
    table = made_up(seed)
    rng = np.random.default_rng([seed, 2])
    return Lineup.of(table, some_groups(table, seed), Knowledge.of(table), rng=rng)


def chance_in(view: View, table: Table, signature: int, event: int) -> float:
    codes = [v for v, e in enumerate(table.value_event) if e == event]
    return float(sum(view.distributions[view.index[signature], v] for v in codes))


def suspects_of(lineup: Lineup, case: int) -> range:
    return range(int(lineup.start[case]), int(lineup.start[case + 1]))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_line_up_has_every_group_that_holds_an_event_and_nobody_else(seed: int) -> None:
    lineup = lineup_of(seed)
    table, grouping = lineup.table, lineup.grouping
    expected: Counter[Any] = Counter()
    for group, copies in enumerate(grouping.copies):
        lines = np.flatnonzero(grouping.group == group)
        people = [
            (int(grouping.signature[i]), int(table.value_event[grouping.value[i]]))
            for i in lines
            for _ in range(grouping.rows[i])
        ]
        for event in {event for _, event in people if event >= 0}:
            known = any(
                chance_in(view, table, who, event) > 1 / table.event_r[event] + 1e-9
                for who, carried in people
                if carried == event
                for view in lineup.knowledge.views
            )
            marked = tuple(sorted((who, carried == event) for who, carried in people))
            expected[event, marked, not known] += int(copies)
    found: Counter[Any] = Counter()
    for case in range(lineup.cases):
        pairs = [
            (int(lineup.signature[i]), bool(lineup.carries[i])) for i in suspects_of(lineup, case)
        ]
        found[int(lineup.event[case]), tuple(sorted(pairs)), bool(lineup.unknown[case])] += 1
    assert found == expected
    assert any(unknown for _, _, unknown in found)
    assert any(not unknown for _, _, unknown in found)
    assert lineup.carriers.max() > 1


@pytest.mark.parametrize("seed", SEEDS)
def test_rates_are_those_of_an_obvious_count(seed: int) -> None:
    lineup = lineup_of(seed)
    scores = np.random.default_rng(seed).integers(3, size=len(lineup.signature)).astype(float)

    def hits_of(scores: Any) -> tuple[list[bool], list[bool]]:
        everybody, unknown = [], []
        for case in range(lineup.cases):
            named = max(suspects_of(lineup, case), key=lambda i: (scores[i], -i))
            everybody.append(bool(lineup.carries[named]))
            if lineup.unknown[case]:
                unknown.append(bool(lineup.carries[named]))
        return everybody, unknown

    found = score(lineup, "somebody", scores)
    for rate, hits in zip((found.everybody, found.unknown), hits_of(scores), strict=True):
        assert (rate.tries, rate.hits) == (len(hits), sum(hits))
    worst = likeliest_in_worst_view(lineup)
    counts = [[sum(hits) for hits in hits_of(column)] for column in lineup.odds.T]
    assert [worst.everybody.hits, worst.unknown.hits] == np.max(counts, axis=0).tolist()
    assert worst.everybody.chosen_among == 2 * len(lineup.knowledge.views)


@pytest.mark.parametrize(("hits", "tries"), [(0, 7), (3, 7), (7, 7), (40, 200)])
@pytest.mark.parametrize("chosen_among", [1, 10])
def test_the_interval_is_exact(hits: int, tries: int, chosen_among: int) -> None:
    low, high = Rate(tries, hits, chosen_among).interval

    def chance(hits: range, p: float) -> float:
        return sum(comb(tries, k) * p**k * (1 - p) ** (tries - k) for k in hits)

    tail = 0.025 / chosen_among
    assert low == 0 if hits == 0 else chance(range(hits, tries + 1), low) == pytest.approx(tail)
    assert high == 1 if hits == tries else chance(range(hits + 1), high) == pytest.approx(tail)


def test_nobody_to_try() -> None:
    assert (Rate(0, 0).rate, Rate(0, 0).interval) == (0.0, (0.0, 1.0))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_odds_are_those_of_both_readers(seed: int) -> None:
    table = made_up(seed, rows=400, min_support=80)
    hiv, flu = (table.values.index(value) for value in ("HIV", "flu"))
    groups = np.full(table.rows, -1, np.int32)
    groups[np.flatnonzero(table.row_value == hiv)[:8]] = np.arange(8)
    groups[np.flatnonzero(table.row_value == flu)[:32]] = np.arange(32) % 8
    knowledge, rng = Knowledge.of(table), np.random.default_rng(0)
    lineup = Lineup.of(table, Grouping.of_rows(table, groups), knowledge, rng=rng)
    assert lineup.size.tolist() == [5] * 8
    for case in range(lineup.cases):
        mine = suspects_of(lineup, case)
        for w, view in enumerate(knowledge.views):
            rows = view.index[lineup.signature[mine]]
            joint = joint_posterior(view.distributions[rows].tolist(), [hiv, flu, flu, flu, flu])
            binary = binary_posterior(view.distributions[rows, hiv].tolist(), 1)
            views = len(knowledge.views)
            for column, posterior in ((w, [row[hiv] for row in joint]), (views + w, binary)):
                odds = lineup.odds[mine, column]
                assert odds / odds.sum() == pytest.approx(posterior)


@pytest.mark.parametrize("seed", SEEDS)
def test_distances_and_standings_against_slow_twins(seed: int) -> None:
    lineup = lineup_of(seed)
    odds = lineup.odds
    searched, in_log = to_all_others(lineup, as_searched), to_all_others(lineup, in_logs)
    ranked, spare = ranks(lineup, lineup.odds[:, 0]), without(lineup)
    for case in range(lineup.cases):
        mine = suspects_of(lineup, case)
        for i in mine:
            others = [j for j in mine if j != i]
            steps = [np.minimum(np.abs(odds[j] / odds[i] - 1), 1e3).mean() for j in others]
            assert searched[i] == pytest.approx(sum(steps), rel=1e-4)
            steps = [np.abs(lineup.log_odds[j] - lineup.log_odds[i]).mean() for j in others]
            assert in_log[i] == pytest.approx(sum(steps), rel=1e-4, abs=1e-6)
            before = sum(np.sign(lineup.odds[i, 0] - lineup.odds[j, 0]) for j in others)
            assert ranked[i] == pytest.approx(before / max(1, len(others)))
            if others:
                rest = lineup.odds[others]
                asked = lineup.r[case] * rest.max(axis=0)
                usual = lineup.odds[i] < LARGEST  # next to these, others are lost to rounding
                assert spare[i, usual] == pytest.approx((rest.sum(axis=0) / asked)[usual], rel=1e-3)


def test_the_honest_limit_asks_less_of_those_who_are_known() -> None:
    lineup = lineup_of(0)
    table, grouping = lineup.table, lineup.grouping
    honest = Lineup.of(
        table, grouping, lineup.knowledge, limit="prior", rng=np.random.default_rng([0, 2])
    )
    assert (without(honest) >= without(lineup) * (1 - 1e-9)).all()
    assert (without(honest) > without(lineup) * 1.01).any()


def test_no_feature_tells_who_carries() -> None:
    lineup = lineup_of(0)
    table, grouping = lineup.table, lineup.grouping
    # Values change hands within each group: who carries is somebody else, all else is the same.
    expanded = np.repeat(np.arange(len(grouping.group)), grouping.rows)
    value = grouping.value[expanded]
    rng = np.random.default_rng(5)
    for group in range(len(grouping.copies)):
        mine = np.flatnonzero(grouping.group[expanded] == group)
        value[mine] = value[rng.permutation(mine)]
    other = Lineup.of(
        table,
        Grouping.of_lines(
            table,
            grouping.group[expanded],
            grouping.signature[expanded],
            value,
            np.ones(len(value), np.int64),
            copies=grouping.copies,
            pooled=grouping.pooled,
        ),
        lineup.knowledge,
        rng=np.random.default_rng([0, 2]),
    )

    def by_suspect(one: Lineup) -> dict[str, list[Any]]:
        return {
            name: sorted(zip(one.case, one.signature, np.round(numbers, 5), strict=True))
            for name, numbers in features(one).items()
        }

    assert sorted(zip(lineup.case, lineup.signature, lineup.carries, strict=True)) != sorted(
        zip(other.case, other.signature, other.carries, strict=True)
    )
    assert by_suspect(lineup) == by_suspect(other)


def test_a_resampled_table_is_a_table() -> None:
    table = made_up(3)
    other = resampled(table, np.random.default_rng(0))
    signature, member, rows = other.member_cells
    assert other.rows == table.rows
    assert sorted(set(signature.tolist())) == list(range(len(other.signatures)))
    assert list(zip(signature, member, strict=True)) == sorted(zip(signature, member, strict=True))
    cells = Counter[Any]()
    for s, m, n in zip(*table.member_cells, strict=True):
        cells[(*table.signatures[s].tolist(), int(m))] += int(n)
    drawn = {
        (*other.signatures[s].tolist(), int(m)): int(n)
        for s, m, n in zip(signature, member, rows, strict=True)
    }
    assert drawn.keys() <= cells.keys()
    assert any(n != cells[cell] for cell, n in drawn.items())
    assert len(Knowledge.of(other).views[0].index) == len(other.signatures)


SIZE = 5


def deal(table: Table, seed: int) -> Grouping:
    """Groups of one carrier and four others, all drawn at random; whoever is left is alone."""
    rng = np.random.default_rng([seed, 3])
    event = table.everybody.event
    carriers = rng.permutation(np.flatnonzero(event == 0))
    fillers = rng.permutation(np.flatnonzero(event < 0))
    count = min(len(carriers), len(fillers) // (SIZE - 1))
    groups = np.full(table.rows, -1, np.int32)
    groups[carriers[:count]] = np.arange(count)
    inside = count * (SIZE - 1)
    groups[fillers[:inside]] = np.repeat(np.arange(count), SIZE - 1)
    groups[fillers[inside:]] = count + np.arange(len(fillers) - inside)
    return Grouping.of_rows(table, groups)


def by_name(findings: list[Finding]) -> dict[str, Finding]:
    return {finding.attacker: finding for finding in findings}


def test_on_groups_drawn_at_random_insiders_are_right_by_chance() -> None:
    table = made_up(1, rows=4_000, carriers=0.2)
    # Known of other people, drawn in the same way: the table's own counts would tell a little.
    knowledge = Knowledge.of(made_up(2, rows=4_000, carriers=0.2))
    rng = np.random.default_rng(11)
    found = attack(table, deal(table, 0), knowledge, rng=rng, method=deal, rows_searched=True)
    insiders = [finding for finding in found if finding.kind == "insider"]
    assert len(insiders) >= 9
    for finding in insiders:
        low, high = finding.everybody.interval
        assert finding.everybody.tries > 700
        assert low <= 1 / SIZE <= high, finding


@pytest.mark.parametrize("r", [3.0, 5.0])
def test_on_the_row_search_they_are_far_better(r: float) -> None:
    spec = Spec(
        qi=HOSPITAL_QI,
        sensitive=HOSPITAL_SENSITIVE,
        protect=(HOSPITAL_EVENT,),  # type: ignore[arg-type]
        identifiers=("patient",),
        r=r,
        min_support=50,
    )
    table = Table.from_frame(hospital(20_000, seed=0), spec)

    def method(some: Table, seed: int) -> Grouping:
        return Art(units="rows").anonymize(some, seed=seed)

    rng = np.random.default_rng(11)
    grouping = method(table, 0)
    found = by_name(
        attack(
            table, grouping, Knowledge.of(table), rng=rng, method=method, resamples=1,
            rows_searched=True,
        )
    )  # fmt: skip
    assert found["a random member"].everybody.interval[0] < 1 / r
    for name in ("replay of the growth", "logit, from the other half", "logit, from resamples"):
        assert found[name].everybody.rate > 1.3 / r, found[name]
        assert found[name].unknown.interval[0] > 1 / r, found[name]
    assert found["medoid"].everybody.interval[0] > found["a random member"].everybody.interval[1]
    assert found["counting in all views at once"].kind == "counting"


def test_a_release_without_events_and_one_with_a_single_group() -> None:
    table = made_up(2)
    nobody = np.where(table.row_event >= 0, -1, 0).astype(np.int32)
    rng = np.random.default_rng(0)
    assert attack(table, Grouping.of_rows(table, nobody), Knowledge.of(table), rng=rng) == []
    one = nobody.copy()
    one[np.flatnonzero(table.row_event == 0)[0]] = 0
    found = attack(table, Grouping.of_rows(table, one), Knowledge.of(table), rng=rng)
    assert {finding.everybody.tries for finding in found} == {1}


def test_a_line_of_the_section_can_be_kept() -> None:
    said = list[str]()
    line = measured(hospital_subject(4_000), "rows", 2.0, said.append)
    assert json.loads(json.dumps(line)) == line
    assert {one["everybody"]["tries"] for one in line["attackers"]} == {
        line["carriers"] - line["suppressed"]
    }
    assert len(said) == 1 + len(line["attackers"])


def test_a_line_says_where_the_method_stopped() -> None:
    subject = hospital_subject(300)
    many = pl.when(pl.int_range(pl.len()) % 3 > 0).then(pl.lit("HIV")).otherwise("diagnosis")
    frame = subject.frame.with_columns(diagnosis=many)
    spec = subject.spec.with_(protect=(Event("HIV"),))
    said = list[str]()
    line = measured(replace(subject, frame=frame, spec=spec), "cells", 5.0, said.append)
    assert "find no group at r = 5" in line["failed"]
    assert line["limit"] == "absolute"
    assert "attackers" not in line
    assert len(said) == 2


def test_boosting_where_it_can_be() -> None:
    pytest.importorskip("sklearn")
    rng = np.random.default_rng(0)
    design = rng.normal(size=(2_000, 3)).astype(np.float32)
    sizes = np.full(400, SIZE)
    carries = np.zeros(2_000, bool)
    carries[np.arange(400) * SIZE + design[:, 0].reshape(400, SIZE).argmax(axis=1)] = True
    scores = boosting(design, sizes, carries, rng)(design).reshape(400, SIZE)
    assert "boosting" in learners()
    assert (scores.argmax(axis=1) == design[:, 0].reshape(400, SIZE).argmax(axis=1)).mean() > 0.9


@pytest.mark.parametrize(
    ("code", "chapter"),
    [
        ("250.83", "endocrine"),
        ("296", "mental"),
        ("319", "mental"),
        ("8", "infectious"),
        ("770", "other"),
        ("V57", "other"),
        ("?", "other"),
    ],
)
def test_chapters_of_diagnoses(code: str, chapter: str) -> None:
    assert icd9_chapter(code) == chapter
