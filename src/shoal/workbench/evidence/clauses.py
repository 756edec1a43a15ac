"""Where the assessment answers what ISO/IEC 27559 and the Opinion on anonymisation techniques
(WP216) ask for, clause by clause."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass

from shoal.workbench.evidence.statements import By
from shoal.workbench.project.context import TITLES

ISO, WP216 = "ISO/IEC 27559:2022", "WP216 (Opinion 05/2014)"


@dataclass(frozen=True)
class Clause:
    """One clause: what it is about in our words, what people have to state for it, what has to be
    computed, and the section that answers it."""

    standard: str
    number: str
    about: str
    section: str
    stated: tuple[str, ...] = ()
    computed: tuple[str, ...] = ()


CLAUSES = (
    Clause(ISO, "6.2.2", "Recipients' practices", "context", ("environment", "safeguards")),
    Clause(ISO, "6.2.3", "Motives and capacity", "adversaries", ("adversaries", "means")),
    Clause(ISO, "6.3.2", "Transparency, stakeholders", "after", ("transparency",)),
    Clause(ISO, "6.3.3", "Harms", "adversaries", ("harms",)),
    Clause(ISO, "7.2.2", "Data principals", "context", ("subjects",)),
    Clause(ISO, "7.2.3", "Type of data", "context", ("source", "period")),
    Clause(ISO, "7.2.4", "Types of attributes", "columns", (), ("columns",)),
    Clause(ISO, "7.2.5", "Properties of the data set", "columns", ("necessity",), ("columns",)),
    Clause(ISO, "7.3.2", "Maximum and average risk", "risk", (), ("average",)),
    Clause(ISO, "7.3.3", "Population or sample", "questions", ("population",)),
    Clause(ISO, "7.3.4", "Privacy model", "adversaries", ("why_r", "why_events"), ("risk",)),
    Clause(ISO, "8.2.2", "Identifiability in figures", "questions", (), ("risk", "values")),
    Clause(ISO, "8.2.3", "Adversarial testing", "attacks", ("intrusions",), ("attacks",)),
    Clause(ISO, "8.3.2", "Changing the environment", "context", ("safeguards",)),
    Clause(ISO, "8.3.3", "Transforming the data", "columns", (), ("columns",)),
    Clause(ISO, "8.3.4", "Evaluating again", "conclusion", ("residual_risk",), ("verified",)),
    Clause(ISO, "9.2.2", "Roles and responsibilities", "context", ("controller", "reviewer")),
    Clause(ISO, "9.2.3", "Principles and procedures", "context", ("legal_basis", "purpose")),
    Clause(ISO, "9.2.4", "Managing the disclosure", "context", ("recipient", "release_model")),
    Clause(ISO, "9.2.5", "Communicating", "after", ("transparency",)),
    Clause(ISO, "9.3.2", "Monitoring the environment", "after", ("monitoring", "expiry")),
    Clause(ISO, "9.4", "Incidents", "after", ("incident",)),
    Clause(WP216, "2.2.1", "Lawful anonymisation", "context", ("legal_basis", "purpose")),
    Clause(WP216, "2.2.2", "Means reasonably likely", "adversaries", ("adversaries", "means")),
    Clause(WP216, "2.2.3", "Risk of anonymised data", "conclusion", ("residual_risk", "harms")),
    Clause(WP216, "3", "Singling out", "questions", (), ("risk",)),
    Clause(WP216, "3", "Linkability", "questions", ("population",), ("risk",)),
    Clause(WP216, "3", "Inference", "questions", (), ("risk", "values")),
    Clause(WP216, "5.2", "Not release and forget", "after", ("monitoring", "expiry")),
    Clause(
        WP216, "5.2", "Context of the release", "context", ("purpose", "recipient", "safeguards")
    ),
    Clause(WP216, "5.2", "Technique and its figures", "hashes", (), ("columns", "verified")),
)
COMPUTED = {
    "columns": "confirmed reasons for roles",
    "average": "average risk",
    "risk": "risk by view",
    "values": "inference of all values",
    "attacks": "attacks",
    "verified": "verification",
}


def answered(by: Mapping[str, By], computed: Set[str]) -> list[dict[str, str]]:
    """Each clause, and its state: what it lacks by what is stated and computed."""
    return [
        {
            **{name: getattr(one, name) for name in ("standard", "number", "about", "section")},
            "state": _state(one, by, computed),
        }
        for one in CLAUSES
    ]


def _state(one: Clause, by: Mapping[str, By], computed: Set[str]) -> str:
    missing = [TITLES[name] for name in one.stated if by[name] == "nobody"]
    proposed = [TITLES[name] for name in one.stated if by[name] == "shoal"]
    lacking = [COMPUTED[name] for name in one.computed if name not in computed]
    told = [
        f"{words}: {', '.join(names).lower()}"
        for words, names in (
            ("not stated", missing),
            ("proposed, not confirmed", proposed),
            ("lacking", lacking),
        )
        if names
    ]
    everything = len(missing) + len(lacking) == len(one.stated) + len(one.computed)
    return "; ".join([*([] if everything or not told else ["in part"]), *told]) or "answered"
