"""Several sensitive columns: every reader's posteriors against every world written down."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.auditing.audit import audit
from shoal.data.spec import Event, Spec
from shoal.data.table import Table
from shoal.groups import Grouping
from tests.oracle import several as oracle

AGREE = 1e-9


def made_table(seed: int) -> tuple[pl.DataFrame, Spec, list[oracle.Event]]:
    """Some people with two QIs and two or three columns of two or three values."""
    rng = np.random.default_rng(seed)
    rows, columns = int(rng.integers(8, 30)), int(rng.integers(2, 4))
    frame = {name: rng.choice(["a", "b", "c"], rows) for name in ("p", "q")}
    domains = [["no", "yes"], ["no", "yes", "maybe"], ["x", "y", "z"]]
    names = [f"s{c}" for c in range(columns)]
    for c, name in enumerate(names):
        shares = rng.dirichlet(np.ones(len(domains[c])) * 2)
        drawn = rng.choice(domains[c], rows, p=shares)
        drawn[: len(domains[c])] = domains[c]  # each value occurs
        frame[name] = drawn
    events = [Event((domains[c][-1],), column=(names[c],)) for c in range(columns)]
    plain: list[oracle.Event] = [{c: {domains[c][-1]}} for c in range(columns)]
    if columns == 3 and rng.random() < 0.5:  # an event in any of two columns
        events[:2] = [Event(("yes",), column=(names[0], names[1]))]
        plain[:2] = [{0: {"yes"}, 1: {"yes"}}]
    spec = Spec(
        qi=["p", "q"],
        sensitive=names,
        protect=events,
        r=float(rng.choice([1.5, 2, 3])),
        min_support=int(rng.integers(1, 8)),
    )
    return pl.DataFrame(frame), spec, plain


def case_of(
    frame: pl.DataFrame,
    spec: Spec,
    events: list[oracle.Event],
    groups: list[int],
    pooled: frozenset[int] = frozenset(),
) -> oracle.Case:
    return oracle.Case(
        people=list(frame.select(spec.qi).iter_rows()),
        held=list(frame.select(spec.sensitive_columns).iter_rows()),
        groups=groups,
        events=events,
        min_support=spec.min_support,
        pooled=pooled,
    )


def check_against_oracle(table: Table, grouping: Grouping, case: oracle.Case) -> None:
    found = audit(table, grouping, adversary=("joint", "binary"), budget=1e12)
    slow = oracle.largest_links(case)
    assert set(found.by_adversary) == set(slow) == {"joint", "binary", "together"}
    for reader, links in slow.items():
        worst = max(max(row) for row in links)
        assert found.by_adversary[reader].worst_posterior == pytest.approx(float(worst), abs=AGREE)
        over = [
            any(p * r > 1 + AGREE for p, r in zip(row, table.event_r, strict=True)) for row in links
        ]
        under = [
            all(p * r < 1 - AGREE for p, r in zip(row, table.event_r, strict=True)) for row in links
        ]
        problematic = found.by_adversary[reader].problematic
        assert sum(over) <= problematic <= len(over) - sum(under)
    for number, event in enumerate(table.events):
        worst = max(row[number] for links in slow.values() for row in links)
        witness = found.worst_by_event.get(event.label)
        assert (0.0 if witness is None else witness.posterior) == pytest.approx(
            float(worst), abs=AGREE
        )


@pytest.mark.parametrize("seed", range(40))
def test_every_reader_agrees_with_every_world_written_down(seed: int) -> None:
    frame, spec, events = made_table(seed)
    table = Table.from_frame(frame, spec)
    rng = np.random.default_rng(1000 + seed)
    groups = rng.integers(0, max(2, frame.height // 3), frame.height)
    groups = np.unique(groups, return_inverse=True)[1]
    hidden = rng.random(groups.max() + 1) < 0.4
    grouping = Grouping.of_rows(table, groups.astype(np.int32), pooled=hidden)
    case = case_of(frame, spec, events, groups.tolist(), frozenset(np.flatnonzero(hidden).tolist()))
    check_against_oracle(table, grouping, case)


@pytest.mark.parametrize("limit", ["absolute", "prior"])
@pytest.mark.parametrize("seed", range(25))
def test_what_art_makes_of_several_columns_is_robust_for_every_reader(
    seed: int, limit: str
) -> None:
    frame, spec, events = made_table(seed)
    spec = spec.with_(limit=limit)
    release = shoal.anonymize(
        frame, spec, seed=seed, max_suppression=1.0, adversary=("joint", "binary")
    )
    assert all(one.robust for one in release.audit.by_adversary.values())  # type: ignore[union-attr]
    kept = np.flatnonzero(release.row_groups >= 0)
    shown = release.sensitive.filter(
        pl.any_horizontal(pl.col(name) == "(other)" for name in spec.sensitive_columns)
    )
    if len(kept) == frame.height and limit == "absolute":
        case = case_of(
            frame, spec, events, release.row_groups.tolist(), frozenset(shown["gid"].to_list())
        )
        for reader, links in oracle.largest_links(case).items():
            for row in links:
                for p, event in zip(row, spec.protect, strict=True):
                    assert float(p) * (event.r or spec.r) <= 1 + AGREE, reader


def test_a_person_with_two_events_counts_for_both() -> None:
    frame = pl.DataFrame(
        {
            "p": ["a"] * 6,
            "s": ["yes", "yes", "no", "no", "no", "no"],
            "t": ["yes", "no", "no", "no", "no", "no"],
        }
    )
    spec = Spec(qi="p", sensitive=["s", "t"], protect=["s=yes", "t=yes"], r=2, min_support=1)
    found = shoal.audit(frame, spec, groups=[0, 0, 0, 0, 1, 1])
    assert found.worst_by_event["s: yes"].posterior == pytest.approx(1 / 2)
    assert found.worst_by_event["t: yes"].posterior == pytest.approx(1 / 4)
    assert (found.carriers, found.robust) == (2, True)
    found = shoal.audit(frame, spec, groups=[0, 0, 0, 1, 1, 1])
    assert found.worst_by_event["s: yes"].posterior == pytest.approx(2 / 3)
    assert not found.robust
