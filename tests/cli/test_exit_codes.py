"""Exit codes, files on disk and words agree with the verdict, whatever it is."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.attacks import Attack, Finding, Rate
from shoal.auditing.audit import audit
from shoal.auditing.check_words import SAID, remedy
from shoal.auditing.checks import Check, State
from tests.cli.program import RELEASE_FILES, SPEC, Done, refused, shoal_

Verdict = bool | None
CODES: dict[Verdict, int] = {True: 0, False: 1, None: 3}
WORDS: dict[Verdict, str] = {
    True: "ROBUST",
    False: "NOT ROBUST",
    None: "NOT SHOWN TO BE ROBUST",
}
STATES: dict[Verdict, State] = {True: "kept", False: "broken", None: "undecided"}
ALL = list(product(CODES, (False, True), (False, True), (False, True)))


@pytest.fixture(scope="module")
def older(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a release that was made before, and what is private of it."""
    folder = tmp_path_factory.mktemp("older")
    done = shoal_("anonymize", home / "table.csv", *SPEC, "--out", folder / "out")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> Callable[[Verdict], None]:
    """Makes the auditor come to a verdict; all that follows from it is the program's own."""
    judge = shoal.api.anonymize.judge

    def come_to(verdict: Verdict) -> None:
        def judging(*given: Any, **more: Any) -> Any:
            found = judge(*given, **more)
            first = replace(found.checks[0], state=STATES[verdict])
            return replace(found, checks=(first, *found.checks[1:]))

        monkeypatch.setattr("shoal.api.anonymize.judge", judging)

    return come_to


def contents(folder: Path) -> dict[str, bytes]:
    """Everything below a folder, hidden files included."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize(("verdict", "anyway", "exists", "as_json"), ALL)
def test_a_release_is_written_if_it_is_robust_or_that_is_chosen(
    home: Path,
    older: Path,
    tmp_path: Path,
    judged: Callable[[Verdict], None],
    verdict: Verdict,
    anyway: bool,
    exists: bool,
    as_json: bool,
) -> None:
    if exists:
        for name in ("out", "out-private"):
            shutil.copytree(older / name, tmp_path / name)
    before = contents(tmp_path)
    judged(verdict)
    given = ["anonymize", home / "table.csv", *SPEC, "--out", "out", "--report", "inside.html"]
    given += ["--force"] * exists + ["--write-anyway"] * anyway + ["--json"] * as_json
    done = shoal_(*given, "--public-report", "outside.html", cwd=tmp_path)
    assert done.returncode == CODES[verdict], done.stderr

    written = verdict is True or anyway
    if written:
        names = {entry.name for entry in tmp_path.iterdir()}
        assert names == {"out", "out-private", "inside.html", "outside.html"}
        assert {file.name for file in (tmp_path / "out").iterdir()} == RELEASE_FILES
        certificate = json.loads((tmp_path / "out" / "certificate.json").read_text("utf-8"))
        assert certificate["audit"]["robust"] is verdict
        assert contents(tmp_path) != before
    else:
        assert contents(tmp_path) == before
        assert {entry.name for entry in tmp_path.iterdir()} == (
            {"out", "out-private"} if exists else set()
        )

    told = done.stderr if as_json else done.stdout
    if as_json:
        found = json.loads(done.stdout)
        assert (found["robust"], found["written"]) == (verdict, written)
    else:
        assert told.startswith(f"{WORDS[verdict]} at r = 3: ")
        assert ("Release: out   to keep inside: out-private" in told) is written
    assert ("NOTHING WAS WRITTEN" in told) is not written
    assert ("--write-anyway writes it all the same" in told) is not written
    assert (SAID["one-view"].remedy in told) is not written
    all_the_same = f"{WORDS[verdict]}, and written all the same, because of --write-anyway"
    assert (all_the_same in told) is (written and verdict is not True)


@pytest.mark.parametrize("name", SAID)
def test_the_remedy_is_that_of_the_check_that_broke(name: str) -> None:
    open_ = Check("counting", "undecided")
    assert remedy((Check("lookup", "kept"), open_, Check(name, "broken"))) == SAID[name].remedy
    assert remedy((Check("lookup", "kept"), open_)) == SAID["counting"].remedy


def test_without_force_what_exists_is_refused_before_anything_is_judged(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "out").mkdir()
    monkeypatch.setattr("shoal.api.anonymize.judge", None)
    given = ["anonymize", home / "table.csv", *SPEC, "--out", tmp_path / "out"]
    refused(shoal_(*given, "--write-anyway"), "output-exists")


def test_a_method_that_does_not_hold_is_treated_alike(home: Path, tmp_path: Path) -> None:
    """Nothing is made up here: anatomy's groups break the limit, and verify says so too."""
    out, table = tmp_path / "out", home / "table.csv"
    given = ["anonymize", table, *SPEC, "--out", out, "--method", "anatomy", "--l", "3"]
    done = shoal_(*given)
    assert done.returncode == 1, done.stderr
    assert "NOTHING WAS WRITTEN, because this release is not robust." in done.stdout
    assert not any(tmp_path.iterdir())
    done = shoal_(*given, "--write-anyway")
    assert done.returncode == 1, done.stderr
    assert {file.name for file in out.iterdir()} == RELEASE_FILES
    for more in ([], ["--table", table]):
        checked = shoal_("verify", out, *more)
        assert checked.returncode == 1, checked.stderr
        assert "CONFIRMED (" in checked.stdout
        assert "The certificate says: NOT ROBUST" in checked.stdout
        assert "WRONG" not in checked.stdout


@pytest.mark.parametrize(("verdict", "confirmed"), list(product(CODES, (True, False))))
def test_verify_ends_with_what_it_confirms(
    home: Path, monkeypatch: pytest.MonkeyPatch, verdict: Verdict, confirmed: bool
) -> None:
    check = shoal.api.verify.verify

    def checking(*given: Any, **more: Any) -> Any:
        found = check(*given, **more)
        checks = found.checks if confirmed else (replace(found.checks[0], passed=False),)
        first = replace(found.verdict[0], state=STATES[verdict])
        return replace(found, verdict=(first, *found.verdict[1:]), checks=checks)

    monkeypatch.setattr("shoal.api.verify.verify", checking)
    done = shoal_("verify", home / "release")
    assert done.returncode == (CODES[verdict] if confirmed else 1)
    assert f"The certificate says: {WORDS[verdict]} to the " in done.stdout
    assert ("REFUTED (" in done.stdout) is not confirmed
    assert ("\nCONFIRMED (" in f"\n{done.stdout}") is confirmed


# --- attack -------------------------------------------------------------------------------------

THIRD = 1 / 3
HELD = Finding("held", "", everybody=Rate(900, 290), unknown=Rate(900, 290), promised=THIRD)
FELL = Finding("fell", "", everybody=Rate(900, 500), unknown=Rate(900, 500), promised=THIRD)
FEW = Finding("few", "", everybody=Rate(3, 0), unknown=Rate(3, 0), promised=THIRD)
SURE = replace(HELD, attacker="sure", certain=Rate(1, 1), surprises=1)
FREE = Finding("free", "", everybody=Rate(900, 900))
IDLE = Finding("idle", "")


@pytest.mark.parametrize(
    ("findings", "code", "said"),
    [
        ([HELD], 0, "NOT BEATEN: "),
        ([HELD, FREE, IDLE], 0, "NOT BEATEN: "),
        ([FELL], 1, "BEATEN: the limit falls to fell."),
        ([HELD, FELL, FEW], 1, "BEATEN: the limit falls to fell."),
        ([HELD, SURE], 1, "BEATEN: the limit falls to sure."),
        ([FEW], 3, "TOO FEW TRIES TO JUDGE: few. "),
        ([HELD, FEW], 3, "TOO FEW TRIES TO JUDGE: few. "),
        ([FREE, IDLE], 3, "NOT TRIED: "),
        ([], 3, "NOT TRIED: "),
    ],
)
def test_an_attack_ends_with_what_it_can_tell(
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    findings: list[Finding],
    code: int,
    said: str,
) -> None:
    found = Attack(tuple(findings), (), "absolute", 0, 0.0)
    monkeypatch.setattr("shoal.api.attack.attack", lambda *_, **__: found)
    given = ["attack", home / "grouped.csv", "--groups", "same", *SPEC]
    done = shoal_(*given)
    assert done.returncode == code, done.stderr
    verdicts = [line for line in done.stdout.splitlines() if line.partition(":")[0].isupper()]
    assert [line[: len(said)] for line in verdicts] == [said]
    told = json.loads(shoal_(*given, "--json").stdout)
    assert CODES[told["withstood"]] == code


# --- plan ---------------------------------------------------------------------------------------


LIKELY = "town,value,probability\na,ill,0.99\nb,ill,0.2\n"
"""Ten people who are likely carriers, and are none: the linear program takes each for many
partners, while one person hides no more than 1/(r-1) others."""
CASES: dict[str, tuple[dict[str, tuple[int, int]], list[str], Verdict | int]] = {
    "robust": ({"a": (4, 100), "b": (6, 100)}, ["-r", "3"], True),
    "not robust": ({"a": (4, 100), "b": (6, 100)}, ["-r", "3"], False),
    "not decided": ({"a": (4, 100), "b": (6, 100)}, ["-r", "3"], None),
    "refused by proof": (
        {"a": (0, 10), "b": (60, 100)},
        ["-r", "4", "--knowledge", "known.csv"],
        2,
    ),
    "refused by a run": ({"a": (28, 38), "b": (26, 37), "c": (52, 73)}, ["-r", "2.5"], 2),
    "prior, lost": ({"a": (0, 10), "b": (60, 100)}, ["-r", "4", "--limit", "prior"], 2),
    "prior": ({"a": (4, 100), "b": (9, 100)}, ["-r", "12", "--limit", "prior"], True),
    "of a model": ({"a": (4, 100), "b": (6, 100)}, ["-r", "3", "--model", "logistic"], True),
    "no such column": ({"a": (4, 100)}, ["-r", "3", "--identifiers", "name"], 2),
    "a name that is taken": ({"a": (4, 100)}, ["-r", "3", "--qi", "count"], 2),
}


@pytest.mark.parametrize("case", CASES)
def test_plan_ends_as_anonymize_does(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    towns, more, expected = CASES[case]
    lines = [
        (town, "ill" if one < ill else "xyz"[one % 3], one % 2)
        for town, (ill, people) in towns.items()
        for one in range(people)
    ]
    pl.DataFrame(lines, schema=["town", "state", "count"], orient="row").write_csv(
        tmp_path / "t.csv"
    )
    (tmp_path / "known.csv").write_text(LIKELY, "utf-8")
    if expected is False or expected is None:
        for module in ("shoal.api.anonymize", "shoal.planning.comparison.finding"):
            monkeypatch.setattr(f"{module}.judge", _coming_to(expected))
    given = ["t.csv", "--qi", "town", "--sensitive", "state", "--protect", "ill", *more]
    given += ["--min-support", "10"]
    planned = shoal_("plan", *given, cwd=tmp_path)
    made = shoal_("anonymize", *given, "--out", "out", "--seed", "0", cwd=tmp_path)
    code = expected if type(expected) is int else CODES[expected]
    assert (planned.returncode, made.returncode) == (code, code), planned.stderr + made.stderr
    assert (tmp_path / "out").exists() is (code == 0)


def _coming_to(verdict: Verdict) -> Callable[..., Any]:
    def judging(*given: Any, **more: Any) -> Any:
        found = audit(*given, **more)
        return replace(found, checks=(replace(found.checks[0], state=STATES[verdict]),))

    return judging


def test_plan_adds_up_a_persons_rows_as_anonymize_does(tmp_path: Path) -> None:
    """Row by row this table holds up to r = 10."""
    lines = [
        (f"p{one}", "ab"[one % 2], "ill" if one % 20 == 0 and row % 3 else "xyz"[row % 3])
        for one in range(300)
        for row in range((1, 1, 2, 12)[one % 4])
    ]
    frame = pl.DataFrame(lines, schema=["who", "town", "state"], orient="row")
    frame.write_csv(tmp_path / "t.csv")
    given = ["t.csv", "--qi", "town", "--sensitive", "state", "--protect", "ill", "-r", "4"]
    given += ["--person", "who", "--min-support", "50"]
    for more in ([], ["--rows-per-person", "first"]):
        made = shoal_("anonymize", *given, *more, "--out", "out", "--seed", "0", cwd=tmp_path)
        planned = shoal_("plan", *given, *more, cwd=tmp_path)
        assert planned.returncode == made.returncode, planned.stdout + made.stdout


def test_plan_says_how_many_find_no_group(tmp_path: Path) -> None:
    people = [("a", "fine")] * 10 + [("b", "ill")] * 60 + [("b", "fine")] * 40
    pl.DataFrame(people, schema=["town", "state"], orient="row").write_csv(tmp_path / "t.csv")
    (tmp_path / "known.csv").write_text(LIKELY, "utf-8")
    spec = ["--qi", "town", "--sensitive", "state", "--protect", "ill", "-r", "4"]
    given = ["t.csv", *spec, "--knowledge", "known.csv"]
    done = shoal_("plan", *given, "--json", "--seconds", 0, cwd=tmp_path)
    found: dict[str, Any] = json.loads(done.stdout)
    (event,) = found["events"]
    assert event["coverage_bound"] == event["carriers"] == found["carriers"] == 60
    assert (found["lost"], found["feasible"], found["exit_code"]) == (44, False, 2)
    told = shoal_("plan", *given, cwd=tmp_path)
    assert told.returncode == done.returncode == 2
    assert "At least 44 of 60 people with a protected value (73.3 %) find no group" in told.stdout
    assert "`shoal anonymize` refuses to lose so many." in told.stdout
    refused(shoal_("anonymize", *given, "--out", "out", cwd=tmp_path), "r-impossible")
    prior = shoal_("plan", *given, "--limit", "prior", "--json", cwd=tmp_path)
    assert json.loads(prior.stdout)["lost"] == 0


def test_a_fault_of_the_program_is_no_verdict(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError("made up")

    monkeypatch.setattr("shoal.api.anonymize.judge", broken)
    done: Done = shoal_("anonymize", home / "table.csv", *SPEC, "--out", home / "broken")
    assert done.returncode == 2
    assert "ZeroDivisionError: made up" in done.stderr
    assert not (home / "broken").exists()
