"""The assessment as plain data, for machines: the same that the page says, and no person."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from shoal.auditing.findings import PublicFindings
from shoal.plain import plain, typed
from shoal.workbench.evidence.clauses import answered
from shoal.workbench.evidence.contents import Evidence
from shoal.workbench.evidence.questions import answers
from shoal.workbench.evidence.statements import By, statements

FORMAT = "shoal-assessment/1"


def states(evidence: Evidence) -> dict[str, By]:
    """Who stated each thing that only people can state."""
    said = statements(evidence.context, evidence.facts)
    told = {one.name: one.by for part in said.values() for one in part}
    return {**told, "intrusions": "person" if evidence.context.intrusions else "nobody"}


def computed(evidence: Evidence) -> set[str]:
    """What was computed of what an assessment needs."""
    verified = evidence.verified
    there = {
        "columns": all(one.by in ("person", "confirmed") for one in evidence.columns),
        "average": evidence.after.average is not None,
        "risk": True,
        "values": evidence.values is not None,
        "attacks": bool(evidence.attacks),
        "verified": verified is not None and bool(verified["confirmed"]),
    }
    return {name for name, held in there.items() if held}


def open_points(evidence: Evidence) -> dict[str, int]:
    """How many things nobody stated, and how many of shoal's proposals nobody confirmed."""
    said = [*states(evidence).values(), *(one.by for one in evidence.columns)]
    return {
        "asked": len(said),
        "unstated": said.count("nobody"),
        "unconfirmed": said.count("shoal"),
    }


def record(evidence: Evidence, *, written: str) -> dict[str, Any]:
    """All of it."""
    facts, run = evidence.facts, evidence.run
    found = replace(facts.verdict, checks=facts.checks)
    return {
        "format": FORMAT,
        "software": facts.software,
        "written": written,
        "run": {"name": run.name, "title": run.title, "made": run.made["made"]},
        "wrong": evidence.wrong,
        "open": open_points(evidence),
        "context": plain(statements(evidence.context, facts)),
        "intrusions": plain(evidence.context.intrusions),
        "columns": plain(evidence.columns),
        "findings": plain(typed(PublicFindings, found)),
        "events": plain(facts.events),
        "risk": {"before": plain(evidence.before), "after": plain(evidence.after)},
        "questions": [
            {"question": question, "asks": asks, "answers": told}
            for question, asks, told in answers(evidence)
        ],
        "values": None if evidence.values is None else plain(evidence.values),
        "attacks": [{"column": one.column, "found": plain(one)} for one in evidence.attacks],
        "queries": plain(facts.queries),
        "clauses": answered(states(evidence), computed(evidence)),
        "verified": evidence.verified,
        "earlier": evidence.earlier,
        "doubtful": evidence.doubtful,
        "files": plain(evidence.files),
        "table": run.table,
        "commands": run.commands(),
        "spec": facts.spec.toml,
        "decision": evidence.decision,
    }
