"""What stands around blind groups: decoys for who counts, lookalikes for who looks for the missing,
and groups for everybody else. The auditor, which has slow twins of its own, is the judge."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from shoal.auditing.audit import audit
from shoal.data.table import Table
from shoal.errors import InputError
from shoal.groups import silent
from shoal.knowledge import Knowledge, as_readers
from shoal.methods.art import Art, attempts
from shoal.methods.art.absence import leave_out_lookalikes
from shoal.methods.art.asked import Asked
from shoal.methods.art.assembly import Assembly
from shoal.methods.art.blind import Blindness, hide_blindly
from shoal.methods.art.cells import Cells
from shoal.methods.art.classes import Lack, Waiting, class_counts
from shoal.methods.art.decoys import add_decoys
from shoal.planning.plan import plan
from tests.methods.test_art_blind import BOTH, LIMITS, hospital_table, random_table


def asked_of(table: Table) -> Asked:
    return Asked(table, Knowledge.of(table), as_readers(BOTH))


def hidden(table: Table, **how: Any) -> Assembly:
    groups, random = Assembly(table, Cells.of(table)), np.random.default_rng(3)
    blindness = Blindness(**({"cell": None, "largest": 200} | how))
    hide_blindly(groups, asked_of(table), blindness, random=random, progress=silent)
    groups.drop_unsafe(asked_of(table))
    return groups


def everybody_once(groups: Assembly) -> bool:
    groups.separate()
    used = np.bincount(groups.everybody()[1], minlength=len(groups.cells.rows))
    there = used + groups.cells.free + groups.withheld
    return bool((groups.cells.free >= 0).all()) and there.tolist() == groups.cells.rows.tolist()


@pytest.mark.parametrize("seed", range(10))
def test_lack_keeps_its_books(seed: int) -> None:
    """Who helps is counted anew after every step."""
    rng = np.random.default_rng(seed)
    table = random_table(seed, "absolute")
    views = Knowledge.of(table).views
    lacking = [rng.integers(-2, 4, len(view.distributions)) for view in views]
    lack = Lack(Knowledge.of(table), [one.copy() for one in lacking], overall=5)
    state = [np.maximum(one, 0) for one in lacking]
    overall = 5
    for one in state:
        one[0] = 0
    for step in range(40):
        signature = int(rng.integers(len(table.signatures)))
        sign = -1 if step % 3 else 1
        (lack.take if sign < 0 else lack.give)(signature)
        overall += sign
        for view, one in zip(views, state, strict=True):
            one[view.index[signature]] += sign
        helps = [
            sum(one[view.index[s]] > 0 for view, one in zip(views, state, strict=True))
            + (overall > 0)
            for s in range(len(table.signatures))
        ]
        assert lack.helps.tolist() == helps


@pytest.mark.parametrize("seed", range(10))
def test_who_waits_is_picked_as_by_looking_at_all_of_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(seed, "absolute")
    known = Knowledge.of(table)
    lacking = [rng.integers(-2, 6, len(view.distributions)) for view in known.views]
    signature = np.sort(rng.integers(0, len(table.signatures), 30))
    free = rng.integers(1, 3, len(signature))
    books = [Lack(known, [one.copy() for one in lacking], overall=9) for _ in range(2)]
    slow, fast = (np.random.default_rng(seed) for _ in range(2))
    waiting, steps = Waiting(books[1], signature), 0
    while (pick := books[0].pick(signature, free, slow)) >= 0:
        assert waiting.pick(fast) == pick
        free[pick] = 0 if steps % 4 == 3 else free[pick] - 1  # every fourth does not fit
        if free[pick] == 0:
            waiting.drop(pick)
        if steps % 4 != 3:
            books[0].take(int(signature[pick]))
            books[1].take(int(signature[pick]), waiting)
        assert books[0].helps.tolist() == books[1].helps.tolist()
        steps += 1
    assert waiting.pick(fast) == -1
    assert steps > 3


def test_classes_are_counted() -> None:
    table = random_table(1, "absolute")
    people = np.arange(len(table.signatures))
    for view, counts in zip(
        Knowledge.of(table).views, class_counts(Knowledge.of(table), people), strict=True
    ):
        by_hand = [
            sum(int(p) for p, row in zip(people, view.index, strict=True) if row == c)
            for c in range(len(view.distributions))
        ]
        assert counts.tolist() == by_hand


@pytest.mark.parametrize("limit", LIMITS)
def test_decoys_keep_the_counter_s_promise_and_every_limit(limit: str) -> None:
    table = hospital_table(r=4, min_support=20, limit=limit)
    groups = hidden(table)
    before = audit(table, groups.grouping(), adversary=BOTH)
    assert not before.counter.kept, "there is nothing to mend"
    crowd = np.ones(len(table.signatures))
    add_decoys(groups, asked_of(table), np.random.default_rng(1), crowd)
    after = audit(table, groups.grouping(), adversary=BOTH)
    assert after.counter.kept
    assert after.problematic == 0
    assert after.event_groups == before.event_groups
    assert everybody_once(groups)


@pytest.mark.parametrize("limit", LIMITS)
def test_no_attempt_is_made_twice(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells shrink with every attempt but the second, which does without joined ones; where they
    cannot, it was the last. A matched sample may be drawn twice."""
    attempt, ended = attempts._attempt, 0
    for seed in range(30):
        sizes, samples = list[tuple[int, ...]](), list[tuple[int, ...]]()

        def noted(asked: Asked, how: Blindness, *rest: Any) -> attempts.Attempt:
            r = asked.table.event_r
            (sizes if how.rate is None else samples).append(  # noqa: B023
                (*(how.size(float(one)) for one in r), how.wide)
            )
            return attempt(asked, how, *rest)

        monkeypatch.setattr(attempts, "_attempt", noted)
        Art(max_suppression=1.0, largest=2).anonymize(random_table(seed, limit), seed=seed)
        assert len(set(sizes)) == len(sizes) <= attempts.ATTEMPTS
        assert len(samples) < attempts.AGAIN
        ended += 1 < len(sizes) < attempts.ATTEMPTS
    assert ended > 0, "all attempts were always made"


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("more", [0, 3, np.inf])
@pytest.mark.parametrize("seed", range(12))
def test_lookalikes_are_enough_exactly_where_the_auditor_says_so(
    limit: str, more: float, seed: int
) -> None:
    """Groups may take few people, so that some carriers find none; so many more may be lost."""
    table = random_table(seed, limit)
    groups = hidden(table, largest=3, cell=3)
    lost = groups.cells.waiting
    random = np.random.default_rng(2)
    enough = leave_out_lookalikes(groups, asked_of(table), random, 1, lost + more)
    assert groups.cells.waiting <= lost + more
    assert enough or groups.cells.waiting == lost, "groups are given up in vain"
    assert everybody_once(groups)
    if groups.grouping().published:
        found = audit(table, groups.grouping(), adversary=BOTH)
        assert found.problematic == 0
        assert found.absence.kept is enough


def test_groups_are_given_up_where_nobody_else_is_left() -> None:
    """Absence tells nothing of more tables if carriers may be lost for it, and their people who
    help nobody are published."""

    def enough(seed: int, more: float) -> bool:
        table = random_table(seed, "prior")
        groups = hidden(table, largest=3, cell=3)
        random, most = np.random.default_rng(2), groups.cells.waiting + more
        return leave_out_lookalikes(groups, asked_of(table), random, 1, most)

    kept = [[enough(seed, more) for seed in range(12)] for more in (0, np.inf)]
    assert all(now for before, now in zip(*kept, strict=True) if before)
    assert sum(kept[1]) > sum(kept[0])


def test_lookalikes_are_found_where_there_are_some() -> None:
    table = hospital_table(r=4, min_support=20)
    groups = hidden(table)
    groups.separate()
    for i in range(3):  # as if these had found no group
        np.add.at(groups.cells.free, groups.members(i), 1)
        groups._changed[i] = np.zeros(0, np.int64)
    assert not audit(table, groups.grouping(), adversary=BOTH).absence.kept
    assert leave_out_lookalikes(groups, asked_of(table), np.random.default_rng(2), 1)
    found = audit(table, groups.grouping(), adversary=BOTH)
    assert all(one.robust for one in found.by_adversary.values())
    assert found.absence.kept  # decoys come after that
    assert found.suppressed > found.suppressed_carriers > 0


@pytest.mark.parametrize("smallest", [2, 6, 15])
def test_nobody_stands_in_a_smaller_group_than_asked_for(smallest: int) -> None:
    table = hospital_table(min_support=20)
    grouping = Art(smallest_group=smallest).anonymize(table, seed=1)
    found = audit(table, grouping, adversary=BOTH)
    assert int(grouping.sizes.min()) >= smallest
    assert (found.robust, found.readable, found.suppressed) == (True, 0, 0)
    assert audit(table, Art(smallest_group=1).anonymize(table, seed=1)).readable > 0


def test_a_run_that_stops_names_no_remedy_that_was_not_tried() -> None:
    table = hospital_table(rows=600, r=40, min_support=10)
    with pytest.raises(InputError) as raised:
        Art(readers=("joint",), max_suppression=0.0).anonymize(table)
    assert raised.value.code == "suppression-limit"
    assert "--limit prior" not in str(raised.value)
    assert raised.value.remedy.endswith("`shoal find TABLE --spec S` tries what would work.")


def test_a_given_cell_is_kept_and_said() -> None:
    table = hospital_table(min_support=20)
    given, usual = (Art(cell=cell).anonymize(table).claims for cell in (9, None))
    assert (given["cell"], given["sample_rate"]) == (9, None)
    assert (usual["cell"], usual["sample_rate"]) == (6, 12), "2 r and 4 r in a matched sample"


def test_cells_of_everybody_hold_twice_r(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "HARDLY_ANY", -1.0)  # no matched sample is good enough
    claims = Art().anonymize(hospital_table(min_support=20)).claims
    assert (claims["cell"], claims["sample_rate"]) == (6, None), "where people are plenty"


def test_where_everybody_s_class_is_known_the_honest_limit_rules_out_no_r() -> None:
    known: dict[str, Any] = {"qi": ("sex", "region"), "r": 60, "min_support": 20}
    tight = plan(hospital_table(**known))
    (event,) = tight.events
    assert event.coverage_bound < event.carriers == event.coverage_bound_prior
    assert not tight.feasible
    assert plan(hospital_table(**known, limit="prior")).feasible
    (event,) = plan(hospital_table(r=60, min_support=20)).events
    assert event.coverage_bound < event.coverage_bound_prior < event.carriers, "not everybody's is"
