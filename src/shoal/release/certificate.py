"""The certificate: what is claimed of a release, in plain data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from shoal._version import __version__
from shoal.auditing.verdict import AdversaryVerdict, Audit
from shoal.grouping import Grouping
from shoal.knowledge import Knowledge
from shoal.release.stated import FORMAT
from shoal.release.weights import DIGITS, weight_column
from shoal.spec import Spec
from shoal.table import Table

ROUNDING = 1e-9
FIT_DECIMALS = (4, 2)
"""Of the posteriors and the residual of a fit, rounded up: further digits are those of the machine."""
TRUE_METHODS = ("art", "anatomy", "injector", "t-closeness", "mondrian")
"""Those of shoal's own methods that publish true values only."""


def make_certificate(
    table: Table,
    grouping: Grouping,
    knowledge: Knowledge,
    audit: Audit,
    *,
    method: str,
    parameters: Mapping[str, Any],
    seed: int | None,
    models: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Everything that may be said in public: no row, no witness, no hash of the input; and nothing
    but what is suppressed that depends on who in a group carries what. (How often guesses are right
    does: where groups are few, it tells who the carriers are.)"""
    holding, copies, sizes = grouping.holding(table), grouping.copies, grouping.sizes
    with_event = int(copies[holding].sum())
    return {
        "format": FORMAT,
        "software": f"shoal {__version__}",
        "method": {"name": method, "parameters": dict(parameters), "claims": dict(grouping.claims)},
        "spec": public_spec(table.spec),
        **({"recoded": recoded_words(table.spec)} if table.spec.recode else {}),
        "form": grouping.form,
        "r": table.spec.r,
        "limit": table.spec.limit,
        "events": [
            {
                "label": event.label,
                "values": list(event.values),
                "r": float(r),
                **_columns(table.spec, number),
                "worst_posterior": (
                    _chance(audit.worst_by_event[event.label].posterior)
                    if event.label in audit.worst_by_event
                    else 0.0
                ),
            }
            for number, (event, r) in enumerate(zip(table.events, table.event_r, strict=True))
        ],
        "knowledge": {
            "source": _public_source(knowledge, table.spec),
            "min_support": table.min_support,
            "views": [list(view.attributes) for view in knowledge.views],
            "assumed": audit.assumed.public(),
            **({"models": [dict(one) for one in models]} if models else {}),
        },
        "audit": {
            "adversaries": [
                {
                    "name": name,
                    "robust": one.robust,
                    "worst_posterior": _worst(one),
                    "problematic": one.problematic,
                    "undecided": one.undecided,
                    **_fit(one),
                }
                for name, one in audit.by_adversary.items()
            ],
            "robust": audit.robust,
            "worst_posterior": _chance(audit.worst_posterior),
            "problematic": audit.problematic,
            "undecided": audit.undecided,
            "known_before": audit.known_before,
            "posteriors": audit.posteriors,
            "counter": audit.counter.public(),
            "absence": {"kept": audit.absence.kept, "carriers": audit.absence.carriers},
        },
        "rows": {
            "table": table.rows,
            "published": grouping.published,
            "suppressed": table.rows - grouping.published,
            "suppressed_with_event": table.carriers - grouping.carriers(table),
            "values_changed": grouping.values_changed,
        },
        "groups": {
            "count": grouping.count,
            "with_event": with_event,
            "pooled": 0 if grouping.pooled is None else int(copies[grouping.pooled].sum()),
            "shown_openly": grouping.shown_openly(table),
            "smallest": int(sizes.min()),
            "largest": int(sizes.max()),
            "mean_with_event": (
                float((sizes * copies)[holding].sum() / with_event) if with_event else 0.0
            ),
        },
        **({"weights": _weights(table, grouping)} if grouping.weight is not None else {}),
        "seed": {"given": False} if seed is None else {"given": True, "value": seed},
    }


def _fit(one: AdversaryVerdict) -> dict[str, Any]:
    """Of whoever fits odds: how well, and whom that links among the missing."""
    if one.residual is None:
        return {}
    return {"residual": _rounded_up(one.residual, FIT_DECIMALS[1]), "missing": one.missing}


def _worst(one: AdversaryVerdict) -> float:
    if one.residual is None:
        return _chance(one.worst_posterior)
    return _chance(_rounded_up(one.worst_posterior, FIT_DECIMALS[0]))


def _rounded_up(figure: float, decimals: int) -> float:
    """To so many decimals, never below the figure."""
    return round(math.ceil(figure * 10**decimals) / 10**decimals, decimals)


def _chance(posterior: float) -> float:
    """A probability: rounding may put it a digit above 1."""
    return min(posterior, 1.0)


def _weights(table: Table, grouping: Grouping) -> dict[str, Any]:
    """The column of weights, how they are rounded (down), and how many people have one."""
    assert grouping.weight is not None
    people = int(grouping.people[~np.isnan(grouping.weight)].sum())
    return {"column": weight_column(table.spec), "digits": DIGITS, "people": people}


def given_seed(certificate: Mapping[str, Any]) -> int | None:
    """The seed that was given; None where it is secret, or is not to be read."""
    seed = certificate.get("seed")
    value = seed.get("value") if isinstance(seed, Mapping) else None
    return value if type(value) is int and value >= 0 else None


def _public_source(knowledge: Knowledge, spec: Spec) -> str:
    """Where knowledge comes from, without the folders of the publisher's machine."""
    if spec.knowledge is None:
        return knowledge.source
    return knowledge.source.replace(spec.knowledge, Path(spec.knowledge).name)


def public_spec(spec: Spec) -> dict[str, Any]:
    """The spec without the names of columns that are not published, and without folders. Whose rare
    values are unknown it always says: earlier versions took all of them to be."""
    return {**spec.published().to_mapping(), "rare_unknown": list(spec.rare_unknown)}


def recoded_words(spec: Spec) -> dict[str, str]:
    """What was done to columns before anything else, by column."""
    return {name: recipe.words() for name, recipe in spec.recode}


def _by_view(audit: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Those whose links are the whole's figures: not those of whoever takes all views together,
    unless nobody else judges."""
    told = audit["adversaries"]
    return [one for one in told if one["name"] != "all-views"] or list(told)


def _combined(audit: Mapping[str, Any]) -> bool | None:
    """The verdict of all adversaries together, and of what absence tells."""
    absence = audit["absence"]  # certificates of the older format do not speak of it
    verdicts = [one["robust"] for one in audit["adversaries"]]
    verdicts += [] if absence is None else [absence["kept"]]
    if False in verdicts:
        return False
    return None if None in verdicts else True


def _fitted_above(certificate: Mapping[str, Any]) -> bool:
    """Whether posteriors above 1/r may be those of an adversary whose limit is what all counts say
    beforehand: others' are not."""
    adversaries = certificate["audit"]["adversaries"]
    others = [one["worst_posterior"] for one in adversaries if "residual" not in one]
    least = min(event["r"] for event in certificate["events"])
    return len(others) < len(adversaries) and max(others, default=0.0) * least <= 1 + ROUNDING


def _counter_contradiction(counter: Mapping[str, Any]) -> bool:
    """Whether what it says of counting class by class cannot be true at once."""
    certain, carriers = counter["certain_in_worst_view"], counter["carriers_in_worst_view"]
    return (
        counter["kept"] is not (counter["classes"] == 0)
        or counter["kept"] is not (carriers == 0)
        or not 0 <= counter["certain_classes"] <= counter["classes"]
        or not 0 <= certain <= carriers
        or (certain == 0) is not (counter["certain_classes"] == 0)
    )


def _columns(spec: Spec, number: int) -> dict[str, Any]:
    """Of several sensitive columns: those that an event is of, and how it is shown there."""
    if len(spec.sensitive_columns) == 1 or spec.protect is None:
        return {}
    event = spec.protect[number]
    return {"columns": list(event.column), "shown": event.label}


def contradiction(certificate: Mapping[str, Any], spec: Spec) -> str:
    """What in a certificate cannot be true at once, or an empty text."""
    rows, audit, events = certificate["rows"], certificate["audit"], certificate["events"]
    asked = {event.name: event.r or spec.r for event in spec.protect or ()}
    if spec.protect is None:
        asked = {event["label"]: spec.r for event in events}
    worst = [event["worst_posterior"] for event in events]
    safe = all(event["worst_posterior"] * event["r"] <= 1 + ROUNDING for event in events)
    safe = safe or spec.limit == "prior" or _fitted_above(certificate)
    members = [(event.name, list(event.values)) for event in spec.protect or ()]
    judges = {one["name"] for one in audit["adversaries"]}
    absence, method = audit["absence"], certificate["method"]
    answered = method["claims"].get("readers", [])
    convinced = {one["name"] for one in audit["adversaries"] if one["robust"]}
    for fault, present in (
        (
            "the events' values differ from the spec's",
            [(event["label"], event["values"]) for event in events]
            != (members or [(event["label"], [event["label"]]) for event in events]),
        ),
        (
            "the events' columns differ from the spec's",
            [_columns(spec, number) for number in range(len(events))]
            != [{key: one[key] for key in ("columns", "shown") if key in one} for one in events],
        ),
        (
            "what was recoded differs from the spec's",
            certificate.get("recoded", {}) != recoded_words(spec),
        ),
        (
            "several columns are judged one by one, and not together",
            len(spec.sensitive_columns) > 1
            and not spec.publish_apart
            and {"joint", "together"} & judges == {"joint"},
        ),
        (
            "columns that are published apart are judged together",
            spec.publish_apart and "together" in judges,
        ),
        ("r differs from the spec's", certificate["r"] != spec.r),
        ("limit differs from the spec's", certificate["limit"] != spec.limit),
        (
            "the events differ from the spec's",
            asked != {event["label"]: event["r"] for event in events},
        ),
        (
            "min_support differs from the spec's",
            certificate["knowledge"]["min_support"] != spec.min_support,
        ),
        (
            "published and suppressed rows do not make the table",
            rows["published"] + rows["suppressed"] != rows["table"],
        ),
        (
            "more carriers than rows are suppressed",
            not 0 <= rows["suppressed_with_event"] <= rows["suppressed"],
        ),
        (
            "the worst posterior is no event's",
            all(abs(one - audit["worst_posterior"]) > ROUNDING for one in worst),
        ),
        (
            "its adversaries and what absence tells say something else than the whole",
            _combined(audit) is not audit["robust"]
            or abs(max(one["worst_posterior"] for one in _by_view(audit)) - max(worst)) > ROUNDING,
        ),
        ("the events' worst posteriors are above 1/r", bool(audit["robust"]) and not safe),
        (
            "what it says of absence does not fit together",
            absence is not None
            and (
                absence["kept"] is not (absence["carriers"] == 0)
                or not 0 <= absence["carriers"] <= rows["suppressed_with_event"]
            ),
        ),
        (
            "what it says of counting class by class does not fit together",
            audit["counter"] is not None and _counter_contradiction(audit["counter"]),
        ),
        ("adversaries are named twice", len(judges) < len(audit["adversaries"])),
        (
            "those whom the method answers are not named first",
            [one["name"] for one in audit["adversaries"]][: len(answered)] != answered,
        ),
        ("the method answers somebody who is not convinced", not convinced.issuperset(answered)),
        (
            f"the method {method['name']} changes no values",
            method["name"] in TRUE_METHODS and rows["values_changed"] != 0,
        ),
        ("people are problematic", bool(audit["robust"]) and audit["problematic"] != 0),
        (
            "it is not said how well odds were fitted",
            any(
                one["name"] == "all-views" and "residual" not in one for one in audit["adversaries"]
            )
            or any(("residual" in one) is not ("missing" in one) for one in audit["adversaries"]),
        ),
        (
            "somebody is convinced who links people by their absence",
            any(one["robust"] and one.get("missing", 0) for one in audit["adversaries"]),
        ),
    ):
        if present:
            return fault
    return ""
