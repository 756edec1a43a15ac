"""The adversary of all views, in the audit: against lists of all worlds, and in what it claims."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

import shoal
from shoal.auditing.adversaries import all_views
from shoal.auditing.adversaries.adversary import USUAL
from shoal.auditing.audit import audit
from shoal.data.spec import Spec
from shoal.data.table import Table
from shoal.errors import InputError
from shoal.groups import Grouping
from shoal.knowledge import Knowledge
from shoal.knowledge import entropy as fitting
from shoal.knowledge.entropy import all_counts, most_believed
from shoal.methods.art import Art, attempts
from shoal.release.verification.verify import verify
from tests.forging import edit, refused
from tests.knowledge.test_entropy import RIDGE, small_table, strata_of
from tests.methods.test_art_blind import random_table
from tests.oracle.entropy import by_entropy, possible_worlds


@pytest.fixture
def strict(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fit that meets counts as closely as it can."""
    monkeypatch.setattr(fitting, "RIDGE", RIDGE)
    monkeypatch.setattr(fitting, "NEAR", 1e-10)


def by_worlds(
    table: Table, group: NDArray[np.int64], event: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Every row's chance before publication, and after it."""
    carry = table.holds(event)[table.row_value]
    rows = [np.flatnonzero(group == one).tolist() for one in np.unique(group)]
    cases = [int(carry[some].sum()) for some in rows]
    strata = strata_of(table, event)
    before = possible_worlds([range(table.rows)], [int(carry.sum())], table.rows)
    after = possible_worlds(rows, cases, table.rows)
    return by_entropy(before, *strata, RIDGE), by_entropy(after, *strata, RIDGE)


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("limit", ["absolute", "prior"])
def test_the_verdict_is_that_of_all_worlds(seed: int, limit: str, strict: None) -> None:
    random = np.random.default_rng(seed)
    events = 1 + seed % 2
    table = small_table(random, int(random.integers(6, 12)), events=events)
    group = random.integers(-1 if seed % 3 == 0 else 0, 3, table.rows)
    group = np.where(group >= 0, np.searchsorted(np.unique(group[group >= 0]), group), -1)
    r = float(random.choice([1.5, 2.0, 3.0]))
    found = audit(table, group, adversary="all-views", r=r, limit=limit)  # type: ignore[arg-type]
    above, worst, missing = np.zeros(table.rows, bool), 0.0, np.zeros(table.rows, bool)
    near = False
    for event in range(events):
        before, after = by_worlds(table, group, event)
        most = most_believed(np.maximum(1 / r, before)) * (1 + all_views.ROUNDING)
        inside = group >= 0
        carrying = np.isin(group, group[table.holds(event)[table.row_value]])
        above |= inside & (after > most)
        missing |= ~inside & (after > most)
        near |= bool((np.abs(after - most) < 1e-5).any())
        worst = max(worst, float(after[inside & carrying].max(initial=0.0)))
    verdict = found.by_adversary["all-views"]
    assert verdict.worst_posterior == pytest.approx(worst, abs=1e-5)
    assert verdict.residual is not None
    assert verdict.residual < 1e-4
    if not near:
        assert verdict.problematic == int(above.sum())
        assert (verdict.missing > 0) == bool(missing.any())
        assert verdict.robust is (not above.any() and not missing.any())
        assert found.frame["problematic"].to_list() == above.tolist()


def hospital_table(rows: int = 3000, r: float = 3.0) -> Table:
    spec = Spec(
        qi=("sex", "region", "occupation"),
        sensitive="diagnosis",
        protect=("HIV",),  # type: ignore[arg-type]
        r=r,
        min_support=50,
    )
    return Table.from_frame(shoal.datasets.hospital(rows, seed=4), spec)


def test_its_limit_is_what_all_counts_say_beforehand() -> None:
    """One group of everybody tells nothing that was not known."""
    table = hospital_table()
    found = audit(table, np.zeros(table.rows, int), adversary="all-views")
    verdict, before = found.by_adversary["all-views"], all_counts(table, Knowledge.of(table))
    assert verdict.robust is True
    assert verdict.worst_posterior == pytest.approx(before.chance.max())
    assert found.worst is not None
    assert found.worst.view == ("all views",)
    assert found.worst.before == pytest.approx(found.worst.posterior)
    assert found.worst.kind == "estimate"
    assert list(found.by_view) == ["all views"]
    assert found.together_before == 0
    assert found.most_before is None
    found = audit(table, np.zeros(table.rows, int), adversary="all-views", r=50.0)
    above = np.flatnonzero(before.chance[:, 0] > 0.02002)
    assert 0 < len(above) < len(before.chance)
    assert found.together_before == table.signature_rows[above].sum()
    assert found.most_before == pytest.approx(before.chance[above].max(), abs=1e-4)
    assert found.posteriors == {"exact": 0, "bound": 0, "estimate": 1}


def test_it_is_one_of_three_usual_adversaries_with_a_verdict_of_its_own() -> None:
    table = hospital_table()
    groups = np.arange(table.rows) // 4
    found = shoal.audit(table, groups)
    assert found.adversaries == USUAL == ("joint", "binary", "all-views")
    assert list(found.by_view) == [view.name for view in Knowledge.of(table).views]
    alone = audit(table, groups, adversary="all-views").by_adversary["all-views"]
    assert found.by_adversary["all-views"] == alone
    assert alone.problematic > 0
    assert found.frame.filter(pl.col("adversary") == "all-views").height == 0


def test_its_verdict_is_part_of_the_whole_and_its_figures_are_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Groups that answer every reader of one view, and not whoever takes all views together."""
    table = random_table(4, "absolute")
    nobody = (np.zeros(len(table.signatures), bool),) * 2
    monkeypatch.setattr(attempts, "join_revealing", lambda *_, **__: nobody)
    made = Art(max_suppression=1).anonymize(table, seed=1)
    usual, readers = (audit(table, made, adversary=names) for names in (USUAL, USUAL[:2]))
    alone = audit(table, made, adversary="all-views")
    assert usual.by_adversary["all-views"].robust is alone.robust is False
    assert alone.problematic > 0
    assert all(one.robust for one in readers.by_adversary.values())
    assert usual.robust is False
    (mine,), (others,), (left_out,) = (
        [one for one in found.checks if one.name == "all-views"]
        for found in (usual, alone, readers)
    )
    assert mine == others
    assert (mine.state, mine.people) == ("broken", alone.problematic)
    assert mine.worst is not None
    assert mine.limit is not None
    assert mine.worst > mine.limit
    assert left_out.state == "not asked"
    told, expected = usual.to_dict(), readers.to_dict()
    assert told.pop("together_before") == 0
    for one in (told, expected):
        for name in ("adversaries", "reasoning", "robust", "checks"):
            del one[name]
    assert told == expected
    assert {name: usual.by_adversary[name] for name in USUAL[:2]} == readers.by_adversary
    assert usual.by_adversary["all-views"] == alone.by_adversary["all-views"]
    assert usual.risks.worst.equals(readers.risks.worst)


@pytest.mark.parametrize("r", [2.0, 3.0, 5.0])
def test_arts_groups_answer_it(r: float) -> None:
    frame = shoal.datasets.hospital(3000, seed=4)
    release = shoal.anonymize(frame, hospital_table().spec.with_(r=r), seed=1)
    assert release.audit is not None
    assert release.audit.adversaries == USUAL
    assert release.robust is True


def test_a_bad_fit_decides_nothing_which_counts_against_the_release(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = hospital_table()
    groups = np.arange(table.rows) // 60
    monkeypatch.setattr(all_views, "MOST_OFF", 1e-9)
    verdict = audit(table, groups, adversary="all-views").by_adversary["all-views"]
    assert verdict.robust is None
    assert verdict.problematic == 0
    assert verdict.undecided > 0


def test_a_large_count_may_be_missed_by_more_than_a_small_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What decides is how well each count is met for its size, not the largest miss in cases."""
    table = Table.from_frame(
        shoal.datasets.hospital(20_000, seed=4), hospital_table(600, r=1.5).spec
    )
    monkeypatch.setattr(fitting, "RIDGE", 1.0)
    before = all_counts(table, Knowledge.of(table))
    residual, off = float(before.residual[0]), float(before.off[0])
    assert off < 0.8 * residual
    groups = np.zeros(table.rows, int)
    for most, robust in (((off + residual) / 2, True), (off * 0.99, None)):
        monkeypatch.setattr(all_views, "MOST_OFF", most)
        verdict = audit(table, groups, adversary="all-views").by_adversary["all-views"]
        assert verdict.residual == pytest.approx(residual)
        assert verdict.robust is robust


def test_changed_values_contradict_the_counts_and_are_not_decided() -> None:
    frame = pl.DataFrame({"q": ["a"] * 4 + ["b"] * 4, "s": ["x"] * 2 + ["y"] * 6})
    spec = Spec(qi=("q",), sensitive="s", protect=("x",), r=2, min_support=2)  # type: ignore[arg-type]
    table = Table.from_frame(frame, spec)
    shown = table.row_value[::-1].copy()
    grouping = Grouping.of_rows(table, table.row_signature.copy(), values=shown)
    verdict = audit(table, grouping, adversary="all-views").by_adversary["all-views"]
    assert verdict.robust is None
    assert verdict.residual is not None
    assert verdict.residual >= 1.0


def test_knowledge_that_nobody_counted_is_refused_by_name_and_passed_over_otherwise() -> None:
    table = hospital_table(600)
    share = np.tile(table.value_rows / table.rows, (len(table.signatures), 1))
    knowledge = Knowledge.model(table, "guess", share)
    groups = np.arange(table.rows) // 60
    assert shoal.audit(table, groups, knowledge=knowledge).adversaries == ("joint", "binary")
    with pytest.raises(InputError, match="counts of the table's own people"):
        shoal.audit(table, groups, knowledge=knowledge, adversary="all-views")
    both = Knowledge.of(table) + knowledge
    assert "all-views" in shoal.audit(table, groups, knowledge=both).adversaries


def test_a_certificate_states_it_and_is_confirmed(tmp_path: Path) -> None:
    table = hospital_table(2000)
    frame = shoal.datasets.hospital(2000, seed=4)
    release = shoal.anonymize(frame, table.spec, method="anatomy", l=3, seed=1)
    told = release.certificate["audit"]["adversaries"][-1]
    assert told["name"] == "all-views"
    assert told["residual"] < 0.05
    assert release.audit is not None
    assert told["robust"] is release.audit.by_adversary["all-views"].robust
    release.save(tmp_path / "release", private=tmp_path / "private")
    found = verify(tmp_path / "release", table=frame)
    assert found.confirmed, found
    assert found.adversaries == USUAL


@pytest.mark.parametrize(
    ("figure", "value"), [("residual", 0.9), ("problematic", 0), ("robust", True), ("missing", 50)]
)
def test_a_lie_about_it_is_refuted(tmp_path: Path, figure: str, value: object) -> None:
    frame = shoal.datasets.hospital(2000, seed=4)
    release = shoal.anonymize(frame, hospital_table(2000).spec, method="anatomy", l=3, seed=1)
    release.save(tmp_path / "release", private=tmp_path / "private")

    def lie(content: Any) -> None:
        assert content["audit"]["adversaries"][-1][figure] != value
        content["audit"]["adversaries"][-1][figure] = value

    edit(tmp_path / "release", lie)
    assert refused(tmp_path / "release", table=frame)


def test_several_columns_are_read_event_by_event() -> None:
    random = np.random.default_rng(5)
    rows = 400
    frame = pl.DataFrame(
        {
            "q": random.integers(0, 4, rows).astype(str),
            "p": random.integers(0, 3, rows).astype(str),
            "s": random.choice(["a", "b", "x"], rows, p=[0.5, 0.4, 0.1]),
            "t": random.choice(["c", "d", "y"], rows, p=[0.5, 0.4, 0.1]),
        }
    )
    together = Spec(
        qi=("q", "p"),
        sensitive=("s", "t"),
        protect=("s=x", "t=y"),  # type: ignore[arg-type]
        r=2,
        min_support=20,
    )
    groups = np.arange(rows) // 8
    found = shoal.audit(Table.from_frame(frame, together), groups)
    assert set(found.by_adversary) == {"joint", "binary", "together"}, "unless it is asked for"
    found = shoal.audit(Table.from_frame(frame, together), groups, adversary=("joint", "all-views"))
    worst = []
    for column, value in (("s", "x"), ("t", "y")):
        alone = Spec(qi=("q", "p"), sensitive=column, protect=(value,), r=2, min_support=20)  # type: ignore[arg-type]
        table = Table.from_frame(frame.select("q", "p", column), alone)
        one = audit(table, groups, adversary="all-views").by_adversary["all-views"]
        worst.append(one.worst_posterior)
    assert found.by_adversary["all-views"].worst_posterior == pytest.approx(max(worst), abs=1e-3)
