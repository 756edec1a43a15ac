"""Facts: everything that the report says, typed, to be kept and rendered again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from shoal._version import __version__
from shoal.auditing.attacked import AttackResult, PublicAttack
from shoal.auditing.checks import Check, attacked
from shoal.auditing.findings import Findings, PublicFindings, Witness
from shoal.auditing.verdict import Audit
from shoal.data.storage import replace_file
from shoal.data.table import Table
from shoal.errors import InputError
from shoal.groups import Grouping
from shoal.knowledge import attribute_qi
from shoal.knowledge.attributes import named_quantiles
from shoal.memory import read_text
from shoal.plain import plain, typed
from shoal.release import Release
from shoal.release.certificate import given_seed, recoded_words
from shoal.release.facts import loss
from shoal.release.facts.bins import HAIR, count_within, probability_edges, size_edges
from shoal.release.facts.records import (
    ColumnLoss,
    EventFacts,
    EventWorst,
    ExposedPerson,
    MethodFacts,
    QueryErrors,
    Repeat,
    RiskBin,
    SizeBin,
    SpecFacts,
    ViewFacts,
)

FORMAT = "shoal-report/2"
MOST_EXPOSED = 10


@dataclass(frozen=True, kw_only=True)
class Facts:
    """The contents of one report, rows included: this is the internal edition's."""

    format: str
    software: str
    verdict: PublicFindings
    """What was found; in the internal edition all of it, as `Findings`."""
    events: tuple[EventFacts, ...]
    limits: tuple[float, ...]
    """Every event's 1/r, smallest first."""
    relative: bool
    """Whether limits differ, by event or by person, so that charts show probabilities as shares of
    their limits."""
    risk: dict[str, tuple[RiskBin, ...]]
    """Bins of probability, "before" and "after"."""
    views: tuple[ViewFacts, ...]
    """The worst first."""
    sizes: tuple[SizeBin, ...]
    loss: tuple[ColumnLoss, ...]
    people: tuple[ExposedPerson, ...]
    spec: SpecFacts
    repeat: Repeat
    method: MethodFacts | None = None
    queries: QueryErrors | None = None
    certificate: str | None = None
    """The digest of the release's certificate; None for an audit."""
    attack: PublicAttack | None = None
    """What attackers achieved, once they have tried; in the internal edition all of it, as
    `AttackResult`."""

    @property
    def checks(self) -> tuple[Check, ...]:
        """What the verdict is made of, attacks included once they were run."""
        return attacked(self.verdict.checks, self.attack)


def audit_facts(
    audit: Audit, table: Table, *, grouping: Grouping | None = None, repeat: Repeat | None = None
) -> Facts:
    """The facts of an audit. `grouping` tells of values that the judged release changed."""
    _check(audit, table)
    people = audit.risks.partition.signature_people
    if grouping is None:
        values = np.bincount(table.row_value[audit.risks.published], minlength=len(table.values))
    else:
        shown = grouping.value if grouping.shown is None else grouping.shown
        values = np.bincount(shown, grouping.people, len(table.values))
    changed = loss.published_people(table, people, values.astype(np.float64))
    return _facts(audit, table, changed, repeat or Repeat())


def release_facts(
    release: Release, table: Table, *, repeat: Repeat | None = None, queries: bool = True
) -> Facts:
    """The facts of a release that `anonymize` made of the table; how far counts are off only if
    that is asked for, which takes as long as writing it."""
    _check(release.made.audit, table)
    certificate = release.certificate
    repeat = repeat or Repeat(seed=given_seed(certificate))
    return replace(
        _facts(release.made.audit, table, loss.released(table, release), repeat),
        certificate=certificate_digest(certificate),
        method=MethodFacts(
            **certificate["method"],
            form=release.form,
            pooled=certificate["groups"]["pooled"],
            changed=certificate["rows"]["values_changed"],
        ),
        queries=loss.query_errors(table, release) if queries else None,
    )


def certificate_digest(certificate: Mapping[str, Any]) -> str:
    """Tells one release from another, whether its certificate is in memory or was read, with the
    hashes of what was written after it."""
    written = ("files", "ledger")
    plain = {key: value for key, value in certificate.items() if key not in written}
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


def _check(audit: Audit, table: Table) -> None:
    if audit.rows != table.rows:
        raise InputError(
            "report-table",
            f"The audit is of {audit.rows:,} rows and the table has {table.rows:,}.",
            "Give the table that was audited.",
        )


def _facts(audit: Audit, table: Table, changed: tuple[ColumnLoss, ...], repeat: Repeat) -> Facts:
    limit_of = {event.label: 1 / (event.r or audit.r) for event in table.events}
    events = tuple(
        EventFacts(
            label=event.label,
            values=tuple(event.values),
            limit=limit_of[event.label],
            carriers=int(count),
            worst=_event_worst(audit.worst_by_event.get(event.label)),
        )
        for event, count in zip(table.events, table.event_rows, strict=True)
    )
    limits = tuple(sorted(set(limit_of.values())))
    relative = len(limits) > 1 or audit.limit == "prior"
    exposed = _people(audit, table, limit_of)
    alike = audit.exposed_like(len(exposed)) if exposed else 0
    return Facts(
        format=FORMAT,
        software=f"shoal {__version__}",
        verdict=replace(audit.findings, as_exposed=alike),
        events=events,
        limits=limits,
        relative=relative,
        risk=_risk(audit, limits, relative=relative),
        views=_views(audit),
        sizes=_sizes(audit),
        loss=changed,
        people=exposed,
        spec=_spec(table, audit.by_view),
        repeat=repeat,
    )


def _event_worst(found: Witness | None) -> EventWorst | None:
    return None if found is None else EventWorst(found.before, found.posterior, found.kind)


def _risk(
    audit: Audit, limits: tuple[float, ...], *, relative: bool
) -> dict[str, tuple[RiskBin, ...]]:
    risks = audit.risks
    limit = 1.0 if relative else limits[0]
    known = risks.known["known_exposure" if relative else "known_before"]
    people_known = risks.partition.signature_people
    before = known.to_numpy()[people_known > 0]
    linked = risks.worst["exposure" if relative else "posterior"].to_numpy()
    # A breach by less than rounding can show is drawn above the limit all the same.
    breach = risks.worst["problematic"].to_numpy()
    linked = np.where(breach, np.maximum(linked, limit + 2 * HAIR), linked)
    after = np.append(linked, 0.0)  # the last are those in groups without an event
    unlinked = audit.published - int(risks.sizes.sum())
    edges = probability_edges(limit, float(max(before.max(), after.max())))
    spans = [(float(low), float(high)) for low, high in pairwise(edges)]
    counted = {
        "before": count_within(before, edges, people_known[people_known > 0]),
        "after": count_within(after, edges, np.append(risks.sizes, unlinked)),
    }
    return {
        when: tuple(RiskBin(*span, count) for span, count in zip(spans, counts, strict=True))
        for when, counts in counted.items()
    }


def _views(audit: Audit) -> tuple[ViewFacts, ...]:
    lines = [
        ViewFacts(name=name, **vars(risk), guess=audit.guess_rate.by_view.get(name, 0.0))
        for name, risk in audit.by_view.items()
    ]
    return tuple(sorted(lines, key=lambda one: (-round(one.exposure, 9), -one.exposure_before)))


def _sizes(audit: Audit) -> tuple[SizeBin, ...]:
    part, linked = audit.risks.partition, audit.risks.worst["event"].is_not_null().to_numpy()
    size = part.pairs.summed(part.pairs.count)
    holds = np.zeros(len(size), bool)
    holds[part.pairs.owner_of(audit.risks.held[linked])] = True
    size, holds = np.append(size, 1), np.append(holds, False)
    copies = np.append(part.copies, part.alone)
    starts = np.array(size_edges(int(size.max())))
    place = np.searchsorted(starts, size, side="right") - 1
    bins = len(starts) - 1
    counted = {
        "with_event": np.bincount(place[holds], copies[holds], bins),
        "without": np.bincount(place[~holds], copies[~holds], bins),
        "people": np.bincount(place, size * copies, bins),
    }
    return tuple(
        SizeBin(
            low=int(starts[number]),
            high=int(starts[number + 1]) - 1,
            **{name: int(counts[number]) for name, counts in counted.items()},
        )
        for number in range(bins)
    )


def _people(audit: Audit, table: Table, limit_of: dict[str, float]) -> tuple[ExposedPerson, ...]:
    wanted = ("row", "group", "event", "view", "before", "posterior", "kind")
    lines, signatures = audit.risks.exposed_people(MOST_EXPOSED)
    return tuple(
        ExposedPerson(
            **{name: line[name] for name in wanted},
            limit=limit_of[line["event"]],
            person=table.describe(int(signature)),
        )
        for line, signature in zip(lines.iter_rows(named=True), signatures, strict=True)
        if line["event"] is not None
    )


def _spec(table: Table, views: Iterable[str]) -> SpecFacts:
    """What is asked; of the views that were judged, which bands they know, and whose values none
    does."""
    spec = table.spec
    named = [name for name in views if name not in spec.qi]
    quantiles = [found for name in named if (found := named_quantiles(table, name)) is not None]
    seen = {attribute_qi(table, name) for name in views}
    chosen = spec.views is not None or spec.knowledge is not None
    return SpecFacts(
        toml=spec.to_toml(),
        public_toml=spec.published().to_toml(),
        qi=spec.qi,
        sensitive=" and ".join(spec.sensitive_columns),
        columns=len(spec.sensitive_columns),
        min_support=table.min_support,
        max_attributes=spec.max_attributes,
        outside=spec.knowledge is not None,
        chosen_views=spec.views is not None,
        bands=tuple(spec.bands),
        quantiles=tuple((spec.qi[place], number) for place, number in quantiles),
        in_no_view=tuple(
            name for place, name in enumerate(spec.qi) if not chosen and place not in seen
        ),
        titles=tuple(spec.published().titles),
        recoded=tuple(recoded_words(spec).items()),
        weighted=table.weights is not None and spec.knowledge is None,
        publish_members=spec.publish_members,
        publish_apart=spec.publish_apart,
    )


FACTS_FILE = "report.json"


def keep_facts(facts: Facts, folder: str | Path) -> Path:
    """Writes the facts into a private folder; they name the most exposed rows."""
    path = Path(folder) / FACTS_FILE
    with replace_file(path) as new:
        new.write_text(json.dumps(plain(facts), ensure_ascii=False), encoding="utf-8")
    return path


def load_facts(folder: str | Path) -> Facts:
    """The facts that a private folder keeps, or an InputError."""
    path = Path(folder) / FACTS_FILE
    if not path.is_file():
        raise InputError(
            "report-facts",
            f'"{folder}" holds no {FACTS_FILE}.',
            "Name the private folder that was written with the release.",
        )
    try:
        told = json.loads(read_text(path))
        known = {field.name for field in fields(Facts)}
        if told["format"] != FORMAT or set(told) != known:
            raise ValueError
        attack = None if told["attack"] is None else AttackResult.of(told["attack"])
        return replace(typed(Facts, told), verdict=Findings.of(told["verdict"]), attack=attack)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InputError(
            "report-facts",
            f"{path} is no report that this version of shoal can read.",
            "Make the report again from the table.",
        ) from None
