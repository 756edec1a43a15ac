"""One verdict: every combination of checks against exit code, files, colours and words."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.auditing import check_words, checks
from shoal.auditing.attacked import AttackResult
from shoal.auditing.audit import audit
from shoal.auditing.check_words import LABELS, TONES, lines, titled
from shoal.auditing.checks import Check, State, most_people, verdict
from shoal.auditing.findings import Findings, Judged, JudgedTogether
from shoal.data.table import Table
from shoal.plain import plain, typed
from shoal.release.facts import Facts
from shoal.report.page import render
from shoal.wording import verdict_words
from shoal.workbench import verdicts
from tests.cli.program import SPEC, shoal_
from tests.release.fixed import CERTAIN, SEXES, SEXES_SPEC, WIDE

STATES: tuple[State, ...] = ("kept", "broken", "undecided", "not asked")
ASKED = ("one-view", "all-views", "certainty", "counting", "suppression")
POSSIBLE: list[tuple[State, ...]] = [
    states
    for states in product(STATES, repeat=len(ASKED))
    if all(state != "undecided" for state in states[2:])  # these are counted, and so decided
]
CODES = {True: 0, False: 1, None: 3}
COLOURS = {True: "yes", False: "no", None: "open"}


def listed(states: tuple[State, ...]) -> tuple[Check, ...]:
    """Checks in these states, about different numbers of people."""
    about = [
        Check(name, state, {"kept": 0, "not asked": None}.get(state, 11 * (place + 1)))
        for place, (name, state) in enumerate(zip(ASKED, states, strict=True))
    ]
    return (*about, *(Check(name, "not asked") for name in ("person", "releases", "attack")))


def expected(states: tuple[State, ...]) -> bool | None:
    if "broken" in states:
        return False
    return None if "undecided" in states else True


@pytest.mark.parametrize("states", POSSIBLE, ids="-".join)
def test_the_rule_the_words_and_the_colours_of_all_combinations(
    states: tuple[State, ...], facts: Facts
) -> None:
    found = listed(states)
    robust = verdict(found)
    assert robust is expected(states)
    assert tuple(typed(Check, one) for one in plain(found)) == found
    assert (most_people(found) > 0) is (robust is False)
    text = "\n".join(lines(found))
    for one, _, said in titled(found):
        assert f"{LABELS[one.state]} " in text
        assert said in text
        if one.state in ("broken", "undecided"):
            assert said.startswith(f"{one.people} people ")
    assert isinstance(facts.verdict, Findings)
    told = replace(facts, verdict=replace(facts.verdict, checks=found))
    for shown in (
        verdicts.of_facts(told),
        verdicts.of_findings(replace(facts.verdict, checks=found, worst=None)),
    ):
        assert (shown.robust, shown.tone) == (robust, COLOURS[robust])
        assert [tone for tone, *_ in shown.listed] == [TONES[one.state] for one in found]
        above = dict(shown.short).get("people above their limit")
        assert above == (most_people(found) if robust is False else None), "nobody is no figure"


@pytest.fixture(scope="module")
def facts() -> Facts:
    from shoal.release.facts import audit_facts

    table = Table.from_frame(SEXES, SEXES_SPEC)
    return audit_facts(audit(table, WIDE), table)


FEW: list[tuple[State, ...]] = [
    ("kept",) * 5,
    ("kept", "undecided", "kept", "kept", "kept"),
    ("undecided", "not asked", "kept", "kept", "kept"),
    ("undecided", "undecided", "kept", "broken", "kept"),
    *(
        tuple("broken" if place == one else "kept" for place in range(5))  # type: ignore[misc]
        for one in range(5)
    ),
]


@pytest.mark.parametrize(
    ("edition", "states"),
    [*product(["internal"], POSSIBLE), *product(["public"], FEW)],
    ids=lambda one: one if isinstance(one, str) else "-".join(one),
)
def test_the_page_has_the_verdicts_colour_and_no_harmless_tile(
    edition: Any, states: tuple[State, ...], facts: Facts
) -> None:
    found = listed(states)
    robust = verdict(found)
    told = replace(facts, verdict=replace(facts.verdict, checks=found))
    page = render(told, edition=edition)
    assert f'<section class="verdict {COLOURS[robust]}" id="verdict"' in page
    tones = re.findall(r'<div class="(yes|no|open|none)"><dt>', page)
    first = [one.state for one in found if one.state in ("broken", "undecided")]
    folded = [one.state for one in found if one.state in ("kept", "not asked")]
    assert tones == [TONES[one] for one in first + folded]
    assert page.count("<details open>") >= (robust is not True), "the worst case stays in sight"
    said = re.findall(r"<summary>(?:<strong>Kept:</strong> (\d+)\.)", page)
    assert said == [str(folded.count("kept"))]
    (tile,) = re.findall(r"<dt>people above a limit[^<]*</dt><dd>([^<]*)</dd>", page)
    assert (tile == "0") is (robust is not False)


@pytest.mark.parametrize("states", FEW, ids="-".join)
def test_exit_code_files_and_lists_agree(
    states: tuple[State, ...], home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = listed(states)
    robust, judge = verdict(found), shoal.api.anonymize.judge

    def judging(*given: Any, **more: Any) -> Any:
        return replace(judge(*given, **more), checks=found)

    monkeypatch.setattr("shoal.api.anonymize.judge", judging)
    given = ["anonymize", home / "table.csv", *SPEC, "--out", tmp_path / "out"]
    done = shoal_(*given)
    assert done.returncode == CODES[robust], done.stderr
    assert (tmp_path / "out").exists() is (robust is True)
    for line in lines(found):
        assert line in done.stdout
    done = shoal_(*given, "--write-anyway", "--force", "--json")
    assert done.returncode == CODES[robust], done.stderr
    told = json.loads(done.stdout)
    assert (told["robust"], told["checks"]) == (robust, plain(found))
    certificate = json.loads((tmp_path / "out" / "certificate.json").read_text("utf-8"))
    assert certificate["audit"]["checks"] == plain(found)
    page = " ".join((tmp_path / "out" / "README.txt").read_text("utf-8").split())
    for line in lines(found):
        assert " ".join(line.split()) in page


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, shoal.Release]:
    """A small table and a release of it."""
    file = tmp_path_factory.mktemp("made") / "t.csv"
    frame = pl.DataFrame({"q": [*"ab"] * 60, "v": ["x", *["y", "z"] * 59, "y"]})
    frame.write_csv(file)
    spec = shoal.Spec(qi=["q"], sensitive="v", protect=["x"], r=2, min_support=10)
    return file, shoal.anonymize(frame, spec, seed=1)


@pytest.mark.parametrize("states", POSSIBLE, ids="-".join)
def test_exit_code_files_and_words_of_all_combinations(
    states: tuple[State, ...],
    made: tuple[Path, shoal.Release],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The release was searched for and judged once; whatever its checks say, this follows."""
    file, release = made
    assert release.audit is not None
    found = listed(states)
    robust = verdict(found)
    audited = {**release.certificate["audit"], "robust": robust, "checks": plain(found)}
    told = replace(
        release,
        run=replace(release.made, audit=replace(release.audit, checks=found)),
        certificate={**release.certificate, "audit": audited},
    )
    monkeypatch.setattr("shoal.api.anonymize.anonymize", lambda *_, **__: told)
    given = ["--qi", "q", "--sensitive", "v", "--protect", "x", "-r", "2", "--min-support", "10"]
    done = shoal_("anonymize", file, *given, "--out", tmp_path / "out")
    assert done.returncode == CODES[robust], done.stderr
    assert [one.name for one in tmp_path.iterdir() if one.name == "out"] == ["out"] * (
        robust is True
    )
    assert (tmp_path / "out-private").exists() is (robust is True)
    assert done.stdout.split(":")[0] == f"{verdict_words(robust).upper()} at r = 2"
    for line in lines(found):
        assert line in done.stdout
    assert ("--write-anyway" in done.stderr + done.stdout) is (robust is not True)


# --- a real table for each check that breaks it ---------------------------------------------------

ALONE = (WIDE[0], -1, *WIDE[2:])
"""A man with x is missing, and nobody else."""
HALF = (0, -1, 0, 0, -1, 0, *WIDE[6:])
"""Of two men who are missing one carries x, and four more come into question."""
BY_GROUP = (0, *[1] * 9, 2, 3, 0, 0, 2, 2, 3, 3, 2, 3)
"""One man is the only one of his group with x, and one of all others carries it."""


@pytest.mark.parametrize(
    ("groups", "names", "broken"),
    [
        (WIDE, ("joint", "binary"), []),
        (tuple(range(20)), ("joint",), ["one-view", "certainty", "counting"]),
        (CERTAIN, ("joint", "binary"), ["certainty", "counting"]),
        (CERTAIN, ("joint", "binary", "all-views"), ["all-views", "certainty", "counting"]),
        (BY_GROUP, ("joint", "binary"), ["certainty"]),
        (ALONE, ("joint", "binary"), ["certainty", "counting", "suppression"]),
        (HALF, ("joint", "binary"), ["suppression"]),
    ],
)
def test_real_groups_break_each_check(
    groups: tuple[int, ...], names: tuple[str, ...], broken: list[str]
) -> None:
    found = audit(Table.from_frame(SEXES, SEXES_SPEC), groups, adversary=names)
    assert [one.name for one in found.checks if one.state == "broken"] == broken
    assert found.robust is not bool(broken)
    assert found.to_dict()["robust"] is found.robust
    for one in found.checks:
        if one.state == "broken":
            assert one.people


def test_people_who_are_certain_by_counting_are_never_under_a_robust_verdict(
    tmp_path: Path,
) -> None:
    """Groups that answer all readers of one view: robust and exit code 0, once."""
    table = SEXES.with_columns(group=pl.Series(CERTAIN))
    table.write_csv(tmp_path / "t.csv")
    given = ["--qi", "sex", "--sensitive", "v", "--protect", "x", "-r", "3", "--min-support", "5"]
    given += ["--groups", "group", "--adversary", "joint", "--report", tmp_path / "r.html"]
    done = shoal_("audit", tmp_path / "t.csv", *given)
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("NOT ROBUST")
    assert "BROKEN       Certain by counting: 2 people are certain" in done.stdout
    page = (tmp_path / "r.html").read_text("utf-8")
    assert '<section class="verdict no"' in page
    assert not re.search(r"people above a limit[^<]*</dt><dd>0<", page)


def test_an_attack_that_succeeds_is_part_of_the_verdict_of_a_page(facts: Facts) -> None:
    beaten = AttackResult(attackers=(), beaten_by=("insider",), withstood=False)
    held, few = (replace(beaten, beaten_by=(), withstood=one) for one in (True, None))
    for told in (beaten, held, few):
        for shown in (told, told.public()):  # both editions say the same
            found = checks.attacked(facts.verdict.checks, shown)
            assert verdict(found) is (told is not beaten)
            assert (found == facts.verdict.checks) is (told is few)


BROKEN = {"kept": False, "classes": 1, "certain_classes": 1, "carriers_in_worst_view": 2}


@pytest.mark.parametrize(
    ("counter", "certain"), [(None, "not asked"), ({"certain_in_worst_view": 2}, "broken")]
)
def test_older_figures_are_judged_by_the_same_rule(counter: Any, certain: State) -> None:
    """Certificates of the first format say nothing of counting; those of the third, beside."""
    told = counter and {**BROKEN, **counter}
    figures: dict[str, Any] = {
        "adversaries": [{"name": "joint", "robust": True}],
        "problematic": 0,
        "undecided": 0,
        "counter": told,
        "absence": None,
    }
    read = Judged.of(figures).checks
    found = {one.name: one.state for one in read}
    assert found["certainty"] == certain
    assert verdict(read) is (certain != "broken")


@pytest.mark.parametrize(("told", "start"), [(0, "Nobody is linked"), (7, "7 people are above")])
def test_people_whom_earlier_releases_link_are_said_where_the_check_is_kept(
    told: int, start: str
) -> None:
    figures = {"adversaries": [{"name": "joint", "robust": True}], "problematic": 0, "undecided": 0}
    together = JudgedTogether(kept=True, above=0, undecided=0, told=told)
    judged = replace(Judged.of({**figures, "counter": None, "absence": None}), together=together)
    (one,) = (check for check in checks.checks_of(judged) if check.name == "releases")
    assert (one.state, one.people) == ("kept", told)
    assert check_words.words(one).startswith(start)


def test_a_broken_check_says_how_far_above_its_limit_and_a_kept_one_how_near() -> None:
    broken, kept = Check("one-view", "broken", 7, 0.5, 0.2), Check("one-view", "kept", 0, 0.2, 0.2)
    assert (
        "; the chance farthest above its limit is 50 %, where 20 % is allowed"
        in check_words.words(broken)
    )
    assert "; the chance nearest to its limit is 20 %, where 20 % is allowed" in check_words.words(
        kept
    )
    on_the_edge = replace(kept, worst=0.2 + 1e-12)
    assert "; the chance nearest to its limit is " in check_words.words(on_the_edge)
