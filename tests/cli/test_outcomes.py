"""Verdicts in the forms of pipelines: GitHub's annotations, SARIF and JUnit."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
import xmlschema

from shoal.auditing.check_words import SAID, titled
from shoal.auditing.checks import CHECKS, Check, State
from shoal.cli.outcomes import FORMS, CommandRun, Outcome, of_checks
from tests.cli.program import SPEC, Done, refused, shoal_
from tests.cli.schemas import JUNIT, schema

STATES: tuple[State, ...] = ("kept", "broken", "undecided", "not asked")
HOSTILE = "a\x00b\x1b[31m, 100 % <\"&'> \ud800 \uffff\r\n::error::x ]]> é"


def sarif(text: str) -> dict[str, Any]:
    """The one run of a log that SARIF's own schema accepts."""
    log = json.loads(text)
    jsonschema.validate(log, schema("(SARIF) Version 2.1.0 JSON Schema"))
    (run,) = log["runs"]
    for one in run["results"]:
        assert run["tool"]["driver"]["rules"][one["ruleIndex"]]["id"] == one["ruleId"]
        assert (one["kind"] == "fail") is (one["level"] != "none"), "SARIF 3.27.10"
    return dict(run)


def junit(text: str) -> ElementTree.Element:
    """The suite of a report that Jenkins' schema accepts, its counts checked."""
    xmlschema.validate(text, JUNIT)
    root = ElementTree.fromstring(text)
    (suite,) = root.findall("testsuite")
    for name, tag in {"tests": "", "failures": "failure", "errors": "error"}.items():
        count = len(suite.findall(f"testcase/{tag}" if tag else "testcase"))
        assert suite.attrib[name] == root.attrib[name] == str(count)
    assert suite.attrib["skipped"] == str(len(suite.findall("testcase/skipped")))
    return suite


def github(text: str) -> list[tuple[str, dict[str, str], str]]:
    """Annotations: level, properties, text."""
    found = []
    for line in text.splitlines():
        parts = re.fullmatch(r"::(error|warning|notice) ([^:]*)::(.*)", line)
        assert parts, line
        properties = dict(one.split("=", 1) for one in parts[2].split(","))
        found.append((parts[1], properties, parts[3]))
    return found


READ: dict[str, Callable[[str], Any]] = {"sarif": sarif, "junit": junit, "github": github}


def run_of(outcomes: list[Outcome], subject: str = "release") -> CommandRun:
    return CommandRun("verify", subject, "CONFIRMED: 100 % of it.", outcomes, 0)


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Callable[[CommandRun, str], str]:
    def emitted(run: CommandRun, chosen: str) -> str:
        run.emit(chosen)
        return capsys.readouterr().out

    return emitted


def test_every_check_is_shown_in_every_state(said: Callable[[CommandRun, str], str]) -> None:
    for state in STATES:
        number = 0 if state == "kept" else 3
        checks = [Check(one, state, number) for one in CHECKS if SAID[one].sentence(state, number)]
        run = run_of(of_checks(checks))
        suite = junit(said(run, "junit"))
        assert [one.attrib["name"] for one in suite.findall("testcase")] == [
            title for _, title, _ in titled(checks)
        ]
        shown = sarif(said(run, "sarif"))["results"]
        kinds = {"broken": "fail", "undecided": "open"}
        assert {one["kind"] for one in shown} == {*filter(None, [kinds.get(state)])}
        assert len(shown) == (len(checks) if state in kinds else 0)
        *annotated, (last, _, headline) = github(said(run, "github"))
        levels = {"broken": "error", "undecided": "warning"}
        assert {level for level, _, _ in annotated} == {*filter(None, [levels.get(state)])}
        assert len(annotated) == len(shown)
        assert (last, headline) == ("notice", "CONFIRMED: 100 %25 of it.")


def test_every_check_has_a_reason_and_a_remedy() -> None:
    assert SAID.keys() == CHECKS.keys()
    for one in SAID.values():
        assert [one.reason[-1:], one.remedy[-1:]] == [".", "."], one.title


@pytest.mark.parametrize("form", FORMS)
def test_foreign_text_cannot_leave_its_place(
    form: str, said: Callable[[CommandRun, str], str]
) -> None:
    one = Outcome("attack/x", HOSTILE, "broken", HOSTILE, HOSTILE, HOSTILE)
    text = said(run_of([one], HOSTILE), form)
    assert not re.search("[\x00\x1b\ud800\uffff]", text)
    found = READ[form](text)
    if form == "github":
        assert len(found) == 2
        level, properties, _ = found[0]
        assert (level, {*properties}) == ("error", {"file", "title"})


@pytest.mark.parametrize("form", FORMS)
def test_passwords_are_not_shown(form: str, said: Callable[[CommandRun, str], str]) -> None:
    text = said(run_of([], "postgresql://ada:secret@db.example/clinic?table=t"), form)
    assert "secret" not in text
    READ[form](text)


@pytest.fixture(scope="module")
def torn(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release one of whose files was changed."""
    folder = tmp_path_factory.mktemp("torn") / "release"
    shutil.copytree(home / "release", folder)
    (folder / "README.txt").write_text("Trust me.\n", "utf-8")
    return folder


QUICK = ["--attacker", "likeliest", "--attacker", "medoid"]
COMMANDS: dict[str, list[str]] = {
    "verify": ["release"],
    "audit": ["grouped.csv", *SPEC, "--groups", "safe"],
    "attack": ["grouped.csv", *SPEC, "--groups", "safe", *QUICK],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_answer_is_the_same_in_all_forms(command: str, home: Path) -> None:
    asked = COMMANDS[command]
    plain = shoal_(command, *asked, "--json", cwd=home)
    assert plain.returncode in (0, 1, 3), plain.stderr
    answers: dict[str, Done] = {
        form: shoal_(command, *asked, "--output-format", form, cwd=home) for form in FORMS
    }
    assert {one.returncode for one in answers.values()} == {plain.returncode}
    found = {form: READ[form](one.stdout) for form, one in answers.items()}
    run, suite = found["sarif"], found["junit"]
    assert run["invocations"][0]["exitCode"] == plain.returncode
    failing = suite.findall("testcase/failure") + suite.findall("testcase/error")
    assert {one.attrib["message"] for one in failing} == {
        one["message"]["text"] for one in run["results"]
    }
    assert len(found["github"]) == 1 + len(failing)
    assert bool(failing) is (plain.returncode != 0) or command == "attack"
    assert suite.find("testcase") is not None


@pytest.mark.parametrize("form", FORMS)
def test_a_refuted_release_names_the_file(form: str, torn: Path) -> None:
    done = shoal_("verify", torn, "--output-format", form)
    assert done.returncode == 1
    READ[form](done.stdout)
    assert "file README.txt: its SHA-256 or size differs" in done.stdout


def test_two_forms_at_once_are_refused(home: Path) -> None:
    for command, asked in COMMANDS.items():
        done = shoal_(command, *asked, "--json", "--output-format", "sarif", cwd=home)
        refused(done, "output-format")
    done = shoal_("audit", "table.csv", "--releases", "a", "--output-format", "sarif", cwd=home)
    refused(done, "releases-option")


def test_an_input_that_is_at_fault_has_one_sentence_in_every_form(home: Path) -> None:
    done = shoal_("verify", "nowhere", "--output-format", "sarif", cwd=home)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("shoal: ")
