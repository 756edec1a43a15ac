"""Verdicts for machines that run checks: annotations of GitHub, SARIF and JUnit, of one list."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote
from xml.etree import ElementTree

import typer

from shoal._version import __version__
from shoal.auditing.check_words import NOTHING, SAID, titled
from shoal.auditing.checks import Check, State
from shoal.errors import InputError
from shoal.names import OutputFormat
from shoal.wording import whole

if TYPE_CHECKING:
    from shoal.attacks import Attack
    from shoal.release.verification.files import Claim

PROPERTY = {"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"}
"""How GitHub wants the properties of an annotation; the first three hold for its text."""
ANNOTATED: dict[State, str] = {"broken": "error", "undecided": "warning"}
KINDS: dict[State, str] = {"broken": "fail", "undecided": "open"}
"""SARIF's words for what is worth a result; only what fails has a level."""
JUNIT: dict[State, str] = {"broken": "failure", "undecided": "error", "not asked": "skipped"}
STATES: dict[str, State] = {
    "beaten": "broken",
    "not beaten": "kept",
    "too few tries to judge": "undecided",
}
"""What the verdict on an attacker amounts to; the others promise nothing."""
SARIF = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"
CLAIM_FAILS = (
    "A release is worth what its certificate says only if nothing in its folder contradicts it.",
    "Do not rely on this release: ask its publisher for it again, and verify what you are given.",
)


@dataclass(frozen=True)
class Outcome:
    """One thing that was checked, and what came out."""

    rule: str
    title: str
    state: State
    sentence: str
    reason: str
    remedy: str


def of_checks(checks: Iterable[Check], instead: Mapping[str, str] = NOTHING) -> list[Outcome]:
    """The checks of a verdict."""
    return [
        Outcome(
            check.name,
            title,
            check.state,
            sentence,
            SAID[check.name].reason,
            SAID[check.name].remedy,
        )
        for check, title, sentence in titled(checks, instead=instead)
    ]


def of_claims(claims: Iterable[Claim]) -> list[Outcome]:
    """What verify held a release against."""
    return [
        Outcome(
            f"certificate/{one.name.replace(' ', '-')}",
            one.name,
            "kept" if one.passed else "broken",
            f"{one.name}: {one.detail or ('as stated' if one.passed else 'not as stated')}",
            *CLAIM_FAILS,
        )
        for one in claims
    ]


def of_attack(found: Attack) -> list[Outcome]:
    """What each attacker achieved; who could not run was not asked."""
    tried = [
        (one.attacker, STATES.get(one.verdict, "not asked"), one.sentence, one.reasoning)
        for one in found.findings
    ]
    tried += [(one.attacker, "not asked", f"Not run. {one.reason}", "") for one in found.not_run]
    return [
        Outcome(
            f"attack/{name}",
            f"Attacker {name}",
            state,
            sentence,
            f"This attacker {reasoning}." if reasoning else SAID["attack"].reason,
            SAID["attack"].remedy,
        )
        for name, state, sentence, reasoning in tried
    ]


def chosen_format(output_format: OutputFormat | None, *, json: bool) -> str | None:
    """The form that machines are answered in; None for people."""
    if json and output_format is not None:
        raise InputError(
            "output-format",
            f"--json and --output-format {output_format} ask for two forms at once.",
            "Leave one of them out.",
        )
    return "json" if json else output_format


@dataclass(frozen=True)
class CommandRun:
    """A command that judged something, and its answer."""

    command: Literal["audit", "verify", "attack"]
    subject: str
    """The file or folder that was judged."""
    headline: str
    outcomes: Sequence[Outcome]
    exit_code: int

    def emit(self, chosen: str) -> None:
        """Prints it in one of the forms."""
        from shoal.data.storage.location import redact

        plain = CommandRun(
            self.command,
            whole(redact(self.subject)),
            whole(self.headline),
            [Outcome(*map(whole, vars(one).values())) for one in self.outcomes],  # type: ignore[arg-type]
            self.exit_code,
        )
        typer.echo(FORMS[chosen](plain))


def _github(run: CommandRun) -> str:
    lines = [
        _annotation(ANNOTATED[one.state], f"shoal {run.command}: {one.title}", one.sentence, run)
        for one in run.outcomes
        if one.state in ANNOTATED
    ]
    return "\n".join([*lines, _annotation("notice", f"shoal {run.command}", run.headline, run)])


def _annotation(level: str, title: str, text: str, run: CommandRun) -> str:
    shown = {"title": title} if "://" in run.subject else {"file": run.subject, "title": title}
    told = ",".join(f"{name}={_escaped(value, PROPERTY)}" for name, value in shown.items())
    return f"::{level} {told}::{_escaped(text, list(PROPERTY)[:3])}"


def _escaped(text: str, signs: Iterable[str]) -> str:
    for sign in signs:
        text = text.replace(sign, PROPERTY[sign])
    return text


def _sarif(run: CommandRun) -> str:
    rules = {one.rule: one for one in run.outcomes if one.state in KINDS}
    places = {name: place for place, name in enumerate(rules)}
    where = {"artifactLocation": {"uri": quote(run.subject, safe="/:")}, "region": {"startLine": 1}}
    results = [
        {
            "ruleId": one.rule,
            "ruleIndex": places[one.rule],
            "kind": KINDS[one.state],
            "level": "error" if one.state == "broken" else "none",
            "message": {"text": one.sentence},
            "locations": [{"physicalLocation": where}],
        }
        for one in run.outcomes
        if one.state in KINDS
    ]
    driver = {
        "name": "shoal",
        "semanticVersion": __version__,
        "rules": [_rule(one) for one in rules.values()],
    }
    done = {
        "executionSuccessful": True,
        "exitCode": run.exit_code,
        "exitCodeDescription": run.headline,
    }
    told: dict[str, Any] = {
        "tool": {"driver": driver},
        "automationDetails": {"id": f"shoal/{run.command}/"},
        "invocations": [done],
        "results": results,
    }
    log = {"$schema": SARIF, "version": "2.1.0", "runs": [told]}
    return json.dumps(log, indent=2, ensure_ascii=False)


def _rule(one: Outcome) -> dict[str, Any]:
    return {
        "id": one.rule,
        "shortDescription": {"text": one.title},
        "fullDescription": {"text": one.reason},
        "help": {"text": one.remedy},
    }


def _junit(run: CommandRun) -> str:
    held = {tag: sum(JUNIT.get(one.state) == tag for one in run.outcomes) for tag in JUNIT.values()}
    tests, failures, errors = len(run.outcomes), held["failure"], held["error"]
    counts = {"tests": f"{tests}", "failures": f"{failures}", "errors": f"{errors}"}
    root = ElementTree.Element("testsuites", {"name": "shoal", **counts})
    named = {"name": f"shoal {run.command}", **counts, "skipped": f"{held['skipped']}"}
    suite = ElementTree.SubElement(root, "testsuite", named)
    told = ElementTree.SubElement(suite, "properties")
    for name, value in {"subject": run.subject, "shoal": __version__}.items():
        ElementTree.SubElement(told, "property", {"name": name, "value": value})
    for one in run.outcomes:
        called = {"classname": f"shoal.{run.command}", "name": one.title}
        case = ElementTree.SubElement(suite, "testcase", called)
        if one.state in JUNIT:
            said = {"type": one.rule, "message": one.sentence}
            inside = ElementTree.SubElement(case, JUNIT[one.state], said)
            inside.text = f"{one.reason} {one.remedy}"
        else:
            ElementTree.SubElement(case, "system-out").text = one.sentence
    ElementTree.SubElement(suite, "system-out").text = run.headline
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=False)


FORMS = {"github": _github, "sarif": _sarif, "junit": _junit}
