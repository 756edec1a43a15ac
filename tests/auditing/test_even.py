"""Groups of people who are alike to everybody are judged once for all views. Every figure is that
of the slow twin, who judges every group in every view."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from shoal.auditing.adversaries import even as judging_once
from shoal.auditing.adversaries.adversary import BOTH, GroupReader, Joint, SeenGroup
from shoal.auditing.adversaries.even import Even
from shoal.auditing.audit import audit
from shoal.auditing.verdict import Audit
from shoal.data import datasets
from shoal.data.spec import Event, Spec
from shoal.data.table import Table
from shoal.errors import InputError
from shoal.groups import Grouping
from shoal.knowledge import Knowledge, View
from shoal.methods.art import Art
from tests.dealing import row_groups

PROTECT = {
    "one value": (Event(("x",)),),
    "a set": (Event(("x", "z"), label="xz"),),
    "several": (Event(("x",)), Event(("z", "w"), label="zw", r=4)),
    "each value": None,
}
"""Where each value is an event, no group is even."""
SEEDS = range(6)


@pytest.fixture(autouse=True)
def once(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """However few even groups there are, they are judged apart; says in which views."""
    views: list[str] = []

    def judge(self: Even, view: View, number: int, *, by_value: bool) -> Any:
        views.append(view.name)
        return original(self, view, number, by_value=by_value)

    original = Even.judge
    monkeypatch.setattr(judging_once, "WORTH", 0.0)
    monkeypatch.setattr(Even, "judge", judge)
    return views


def one_by_one(*given: Any, **options: Any) -> Audit:
    """The slow twin: every group in every view."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Even, "possible", lambda *_, **__: False)
        return audit(*given, **options)


def random_groups(seed: int, protect: str, **options: Any) -> tuple[Table, Grouping]:
    """People of few kinds, mostly in groups of one kind, some pooled; some are not published."""
    random = np.random.default_rng(seed)
    rows = int(random.integers(60, 160))
    frame = pl.DataFrame(
        {
            "q": random.choice(["a", "b", "c"], rows),
            "p": random.integers(0, 2, rows),
            "v": random.choice(["x", "y", "z", "w"], rows, p=[0.2, 0.6, 0.1, 0.1]),
        }
    )
    spec = Spec(
        qi=("q", "p"), sensitive="v", protect=PROTECT[protect], r=3, min_support=5, **options
    )
    table = Table.from_frame(frame, spec)
    order = np.argsort(table.row_signature, kind="stable")
    mixed = np.flatnonzero(random.random(rows) < 0.1)
    order[mixed] = order[random.permutation(mixed)]
    size = random.integers(1, 5, rows)
    group = np.empty(rows, np.int32)
    group[order] = np.repeat(np.arange(rows), size)[:rows]
    _, group = np.unique(group, return_inverse=True)
    pooled = random.random(group.max() + 1) < 0.3
    published = np.where(pooled[group], group, np.where(random.random(rows) < 0.03, -1, group))
    kept = np.unique(published[published >= 0])
    number = np.append(np.searchsorted(kept, np.arange(group.max() + 1)), -1).astype(np.int32)
    return table, Grouping.of_rows(table, number[published], pooled=pooled[kept])


def figures(found: Audit) -> dict[str, Any]:
    """All that an audit says, to the last bit."""
    said = {
        name: getattr(found, name)
        for name in ("by_adversary", "by_view", "guess_rate", "worst", "worst_by_event", "counter")
    }
    lines = {
        "worst": found.risks.worst.to_dicts(),
        "known": found.risks.known.to_dicts(),
        "held": found.risks.held.tolist(),
    }
    return {**found.to_dict(), **said, "lines": lines}


def check_same(table: Table, grouping: Grouping, **options: Any) -> Audit:
    found = audit(table, grouping, **options)
    assert figures(found) == figures(one_by_one(table, grouping, **options))
    return found


@pytest.mark.parametrize("adversary", ["joint", "binary", BOTH])
@pytest.mark.parametrize("protect", list(PROTECT))
def test_every_figure_is_that_of_one_by_one(protect: str, adversary: Any, once: list[str]) -> None:
    """At several r, so that some even groups expose their people; by counts and by rows."""
    exposed = 0
    for seed in SEEDS:
        table, grouping = random_groups(seed, protect)
        for r in (1.5, 3.0, 6.0):
            exposed += check_same(table, grouping, adversary=adversary, r=r).problematic
            rows = row_groups(table, grouping)
            check_same(table, grouping, adversary=adversary, r=r, rows=rows)
    assert bool(once) is (protect != "each value")
    assert exposed


@pytest.mark.parametrize("protect", list(PROTECT))
def test_under_the_honest_limit_nothing_is_judged_apart(protect: str, once: list[str]) -> None:
    for seed in SEEDS:
        table, grouping = random_groups(seed, protect, limit="prior")
        check_same(table, grouping, adversary=BOTH)
    assert not once


def contradicted(table: Table, random: np.random.Generator, *, exactly: float) -> Knowledge:
    """Two views from elsewhere; in the second some chance is 0, or 1."""
    chances = random.dirichlet(np.ones(len(table.values)), len(table.signatures))
    index = np.arange(len(table.signatures), dtype=np.int32)
    wrong = chances.copy()
    some, value = random.integers(0, chances.shape)
    wrong[some] = (1.0 - exactly) * wrong[some] / (wrong[some].sum() - wrong[some, value])
    wrong[some, value] = exactly
    views = (View(("a study",), index, chances), View(("hearsay",), index, wrong))
    return Knowledge(views, "elsewhere")


def outcome(judge: Any, *given: Any, **options: Any) -> Any:
    try:
        return figures(judge(*given, **options))
    except InputError as refused:
        return str(refused)


@pytest.mark.parametrize("exactly", [0.0, 1.0])
@pytest.mark.parametrize("adversary", ["joint", "binary", BOTH])
@pytest.mark.parametrize("protect", list(PROTECT))
def test_what_a_view_calls_impossible_is_found(
    protect: str, adversary: Any, exactly: float, once: list[str]
) -> None:
    """Refused if the values are true, and counted if they are distorted."""
    refused = counted = 0
    for seed in range(16):
        random = np.random.default_rng(seed)
        table, grouping = random_groups(seed, protect)
        options = {
            "adversary": adversary,
            "knowledge": contradicted(table, random, exactly=exactly),
        }
        found = outcome(audit, table, grouping, **options)
        assert found == outcome(one_by_one, table, grouping, **options)
        refused += isinstance(found, str)
        shown = np.where(random.random(len(grouping.value)) < 0.05, 0, grouping.value)
        other = Grouping.of_lines(
            table,
            grouping.group,
            grouping.signature,
            grouping.value,
            grouping.rows,
            shown=shown.astype(np.int32),
            pooled=grouping.pooled,
        )
        found = outcome(audit, table, other, **options)
        assert found == outcome(one_by_one, table, other, **options)
        counted += not isinstance(found, str) and found["contradictory"] > 0
    assert refused
    assert counted
    assert ("a study" in once) is (protect != "each value")


@pytest.mark.parametrize("protect", list(PROTECT))
def test_a_model_beside_the_tables_own_views(protect: str, once: list[str]) -> None:
    for seed in SEEDS:
        table, grouping = random_groups(seed, protect)
        chances = np.random.default_rng(seed).dirichlet(
            np.ones(len(table.values)), len(table.signatures)
        )
        known = Knowledge.of(table) + Knowledge.model(table, "forest", chances)
        check_same(table, grouping, adversary=BOTH, knowledge=known)
    assert ("forest" in once) is (protect != "each value")


class Halved(Joint):
    """An adversary of one's own that makes something else of the joint one's answer."""

    name = "halved"

    def judge(self, case: Any, view: Any, number: int) -> Any:
        found = super().judge(case, view, number)
        assert len(found.posterior) == len(case.held)
        found.posterior[:] /= 2
        return found


class Likeliest(GroupReader):
    name, reasoning = "likeliest", "takes every event for certain"

    def posterior(self, group: SeenGroup) -> np.ndarray[Any, np.dtype[np.float64]]:
        return np.ones((len(group.people), group.events))


@pytest.mark.parametrize("adversary", [Halved(), Likeliest()])
def test_an_adversary_of_ones_own_judges_all_groups(adversary: Any, once: list[str]) -> None:
    table, grouping = random_groups(0, "one value")
    check_same(table, grouping, adversary=adversary)
    assert not once
    check_same(table, grouping, adversary=[adversary, "binary"])
    assert once


@pytest.mark.parametrize("seed", range(3))
def test_groups_of_art_with_copies(seed: int, once: list[str]) -> None:
    spec = Spec(
        qi=("sex", "region"),
        sensitive="diagnosis",
        protect=(datasets.HOSPITAL_EVENT,),  # type: ignore[arg-type]
        r=4,
        min_support=20,
    )
    table = Table.from_frame(datasets.hospital(12_000, seed=seed), spec)
    made = Art(max_suppression=1, cell=8).anonymize(table, seed=seed)
    assert (made.copies[made.sizes > 1] > 1).sum() > 10
    for r in (2.0, 4.0, 9.0):
        check_same(table, made, adversary=BOTH, r=r)
    assert once


def test_few_even_groups_are_judged_with_the_others(
    monkeypatch: pytest.MonkeyPatch, once: list[str]
) -> None:
    table, grouping = random_groups(0, "one value")
    monkeypatch.setattr(judging_once, "WORTH", 1.1)
    audit(table, grouping)
    assert not once


def test_several_columns_are_judged_one_by_one(once: list[str]) -> None:
    random = np.random.default_rng(3)
    frame = pl.DataFrame(
        {
            "q": random.choice(["a", "b"], 60),
            "v": random.choice(["x", "y"], 60, p=[0.2, 0.8]),
            "u": random.choice(["k", "l"], 60, p=[0.2, 0.8]),
        }
    )
    spec = Spec(
        qi=("q",),
        sensitive=("v", "u"),
        protect=(Event(("x",), column="v"), Event(("k",), column="u")),
        r=3,
        min_support=5,
    )
    table = Table.from_frame(frame, spec)
    order = np.argsort(table.row_signature, kind="stable")
    group = np.empty(60, np.int32)
    group[order] = np.arange(60) // 4
    check_same(table, Grouping.of_rows(table, group), adversary=BOTH)
    assert not once
