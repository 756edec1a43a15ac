"""The certificate: what is claimed of a release, in plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from shoal._version import software
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
from shoal.wording import WHOLE

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
        "software": software(),
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


def _columns(spec: Spec, number: int) -> dict[str, Any]:
    """Of several sensitive columns: those that an event is of, and how it is shown there."""
    if len(spec.sensitive_columns) == 1 or spec.protect is None:
        return {}
    event = spec.protect[number]
    return {"columns": list(event.column), "shown": event.label}


def recoded_words(spec: Spec) -> dict[str, str]:
    """What was done to columns before anything else, by column."""
    return {
        name: recipe.words() + (", each shown by its mean" if name == spec.weight else "")
        for name, recipe in spec.recode
    }


def contradiction(certificate: Mapping[str, Any], spec: Spec) -> str:
    """What in a certificate cannot be true at once, or an empty text."""
    faults = (_unlike_spec, _faults_of_judges, _faults_of_counts)
    return next((fault for one in faults for fault in one(certificate, spec)), "") or _wrong_checks(
        certificate
    )


def _unlike_spec(told: Mapping[str, Any], spec: Spec) -> Iterator[str]:
    """What it says otherwise than its spec."""
    events, named = told["events"], spec.protect
    asked = [(one.name, list(one.values), one.r or spec.r) for one in named or ()]
    if named is None:
        asked = [(one["label"], [one["label"]], spec.r) for one in events]
    columns = [{key: one[key] for key in ("columns", "shown") if key in one} for one in events]
    for what, one, other in (
        ("events", asked, [(one["label"], one["values"], one["r"]) for one in events]),
        ("columns of events", [_columns(spec, number) for number in range(len(events))], columns),
        ("recodings", recoded_words(spec), told.get("recoded", {})),
        ("r", spec.r, told["r"]),
        ("limit", spec.limit, told["limit"]),
        ("min_support", spec.min_support, told["knowledge"]["min_support"]),
    ):
        if one != other:
            yield f"{what}: others than in its spec"


def _faults_of_judges(told: Mapping[str, Any], spec: Spec) -> Iterator[str]:
    """What it says of those who judged, and of how surely they link people."""
    audit, events, method = told["audit"], told["events"], told["method"]
    judges = audit["adversaries"]
    names, answered = [one["name"] for one in judges], method["claims"].get("readers", [])
    if len({*names}) < len(names):
        yield "adversaries are named twice"
    if spec.publish_apart and "together" in names:
        yield "columns that are published apart are judged together"
    apart = spec.publish_apart or len(spec.sensitive_columns) == 1
    if not apart and {"joint", "together"} & {*names} == {"joint"}:
        yield "several columns are judged one by one, and not together"
    if names[: len(answered)] != answered:
        yield "those whom the method answers are not named first"
    if not {one["name"] for one in judges if one["robust"]}.issuperset(answered):
        yield "the method answers somebody who is not convinced"
    if any(one["robust"] and (one["problematic"] or one.get("missing", 0)) for one in judges):
        yield "somebody is convinced who links people above their limit"
    fits = [one for one in judges if "residual" in one]
    if any("missing" not in one for one in fits) or any(
        "missing" in one or one["name"] == WHOLE for one in judges if one not in fits
    ):
        yield "it is not said how well odds were fitted"
    worst = [one["worst_posterior"] for one in events]
    if all(abs(one - audit["worst_posterior"]) > ROUNDING for one in worst):
        yield "the worst posterior is no event's"
    # Those whose links are the whole's figures: whoever takes all views together only if alone.
    figures = [one for one in judges if one["name"] != WHOLE] or judges
    if abs(max(one["worst_posterior"] for one in figures) - max(worst)) > ROUNDING:
        yield "its adversaries say something else than its events"
    # Limits of whoever fits odds are what all counts say beforehand, where that is above 1/r.
    others = max((one["worst_posterior"] for one in judges if one not in fits), default=0.0)
    fitted = bool(fits) and others * min(one["r"] for one in events) <= 1 + ROUNDING
    above = any(one["worst_posterior"] * one["r"] > 1 + ROUNDING for one in events)
    if audit["robust"] and above and spec.limit != "prior" and not fitted:
        yield "the events' worst posteriors are above 1/r"


def _faults_of_counts(told: Mapping[str, Any], spec: Spec) -> Iterator[str]:
    """What it says of how many people are published, missing and known."""
    rows, groups, audit, method = told["rows"], told["groups"], told["audit"], told["method"]
    if rows["published"] + rows["suppressed"] != rows["table"]:
        yield "published and suppressed rows do not make the table"
    if not 0 <= rows["suppressed_with_event"] <= rows["suppressed"]:
        yield "more cases than rows are suppressed"
    if method["name"] in TRUE_METHODS and rows["values_changed"] != 0:
        yield f"the method {method['name']} changes no values"
    absence, counter, assumed = audit["absence"], audit["counter"], told["knowledge"].get("assumed")
    certain, carriers = counter["certain_in_worst_view"], counter["carriers_in_worst_view"]
    unfitting = {
        "people": _person_contradiction(told, spec),
        "readable people": "readable" in audit
        and not groups["readable_by_attributes"] <= groups["readable"] == audit["readable"],
        "absence": absence["kept"] is not (absence["carriers"] == 0)
        or not 0 <= absence["carriers"] <= rows["suppressed_with_event"],
        "counting per stratum": counter["kept"] is not (counter["classes"] == 0)
        or counter["kept"] is not (carriers == 0)
        or not 0 <= counter["certain_classes"] <= counter["classes"]
        or not 0 <= certain <= carriers
        or (certain == 0) is not (counter["certain_classes"] == 0),
        "shared combinations": "lookup" in audit
        and _lookup_contradiction(audit["lookup"], rows["published"], spec.k),
        "what is known": assumed is not None
        and (
            assumed["unknown"] != [name for name in spec.qi if name in assumed["unknown"]]
            or assumed["hollow"] is not (2 * len(assumed["unknown"]) >= len(spec.qi))
            or assumed["people"] > rows["table"]
        ),
    }
    yield from (
        f"what it says of {what} does not fit together"
        for what, wrong in unfitting.items()
        if wrong
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
        fitted = 1e-2 if one.name == WHOLE else 1e-8
        if one.state == "kept" and one.worst > one.limit * (1 + fitted):
            return "a check that is kept is above its limit"
        if (one.name, certificate["limit"]) == ("one-view", "absolute") and all(
            abs(one.limit - limit) > ROUNDING for limit in own
        ):
            return "a check has another limit than was asked for"
    return ""
