"""Every posterior and count of a certificate again, from the published tables and the original."""

from __future__ import annotations

import collections
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from shoal.arrays import Floats, IntArray, Ints
from shoal.auditing.adversaries.adversary import Anybody, as_adversaries, reads_whole
from shoal.auditing.adversaries.aspects import readings, two_valued
from shoal.auditing.adversaries.joint import JOINT_BUDGET
from shoal.auditing.adversaries.judging import Case
from shoal.auditing.checks import BEFORE_CHECKS, Check, checks_of, verdict
from shoal.auditing.counting import certain_people, count_classes
from shoal.auditing.findings import Counted, Counter, Judge, Judged, JudgedTogether, Unit
from shoal.auditing.measures import Lens, adversary_verdict
from shoal.auditing.persons import ByPerson, PersonVerdict
from shoal.auditing.seen import judge_beside
from shoal.auditing.verdict import AdversaryVerdict
from shoal.data.table import Table
from shoal.data.table.combining import with_pairs
from shoal.data.table.frames import free_name
from shoal.errors import InputError
from shoal.groups.lookup import count_readable, k_cost
from shoal.groups.ragged import Counts
from shoal.knowledge import OWN, Assumed, Knowledge
from shoal.knowledge.entropy import leeway
from shoal.plain import plain, typed
from shoal.release import Release
from shoal.release.certificate import given_seed
from shoal.release.codes import column_codes, value_codes
from shoal.release.forms import form_named
from shoal.release.pair import by_row
from shoal.release.record import Record, rows_recorded
from shoal.release.utility.published import same_groups
from shoal.release.verification.after import each_apart, earlier_of, together_with_earlier, told_of
from shoal.release.verification.files import Claim, same_figure, same_figures
from shoal.release.verification.models import with_models
from shoal.release.verification.values import PublishedLines, check_values
from shoal.release.verification.weights import check_absence, check_population, check_weights_of
from shoal.wording import WHOLE, verdict_words

AGREEMENT = 1e-9
"""How far a recomputed posterior may lie from the certificate's: rounding, nothing more."""
ROUNDED = 1e-8
"""How far figures of checks may lie off, whose limits are rounded."""
ESTIMATES_AGREE = 0.05
"""How far posteriors may lie apart where one or both were estimated."""
FITS_AGREE = 0.02
"""Which part of the people whom a fit finds above their limit may be others: those near it."""


def recompute(
    release: Release,
    table: Table,
    code: IntArray,
    private: str | Path | None,
    knowledge: Knowledge | str | Path | None,
) -> list[Claim]:
    certificate = release.certificate
    claimed = certificate["knowledge"]
    known, fitted, whole = with_models(Knowledge.of(table, knowledge), claimed, table, private)
    views = [list(view.parts) for view in known.views]
    if knowledge is None and not claimed["source"].startswith(OWN):
        raise InputError(
            "verify-knowledge",
            f"The release was judged against {claimed['source']}.",
            "Give that file again with --knowledge.",
        )
    looked = release.judged.lookup
    cost = None if looked is None else looked.cost
    checks = [
        same_figure("rows of the table", table.rows, certificate["rows"]["table"]),
        _same_source(known, claimed),
        Claim.of("cost of k", cost == k_cost(table.cost), "it is another"),
        _same_views(views, claimed, whole=whole),
        *_same_assumed(known, table, claimed, whole=whole),
        *fitted,
    ]
    record = None if private is None else Record.read(Path(private), table)
    lines, problem = _published(release, table, code, record)
    if lines is None:
        return [*checks, Claim("people", False, problem)]
    checks += [Claim("people", True), *check_values(release, table, lines, record)]
    checks += check_population(release, table, lines)
    gids = told_of(certificate, private)
    if "weights" in certificate:
        checks.append(check_weights_of(release, table, known, lines, record, gids))
    earlier = None
    if gids is not None and record is not None:
        lines = each_apart(lines)
        earlier = earlier_of(table, lines, record, gids)
    case = Case(
        table=table,
        partition=lines.partition(table),
        event_r=table.event_r,
        limit=table.spec.limit,
        beforehand=known.largest_chances(table),
        budget=JOINT_BUDGET,
        seed=given_seed(certificate) or 0,
        earlier=earlier,
    )
    stated = release.judged
    people = lines.everybody[case.known[lines.signature].any(axis=1)]
    before = _same_figure("known before", int(people.sum()), stated.known_before, whole=whole)
    absence = check_absence(case, known, certificate, record)
    counter = count_classes(case, known)
    persons = _by_person(case, lines, certificate, private)
    found, nearest, compared = _compare(case, known, release, persons, whole=whole)
    if counter.nearest is not None:
        nearest["counting"] = [Links(*(np.array([one]) for one in counter.nearest))]
    counted = typed(Counter, Counted.of(counter))
    found = replace(found, counter=stated.counter and counted)
    if case.earlier is not None and private is not None:
        with_earlier = together_with_earlier(case, known, lines, private)
        found = replace(found, together=typed(JudgedTogether, with_earlier))
        if whole:
            name = "what all releases reveal together"
            checks.append(same_figures(name, with_earlier, plain(stated.together)))
    checks += _check_readable(table, lines, certificate["groups"])
    together = persons.verdict()
    if together is not None and persons.told:
        found = replace(found, unit=typed(Unit, together))
        checks.append(_check_together(together, certificate, whole=whole))
    stratum = same_figures("counting per stratum", plain(counted), plain(stated.counter))
    checks += [before, stratum, absence, *compared]
    if "checks" not in certificate["audit"]:
        robust = verdict(one for one in checks_of(found) if one.name in BEFORE_CHECKS)
        return [*checks, _same_verdict("verdict", robust, stated.robust, whole=whole)]
    certain = 0 if certificate["rows"]["values_changed"] else certain_people(case, known)
    checks.append(same_figure("certain people", certain, stated.certain or 0))
    exact, mine = not stated.posteriors["estimate"], checks_of(replace(found, certain=certain))
    return [*checks, *_same_checks(mine, stated.checks, nearest, exact=exact, whole=whole)]


class Links(NamedTuple):
    """Chances, and what is allowed of each."""

    chance: Floats
    limit: Floats

    @classmethod
    def of(cls, case: Case, lens: Lens) -> Links:
        one, signature = lens.judged, case.partition.signature[case.held]
        strength = case.strength(lens.view, signature, one.event, one.limit)
        some = strength > (0.0 if one.limit is None else 1.0)
        return cls(one.posterior[some], 1.0 / strength[some])

    def attain(self, chance: float, limit: float, agree: float) -> bool:
        """Whether one of them is this."""
        near = np.abs(self.chance - chance) <= agree
        return bool((near & (np.abs(self.limit - limit) <= agree)).any())


def _same_checks(
    mine: Sequence[Check],
    claimed: Sequence[Check],
    nearest: Mapping[str, Sequence[Links]],
    *,
    exact: bool,
    whole: bool,
) -> Iterator[Claim]:
    """The verdict, and each check of it: its state, and its worst figure."""
    yield _same_verdict("verdict", verdict(mine), verdict(claimed), whole=whole)
    for one, told in zip(mine, claimed, strict=True):
        better = ["broken", "undecided", "kept", "not asked"].index
        same = one.state == told.state or (not whole and better(one.state) > better(told.state))
        detail = f"{one.state}, claimed {told.state}"
        yield Claim.of(f"check {one.name}", same, detail)
        links = nearest.get(one.name, ())
        if told.worst is None or told.limit is None:
            if any(len(some.chance) for some in links):
                yield Claim(f"worst of {one.name}", False, "it is not said")
            continue
        fitted = one.name == WHOLE or (one.name == "one-view" and not exact)
        agree = ESTIMATES_AGREE if fitted else ROUNDED
        most = max(
            (float((some.chance / some.limit).max(initial=0.0)) for some in links), default=0
        )
        near = most <= told.worst / told.limit + agree / told.limit
        near = near and (
            not whole or any(one.attain(told.worst, told.limit, agree) for one in links)
        )
        yield Claim.of(f"worst of {one.name}", near, "it is another")


def _by_person(
    case: Case, lines: PublishedLines, certificate: dict[str, Any], private: str | Path | None
) -> ByPerson:
    """What all rows of a person tell together, where the publisher's record says which row is in
    which group."""
    if private is None or not by_row(private):
        return ByPerson(case, None)
    names = [one["name"] for one in certificate["audit"]["adversaries"]]
    gid, _ = rows_recorded(Path(private), case.table)
    place = np.searchsorted(lines.ids, gid, side="right") - 1
    first = np.cumsum(lines.copies) - lines.copies
    rows = np.where(gid < 0, -1, first[place] + gid - lines.ids[place]).astype(np.int32)
    return ByPerson(case, rows, two_valued(readings(as_adversaries(names), case)))


def _check_together(found: PersonVerdict, certificate: dict[str, Any], *, whole: bool) -> Claim:
    """What all rows of a person tell together, as far as fits and estimates are the same again."""
    claimed, audit = certificate["person"]["any_row"], certificate["audit"]
    agree = ESTIMATES_AGREE if audit["posteriors"]["estimate"] else AGREEMENT
    fitted = any(one["name"] == WHOLE for one in audit["adversaries"])
    figures = {**asdict(found), "worst": min(found.worst, 1.0)}
    wrong = [
        f"{name} {figure}, claimed {claimed[name]}"
        for name, figure in figures.items()
        if name != "kept"
        and not _near(
            figure,
            claimed[name],
            agree
            if name == "worst"
            else max(2.0, FITS_AGREE * max(figure, claimed[name]))
            if fitted and name != "several"
            else 0.0,
            whole=whole,
        )
    ]
    return Claim("all rows of a person", not wrong, "; ".join(wrong))


def _check_readable(table: Table, lines: PublishedLines, claimed: dict[str, Any]) -> list[Claim]:
    """Who can be read by their attributes, if the certificate says it."""
    if "readable_by_attributes" not in claimed:
        return []
    held = lines.values.owner, lines.values.code
    found = count_readable(table, lines.group, lines.signature, lines.everybody, *held)
    stated = claimed["readable_by_attributes"]
    return [same_figure("people readable by attributes", found.by_attributes, stated)]


def _same_assumed(
    known: Knowledge, table: Table, claimed: dict[str, Any], *, whole: bool
) -> list[Claim]:
    """How much is known, where the certificate says it and no model is missing."""
    if "assumed" not in claimed or not whole:
        return []
    found = Assumed.of(table, known).public()
    same = found == claimed["assumed"]
    return [Claim.of("what is assumed known", same, f"it is {found}")]


def _same_source(known: Knowledge, claimed: dict[str, Any]) -> Claim:
    """Where knowledge comes from, in words; names of files and of models are the publisher's."""
    said, found = claimed["source"], known.source
    if "models" in claimed:
        said, found = (text.split("; ")[0] for text in (said, found))
    same = not said.startswith(OWN) or said == found
    return Claim.of("source of knowledge", same, f"it is {found}")


def _compare(
    case: Case, known: Knowledge, release: Release, persons: ByPerson, *, whole: bool
) -> tuple[Judged, dict[str, list[Links]], list[Claim]]:
    """Every verdict and figure again; not `whole`: as far as they go without a model's view. And
    what checks are made of: figures, and everybody's links."""
    claimed, everybody = release.judged, case
    alone = all(reads_whole(as_adversaries(name)[0]) for name in claimed.names)
    case = case if alone else case.new
    part, worst = case.partition, np.zeros(len(case.table.events))
    held = part.held_pairs(case.table.shown_event)
    breach, undecided = np.zeros(len(held), bool), np.zeros(len(held), bool)
    exact, impossible, kinds = True, set[int](), collections.Counter[str]()
    checks, told = [], list[Judge]()
    nearest: dict[str, list[Links]] = {}
    sizes = part.pair_people[held]
    for one in claimed.adversaries:
        (adversary,) = as_adversaries(one.name)
        read = everybody if reads_whole(adversary) else case
        lenses = _lenses(adversary, read, known)
        beside = judge_beside(case, [adversary], known)
        for lens in (*lenses, *beside):
            persons.take(lens)
        mine = adversary_verdict(read, adversary.reasoning, lenses, beside)
        checks.append(
            _same_verdict(f"{adversary.name} adversary", mine.robust, one.robust, whole=whole)
        )
        agree = AGREEMENT if not mine.posteriors["estimate"] else ESTIMATES_AGREE
        near = _near(mine.worst_posterior, one.worst_posterior, agree, whole=whole)
        detail = f"{mine.worst_posterior:.6f}, claimed {one.worst_posterior:.6f}"
        name = f"worst posterior of the {adversary.name} adversary"
        checks.append(Claim.of(name, near, detail))
        checks += _check_fit(mine, one, case.table.event_rows)
        told.append(mine.judge(adversary.name))
        name = WHOLE if reads_whole(adversary) else "one-view"
        nearest.setdefault(name, []).extend(Links.of(read, lens) for lens in lenses)
        if reads_whole(adversary) and not alone:  # their figures are not those of one view
            continue
        exact &= mine.posteriors["estimate"] == 0
        kinds.update(mine.posteriors)
        if not mine.posteriors["estimate"]:
            for figure in ("problematic", "undecided")[: 1 + whole]:
                name = f"{figure} people, {adversary.name} adversary"
                own, stated = getattr(mine, figure), getattr(one, figure)
                checks.append(_same_figure(name, own, stated, whole=whole))
        for judged in (lens.judged for lens in (*lenses, *beside)):
            breach |= judged.breach
            undecided |= judged.undecided
            impossible.update(judged.contradictory.tolist())
            np.maximum(worst, judged.event_worst, out=worst)
    undecided &= ~breach
    for event, largest in zip(release.certificate["events"], worst, strict=True):
        stated = event["worst_posterior"]
        near = _near(largest, stated, AGREEMENT if exact else ESTIMATES_AGREE, whole=whole)
        detail = f"{largest:.6f}" + ("" if exact else " (estimated)")
        detail += "" if near else f", claimed {stated:.6f}"
        checks.append(Claim(f"worst posterior of {event['label']}", near, detail))
    if exact and whole:
        checks.append(same_figures("how posteriors were computed", kinds, claimed.posteriors))
    if exact:  # estimates from another start may call other people
        # Without a model's view people may be undecided of whom it would have decided.
        for name, mask in [("problematic", breach), ("undecided", undecided)][: 1 + whole]:
            found, stated = int(sizes[mask].sum()), getattr(claimed, name)
            checks.append(_same_figure(f"{name} people", found, stated, whole=whole))
    figures = replace(
        claimed,
        adversaries=tuple(told),
        problematic=int(sizes[breach].sum()),
        undecided=int(sizes[undecided].sum()),
        contradictory=int(part.copies[sorted(impossible)].sum()),
    )
    if "contradictory" in release.certificate["audit"] and whole:
        name = "contradictory groups"
        checks.append(same_figure(name, figures.contradictory, claimed.contradictory))
    return figures, nearest, checks


def _check_fit(mine: AdversaryVerdict, claimed: Judge, cases: Ints) -> list[Claim]:
    """How well odds were fitted, and whom they link; nothing of an adversary who fits none. `cases`
    are those of each event: no count is larger."""
    if mine.residual is None:
        return []
    assert claimed.residual is not None, "the certificate says it of whoever fits odds"
    who = f"{claimed.name} adversary"
    agree = ESTIMATES_AGREE * float(leeway(cases.astype(np.float64)).max())
    near = abs(mine.residual - claimed.residual) <= agree
    detail = f"{mine.residual:.3f}, claimed {claimed.residual:.3f}"
    checks = [Claim.of(f"residual of the {who}", near, detail)]
    for figure in ("problematic", "undecided", "missing", "excepted"):
        found, stated = getattr(mine, figure) or 0, getattr(claimed, figure) or 0
        near = abs(found - stated) <= max(2.0, FITS_AGREE * max(found, stated))
        checks.append(Claim.of(f"{figure} people, {who}", near, f"{found}, claimed {stated}"))
    return checks


def _lenses(adversary: Anybody, case: Case, known: Knowledge) -> list[Lens]:
    """What an adversary makes of all groups: through each view, or through all together."""
    if reads_whole(adversary):
        return [Lens(adversary.name, *adversary.judge_whole(case, known))]
    return [
        Lens(adversary.name, view, reading.judge(view, number))
        for reading in readings([adversary], case)
        for number, view in enumerate(known.views)
    ]


def _near(found: float, claimed: float, agree: float, *, whole: bool) -> bool:
    return (abs(found - claimed) if whole else found - claimed) <= agree


def _same_figure(name: str, found: int, claimed: int, *, whole: bool) -> Claim:
    if whole or found > claimed:
        return same_figure(name, found, claimed)
    return Claim(name, True, f"{found} without the model, claimed {claimed}")


def _same_verdict(
    name: str, recomputed: bool | None, claimed: bool | None, *, whole: bool
) -> Claim:
    """Without a view a release can only look better than it is."""
    better = [False, None, True].index
    same = recomputed == claimed or (not whole and better(recomputed) > better(claimed))
    detail = f"recomputed {verdict_words(recomputed)}, claimed {verdict_words(claimed)}"
    return Claim.of(name, same, detail)


def _same_views(views: list[list[str]], claimed: dict[str, Any], *, whole: bool) -> Claim:
    models = [] if whole else [one["view"] for one in claimed["models"]]
    left = [view for view in claimed["views"] if " + ".join(view) not in models]
    there = [view for view in views if " + ".join(view) not in models]
    return Claim.of("views", there == left, "differ")


def coded(release: Release, table: Table) -> tuple[Table, IntArray, str]:
    """The code of the value on each line of the sensitive table; of columns that are published
    apart, in a table that knows the pairs that they happen to be in. Or what is no value of it."""
    apart = release.spec.publish_apart
    code = column_codes(release, table) if apart else value_codes(release, table)[:, None]
    unknown = (code < 0).any(axis=1)
    if unknown.any():
        line = release.sensitive_runs.lines.row(int(unknown.argmax()), named=True)
        strange = " | ".join(str(line[name]) for name in release.spec.sensitive_columns)
        return table, code, f'the value "{strange}" never occurs in the table'
    return (*with_pairs(table, code), "") if apart else (table, code[:, 0], "")


def _published(
    release: Release, table: Table, code: IntArray, record: Record | None
) -> tuple[PublishedLines | None, str]:
    """The release in the table's codes, or what contradicts the original table. `code` is that of
    each line of the sensitive table's runs."""
    coded, name = _with_codes(release, code)
    qi, sensitive = same_groups(coded, apart=release.form == "generalized")
    people, problem = form_named(release.form).people(release, qi, table, record)
    if people is None:
        return None, problem
    everybody = people.people * qi.copies[people.group]
    counts = np.bincount(people.signature, everybody, len(table.signatures))
    if (counts > table.signature_rows).any():
        return None, "more people share some attributes than in the table"
    held, count = sensitive.lines[name].to_numpy(), sensitive.lines["count"].to_numpy()
    count = count.astype(np.int64) * sensitive.times
    values = Counts.of_lines(sensitive.group, held, count, len(qi.copies))
    sizes = np.bincount(people.group, people.people, len(qi.copies))
    if not np.array_equal(sizes, values.summed(values.count)):
        return None, "the groups of the table's rows have other sizes than those published"
    return (
        PublishedLines(
            ids=qi.first,
            copies=qi.copies,
            group=people.group,
            signature=people.signature.astype(np.int32),
            people=people.people,
            values=values,
        ),
        "",
    )


def _with_codes(release: Release, code: IntArray) -> tuple[Release, str]:
    """The release with the code of each line of its sensitive table in another column of it, and
    that column's name."""
    runs = release.sensitive_runs
    name = free_name("code", runs.lines.columns)
    coded = runs.lines.with_columns(pl.Series(name, code))
    return replace(release, sensitive_held=replace(runs, lines=coded)), name
