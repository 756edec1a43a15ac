"""The certificate: what is claimed of a release, in plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from shoal._version import __version__
from shoal.auditing.checks import BEFORE_CHECKS, checks_of, verdict
from shoal.auditing.findings import Judged
from shoal.auditing.verdict import Audit
from shoal.data.spec import Spec
from shoal.data.table import Table
from shoal.groups import Grouping
from shoal.groups.lookup import USUAL_K
from shoal.knowledge import Knowledge
from shoal.plain import plain
from shoal.release.stated import FORMAT
from shoal.release.weights import DIGITS, weight_column

ROUNDING = 1e-9
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
    after: Sequence[str] = (),
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
        **({"person": _person(table, audit)} if table.persons is not None else {}),
        **({"after": {"releases": list(after)}} if after else {}),
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
                    min(audit.worst_by_event[event.label].posterior, 1.0)
                    if event.label in audit.worst_by_event
                    else 0.0
                ),
            }
            for number, (event, r) in enumerate(zip(table.events, table.event_r, strict=True))
        ],
        "knowledge": {
            "source": _public_source(knowledge, table.spec),
            "min_support": table.min_support,
            "views": [list(view.parts) for view in knowledge.views],
            "assumed": audit.assumed.public(),
            **({"models": [dict(one) for one in models]} if models else {}),
        },
        "audit": plain(audit.judged),
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
            "readable": audit.readable,
            "readable_by_attributes": audit.readable_by_attributes,
            "smallest": int(sizes.min()),
            "largest": int(sizes.max()),
            "mean_with_event": (
                float((sizes * copies)[holding].sum() / with_event) if with_event else 0.0
            ),
        },
        **({"weights": _weights(table, grouping)} if grouping.weight is not None else {}),
        "seed": {"given": False} if seed is None else {"given": True, "value": seed},
    }


def _person(table: Table, audit: Audit) -> dict[str, Any]:
    """What a person is, and what became of their rows; of several, what they tell together."""
    assert table.persons is not None
    told: dict[str, Any] = {
        "column": table.spec.person,
        "rows_per_person": table.spec.rows_per_person,
        **table.persons.to_dict(),
    }
    if audit.persons is not None:
        told["any_row"] = {**plain(audit.persons), "worst": min(audit.persons.worst, 1.0)}
    return told


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
    return {
        name: recipe.words() + (", each shown by its mean" if name == spec.weight else "")
        for name, recipe in spec.recode
    }


def _by_view(audit: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Those whose links are the whole's figures: not those of whoever takes all views together,
    unless nobody else judges."""
    told = audit["adversaries"]
    return [one for one in told if one["name"] != "all-views"] or list(told)


def _wrong_checks(certificate: Mapping[str, Any]) -> str:
    """What of its checks does not follow from its other figures, or an empty text. Certificates of
    older formats list none, and not all are part of their verdict."""
    audit = Judged.of(certificate["audit"])
    claimed = audit.checks
    nearest = {
        one.name: (one.worst, one.limit)
        for one in claimed
        if one.worst is not None and one.limit is not None
    }
    if claimed != checks_of(audit, nearest):
        return "its checks are others than its figures say"
    listed = "checks" in certificate["audit"]
    counted = [one for one in claimed if listed or one.name in BEFORE_CHECKS]
    if verdict(counted) is not audit.robust:
        return "its checks say something else than its verdict"
    own = [1 / event["r"] for event in certificate["events"]]
    for one in claimed:
        if one.worst is None or one.limit is None:
            continue
        fitted = 1e-2 if one.name == "all-views" else 1e-8
        if one.state == "kept" and one.worst > one.limit * (1 + fitted):
            return "a check that is kept is above its limit"
        if (one.name, certificate["limit"]) == ("one-view", "absolute") and all(
            abs(one.limit - limit) > ROUNDING for limit in own
        ):
            return "a check has another limit than was asked for"
    return ""


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


def _lookup_contradiction(lookup: Mapping[str, Any], published: int, k: int | None) -> bool:
    """Whether what it says of shared combinations cannot be true at once, or is not what the spec
    asks for."""
    few, cost, beyond = lookup["fewer_than"], lookup.get("cost"), lookup.get("population")
    return (
        beyond is not None
        and not (0 <= beyond["unique"] <= lookup["unique"] and 0 < beyond["match"] <= 1)
    ) or (
        lookup["asked"] is not (k is not None)
        or few["k"] != (k or USUAL_K)
        or not lookup["unique"] <= few["people"] <= published
        or (cost is not None) is not lookup["asked"]
        or (cost is not None and cost["k"] != k)
    )


def _assumed_contradiction(certificate: Mapping[str, Any], spec: Spec) -> bool:
    """Whether what it says of how much is known cannot be true at once, or not of the spec's
    QIs."""
    told = certificate["knowledge"].get("assumed")
    return told is not None and (
        told["unknown"] != [name for name in spec.qi if name in told["unknown"]]
        or told["hollow"] is not (2 * len(told["unknown"]) >= len(spec.qi))
        or told["people"] > certificate["rows"]["table"]
    )


def _columns(spec: Spec, number: int) -> dict[str, Any]:
    """Of several sensitive columns: those that an event is of, and how it is shown there."""
    if len(spec.sensitive_columns) == 1 or spec.protect is None:
        return {}
    event = spec.protect[number]
    return {"columns": list(event.column), "shown": event.label}


def _person_contradiction(certificate: Mapping[str, Any], spec: Spec) -> bool:
    """Whether what it says of people cannot be true at once, or is not the spec's."""
    told, unit = certificate.get("person"), certificate["audit"].get("unit")
    named = ("kept", "above", "undecided")
    alone = {"kept": True, "above": 0, "undecided": 0}
    any_row = (told or {}).get("any_row")
    if unit != (told and ({name: any_row[name] for name in named} if any_row else alone)):
        return True
    if told is None or spec.person is None:
        return (told is None) is not (spec.person is None)
    most, kept_rows = spec.row_rule.most, certificate["rows"]["table"]
    kept = any_row is None or (
        any_row["kept"]
        is (False if any_row["above"] else True if not any_row["undecided"] else None)
        or (any_row["kept"] is None and not any_row["several"])
    )
    return (
        (told["column"], told["rows_per_person"]) != (spec.person, spec.rows_per_person)
        or not told["people"] <= kept_rows <= told["rows"]
        or (most is None and kept_rows != told["rows"])
        or (most is not None and kept_rows > most * told["people"])
        or (any_row is None) is not (told["most_rows"] == 1)
        or (told["most_rows"] == 1) is not (kept_rows == told["people"])
        or not kept
    )


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
        ("what it says of people does not fit together", _person_contradiction(certificate, spec)),
        (
            "what it says of readable people does not fit together",
            "readable" in audit
            and not (
                certificate["groups"]["readable_by_attributes"]
                <= certificate["groups"]["readable"]
                == audit["readable"]
            ),
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
            "more cases than rows are suppressed",
            not 0 <= rows["suppressed_with_event"] <= rows["suppressed"],
        ),
        (
            "the worst posterior is no event's",
            all(abs(one - audit["worst_posterior"]) > ROUNDING for one in worst),
        ),
        (
            "its adversaries say something else than its events",
            abs(max(one["worst_posterior"] for one in _by_view(audit)) - max(worst)) > ROUNDING,
        ),
        ("the events' worst posteriors are above 1/r", bool(audit["robust"]) and not safe),
        (
            "what it says of absence does not fit together",
            absence["kept"] is not (absence["carriers"] == 0)
            or not 0 <= absence["carriers"] <= rows["suppressed_with_event"],
        ),
        (
            "what it says of counting class by class does not fit together",
            _counter_contradiction(audit["counter"]),
        ),
        (
            "what it says of shared combinations does not fit together",
            "lookup" in audit and _lookup_contradiction(audit["lookup"], rows["published"], spec.k),
        ),
        (
            "what it says of what is known does not fit together",
            _assumed_contradiction(certificate, spec),
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
        (
            "it is not said how well odds were fitted",
            any(
                one["name"] == "all-views" and "residual" not in one for one in audit["adversaries"]
            )
            or any(("residual" in one) is not ("missing" in one) for one in audit["adversaries"]),
        ),
        (
            "somebody is convinced who links people above their limit",
            any(
                one["robust"] and (one["problematic"] or one.get("missing", 0))
                for one in audit["adversaries"]
            ),
        ),
    ):
        if present:
            return fault
    return _wrong_checks(certificate)
