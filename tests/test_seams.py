"""A newcomer's exercise: an anonymizer and an adversary of one's own, each in a few lines, work
everywhere that shoal's do."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

import shoal
from shoal.api.compare import compare
from shoal.auditing import checks
from shoal.auditing.adversaries import adversary as adversaries
from shoal.auditing.adversaries.adversary import GroupReader, SeenGroup
from shoal.auditing.audit import audit
from shoal.auditing.check_words import SAID, Said, lines
from shoal.auditing.findings import Judged
from shoal.data.datasets import HOSPITAL_SENSITIVE, hospital
from shoal.data.table import Table
from shoal.groups import Grouping, Progress, silent
from shoal.methods import registry
from shoal.methods.art import Art
from shoal.release.facts import load_facts
from shoal.release.verification.verify import verify
from shoal.report.page import render
from shoal.workbench.verdicts import of_facts

SPEC = shoal.Spec(qi=["sex", "region"], sensitive=HOSPITAL_SENSITIVE, protect=[["HIV"]], r=4)
FRAME = hospital(3000, 5)


@dataclass(frozen=True)
class Crowds:
    """Everybody of one QI combination in one group."""

    name = "crowds"
    least: int = 2
    """The fewest people of a group."""

    def anonymize(self, table: Table, *, seed: int = 0, progress: Progress = silent) -> Grouping:
        large = table.signature_rows >= self.least
        classes = np.where(large, np.cumsum(large) - 1, -1).astype(np.int32)
        claims = {"guarantee": f"each group has at least {self.least} people"}
        return Grouping.of_classes(table, classes, claims=claims)


class Headcounter(GroupReader):
    """Knows nothing beforehand: an event's share of the group is everybody's chance."""

    name = "headcounter"
    reasoning = "counts the group, and knows nothing of its people"

    def posterior(self, group: SeenGroup) -> NDArray[np.float64]:
        events = group.event >= 0
        carried = np.bincount(group.event[events], group.counts[events], group.events)
        return np.tile(carried / group.people.sum(), (len(group.people), 1))


@pytest.fixture(autouse=True)
def _nothing_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry._METHODS, "added", {})
    monkeypatch.setattr(adversaries, "_known", dict(adversaries._known))


def test_an_anonymizer_of_ones_own(tmp_path: Path) -> None:
    registry.register(Crowds)
    release = shoal.anonymize(FRAME, SPEC, method="crowds", least=5)
    assert release.certificate["method"]["name"] == "crowds"
    assert release.certificate["method"]["parameters"] == {"least": 5}
    release.save(tmp_path / "release", private=tmp_path / "private")
    assert verify(tmp_path / "release", table=FRAME).confirmed
    table = Table.from_frame(FRAME, SPEC)
    assert audit(table, Crowds(5).anonymize(table)).groups == release.certificate["groups"]["count"]
    lines = compare(FRAME, SPEC, methods=["crowds", "anatomy"]).to_frame()
    assert lines["method"].to_list() == ["crowds", "anatomy"]


class Wrong(GroupReader):
    name = "wrong"
    reasoning = "does not answer"

    def __init__(self, answer: float, columns: int = 1) -> None:
        self.answer, self.columns = answer, columns

    def posterior(self, group: SeenGroup) -> NDArray[np.float64]:
        return np.full((len(group.people), self.columns), self.answer)


@pytest.mark.parametrize("wrong", [Wrong(np.nan), Wrong(2.0), Wrong(-0.1), Wrong(0.1, 3)])
def test_an_answer_that_is_no_probability_is_refused(wrong: Wrong) -> None:
    with pytest.raises(shoal.InputError, match="no probability"):
        audit(Table.from_frame(FRAME, SPEC), np.arange(len(FRAME)) // 2, adversary=wrong)


@pytest.mark.parametrize("given", [None, 5, Headcounter, []])
def test_what_is_no_adversary_is_refused(given: object) -> None:
    with pytest.raises(shoal.InputError):
        audit(Table.from_frame(FRAME, SPEC), np.arange(len(FRAME)) // 2, adversary=given)


def test_whom_art_claims_to_answer_judges_in_any_case() -> None:
    release = shoal.anonymize(FRAME, SPEC, method=Art(), adversary="binary")
    assert release.audit is not None
    assert release.audit.adversaries == ("joint", "binary")


def test_art_by_its_name_answers_whoever_is_to_judge() -> None:
    for adversary in ("binary", "joint"):
        release = shoal.anonymize(FRAME, SPEC, adversary=adversary)
        assert release.audit is not None
        assert release.audit.adversaries == (adversary,)
        assert release.certificate["method"]["claims"]["readers"] == [adversary]
    release = shoal.anonymize(FRAME, SPEC, adversary="binary", readers=("joint",))
    assert release.audit is not None
    assert release.audit.adversaries == ("joint", "binary")


@pytest.mark.parametrize("given", [{"method": Crowds(), "least": 3}, {"method": Crowds}])
def test_a_method_and_its_parameters_are_told_once(given: dict[str, object]) -> None:
    with pytest.raises(shoal.InputError):
        shoal.anonymize(FRAME, SPEC, **given)


def test_an_adversary_of_ones_own(tmp_path: Path) -> None:
    release = shoal.anonymize(FRAME, SPEC, adversary=["joint", Headcounter()])
    assert release.audit is not None
    assert release.audit.adversaries == ("joint", "headcounter")
    people = release.qi.group_by("gid").len("people")
    carried = release.sensitive.filter(release.sensitive[HOSPITAL_SENSITIVE] == "HIV")
    shares = carried.join(people, on="gid").select(pl.col("count") / pl.col("people"))
    worst = release.audit.by_adversary["headcounter"].worst_posterior
    assert worst == pytest.approx(shares.max().item())
    release.save(tmp_path / "release")
    stated = json.loads((tmp_path / "release" / "certificate.json").read_text())["audit"]
    assert [one["name"] for one in stated["adversaries"]] == ["joint", "headcounter"]
    with pytest.raises(shoal.InputError, match="no adversary"):
        verify(tmp_path / "release", table=FRAME)
    adversaries.register(Headcounter())
    assert verify(tmp_path / "release", table=FRAME).confirmed
    table = Table.from_frame(FRAME, SPEC)
    groups = np.arange(table.rows) // 2
    assert audit(table, groups, adversary="headcounter").robust is False
    lines = compare(FRAME, SPEC, methods=["anatomy"], adversary=["joint", "headcounter"]).to_frame()
    assert lines["robust"].to_list() == [False]


def test_a_method_is_given_what_is_known_only_where_it_is_a_field() -> None:
    """One that has it otherwise is left as it is; ART searches with what the audit reads."""
    seen: list[object] = []

    @dataclass(frozen=True)
    class Knowing(Crowds):
        knowledge = None

    @dataclass(frozen=True)
    class Taught(Crowds):
        knowledge: shoal.Knowledge | None = None

        def anonymize(
            self, table: Table, *, seed: int = 0, progress: Progress = silent
        ) -> Grouping:
            seen.append(self.knowledge)
            return super().anonymize(table, seed=seed, progress=progress)

    assert shoal.anonymize(FRAME, SPEC, method=Knowing()).certificate["rows"]["published"] == 3000
    release = shoal.anonymize(FRAME, SPEC, method=Taught())
    assert [type(one) for one in seen] == [shoal.Knowledge]
    assert release.certificate["method"]["parameters"]["knowledge"] is None


@dataclass(frozen=True)
class Pairs(Crowds):
    """Two alike people of one combination in one group: some have the same value."""

    name = "pairs"

    def anonymize(self, table: Table, *, seed: int = 0, progress: Progress = silent) -> Grouping:
        return Grouping.of_rows(table, (np.arange(table.rows) // 2).astype(np.int32))


def nothing_is_read(found: Judged) -> checks.Found:
    """A rule: nobody is published with a value that can be read, be it protected or not."""
    return checks.state_of(found.readable or 0, 0, found.readable == 0)


def test_a_check_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rule and words are listed; terminal, JSON, certificate, README, report and workbench show
    them, and verify judges by them."""
    said = Said(
        "Nothing is read",
        "A value that can be read needs no guess.",
        "Have larger groups.",
        "{people} {are} published with a value that can be read",
    )
    monkeypatch.setitem(checks.CHECKS, "silence", nothing_is_read)
    monkeypatch.setitem(SAID, "silence", said)
    release = shoal.anonymize(FRAME, SPEC, method=Pairs())
    assert release.audit is not None
    check, told = release.audit.checks[-1], f"{release.audit.readable} people are published with a"
    assert (check.name, check.state, release.robust) == ("silence", "broken", False)
    assert release.audit.to_dict()["checks"][-1]["people"] == release.audit.readable > 1
    assert f"Nothing is read: {told} value that can be read." in "\n".join(lines([check]))
    release.save(tmp_path / "release", private=tmp_path / "private")
    stated = json.loads((tmp_path / "release" / "certificate.json").read_text())["audit"]
    assert stated["checks"][-1]["name"] == "silence"
    assert told in " ".join((tmp_path / "release" / "README.txt").read_text().split())
    facts = load_facts(tmp_path / "private")
    assert told in render(facts, edition="public")
    assert [one for one in of_facts(facts).listed if told in one[-1]]
    assert verify(tmp_path / "release", table=FRAME).confirmed
