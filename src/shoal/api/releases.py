"""audit_releases: what several releases of the same people tell together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shoal.api.inputs import Known, frame_of, spec_of
from shoal.api.placed import Told, place
from shoal.api.released import align, aligned_own, is_own, private_of, spec_of_own
from shoal.arrays import Floats
from shoal.auditing.adversaries.adversary import BOTH
from shoal.auditing.adversaries.joint import JOINT_BUDGET
from shoal.auditing.align import Aligned
from shoal.auditing.releases import ReleasesVerdict, Shown, judge_releases, shown_by
from shoal.data.spec import Limit, Spec
from shoal.data.table import Table
from shoal.data.table.frames import to_polars
from shoal.errors import InputError
from shoal.knowledge import Knowledge
from shoal.release import Release
from shoal.release.folder import load
from shoal.release.people import Met
from shoal.release.record import rows_recorded
from shoal.wording import people as counted_people
from shoal.wording import plain_percent


def audit_releases(
    data: Any,
    releases: Sequence[Any],
    spec: Spec | None = None,
    *,
    key: str | None = None,
    knowledge: Known = None,
    model: Any = None,
    adversary: str | Sequence[str] = BOTH,
    limit: Limit | None = None,
    earlier: int = 0,
    budget: float = JOINT_BUDGET,
    seed: int = 0,
) -> ReleasesVerdict:
    """Judges releases of one table's people together: what each reader of one view knows who has
    all of them.

    Exact where few groups overlap; beyond it people who are certain are found, and others have
    bounds, or are not decided.

    Args:
        data: The table with everybody in it: a frame, a path or URL, or a Table.
        releases: Tables that other tools released, whose groups are made by those of the QIs that
            they have; or folders of shoal's, with their private folders beside them.
        spec: What was asked for; else that of the last folder, with the QIs of all.
        key: The column that aligns released files; row by row unless given.
        knowledge: What outsiders know, a Knowledge or a file, in place of what the spec says.
        model: Outsiders also know what such a model of all QIs, fitted to other people, foretells
            of everybody.
        adversary: Who judges: joint, binary, or both.
        limit: In place of the spec's.
        earlier: How many of the releases were published before: what they tell of people of whom
            the others say nothing new is not held against the limit.
        budget: Steps of an exact posterior, per component and view.
        seed: Seed of the estimates.

    Returns:
        The verdict, and everybody's state.

    Raises:
        InputError: Fewer than two releases are named, or they are not of the table's people.

    The same file twice tells what it tells once: each of its groups is judged alone.

    >>> import shoal
    >>> hospital = shoal.datasets.hospital(600, seed=0)
    >>> spec = shoal.Spec(qi=["age"], sensitive="diagnosis", protect=[["HIV"]], r=2)
    >>> tens = hospital.with_columns(age=hospital["age"] // 10)
    >>> shoal.audit_releases(hospital, [tens, tens], spec, key="patient").groups_alone
    8
    """
    table, shown = shown_together(data, releases, spec, key=key, knowledge=knowledge)
    readers = [adversary] if isinstance(adversary, str) else list(adversary)
    return judge_releases(
        table,
        shown,
        knowledge=Knowledge.of(table, knowledge, model=model),
        readers=readers,
        limit=limit,
        earlier=earlier,
        budget=budget,
        seed=seed,
    )


def shown_together(
    data: Any,
    releases: Sequence[Any],
    spec: Spec | None = None,
    *,
    key: str | None = None,
    knowledge: Known = None,
) -> tuple[Table, list[Shown]]:
    """A table with everybody in it, by the QIs of all, and what each release shows of its rows."""
    if len(releases) < 2:
        raise InputError(
            "releases-few",
            f"{len(releases)} release is named; this judges what several reveal together.",
            "Name at least two, or use audit for one.",
        )
    own = [made for one in releases if (made := spec_of_own(one)) is not None]
    asked = spec or (_of_all(own) if own else None)
    frame, asked = to_polars(frame_of(data)), spec_of(data, asked, knowledge=knowledge)
    _refuse_unlike(own)
    privates = [private_of(one) if is_own(one) else None for one in releases]
    placed = place(frame, privates, [*asked.qi, *asked.sensitive_columns])
    asked = asked.with_(identifiers=()) if placed.more else asked
    aligned = [
        _aligned(frame, one, asked, key)
        if told is None
        else aligned_own(placed.frame, load(Path(one)), told.gid)
        for one, told in zip(releases, placed.told, strict=True)
    ]
    spelt = any(one.table.spec.publish_members for one in aligned)
    table = Table.from_frame(placed.frame, asked.with_(publish_members=spelt, k=None))
    for one in aligned:
        known = one.table.rows in (placed.rows, table.rows)
        if not known or one.table.members.labels != table.members.labels:
            raise InputError(
                "releases-table",
                "The releases are of other rows, or of other values, than the table's.",
                "Give a spec with the same sensitive column, recoded in the same way, and the same "
                "rows of people.",
            )
    return table, [
        shown_by(one.table, one.grouping, one.rows, _weights(private, told, one.table)).of_more(
            table.rows
        )
        for one, private, told in zip(aligned, privates, placed.told, strict=True)
        if one.rows is not None
    ]


def _weights(private: Path | None, told: Told | None, table: Table) -> Floats | None:
    """What each row counts as in a release of shoal's, by its ledger or by its private folder."""
    if told is not None:
        return told.weight
    return None if private is None else rows_recorded(private, table)[1]


def pair_words(rows: Any, other: Met, made: Release) -> str:
    """What a release that was just made tells together with another one of the same rows; nothing
    where they cannot be judged together."""
    folder = other.release
    assert folder is not None, "asked of releases whose folder is known"
    try:
        before = load(folder)
        _refuse_unlike([made.spec, before.spec])
        spec = _of_all([made.spec, before.spec]).with_(identifiers=(), k=None)
        table = Table.from_frame(rows, spec)
        gid, weight = rows_recorded(other.private, Table.from_frame(rows, before.spec))
        aligned = aligned_own(rows, before, gid)
        if aligned.table.members.labels != table.members.labels or aligned.rows is None:
            return ""
        mine = made.made
        assert mine.dealt is not None, "rows are at hand"
        shown = [
            shown_by(aligned.table, aligned.grouping, aligned.rows, weight),
            shown_by(mine.table, mine.grouping, mine.dealt.group, mine.dealt.weight),
        ]
        found = judge_releases(table, shown)
    except InputError:
        return ""
    cases = int((table.row_event >= 0).sum())
    sure = plain_percent(found.certain / max(1, cases))
    return (
        f"Whoever has both, and knows who is in which group, is certain of the protected value of "
        f"{counted_people(found.certain)} ({sure} of all who have one)."
    )


def _refuse_unlike(specs: Sequence[Spec]) -> None:
    """An InputError for what no judge of several releases reads."""
    if any(one.person is not None for one in specs):
        raise InputError(
            "releases-person",
            "Releases are judged together where everybody has one row, and people have several.",
            "Judge releases of one row per person.",
        )


def _of_all(specs: Sequence[Spec]) -> Spec:
    """The last spec, with the QIs of all. One that they recode otherwise is as the table has it,
    which is finer than any."""
    qi = tuple(dict.fromkeys(name for one in specs for name in one.qi))
    ways = [dict(one.recode) for one in specs]
    kept = {
        name: way
        for own in ways
        for name, way in own.items()
        if name not in qi
        or all(
            other.get(name) == way for other, one in zip(ways, specs, strict=True) if name in one.qi
        )
    }
    return specs[-1].with_(qi=qi, recode=tuple(kept.items()))


def _aligned(frame: Any, released: Any, spec: Spec, key: str | None) -> Aligned:
    """A release and the table as it codes it."""
    if is_own(released):
        own = spec_of_own(released)
        assert own is not None
        return align(frame, released, own)
    other = frame_of(released)
    shown = to_polars(other).columns
    qi = [name for name in spec.qi if name in shown]
    if not qi:
        raise InputError(
            "released-column",
            "A release has none of the QI columns.",
            "Its QI columns must bear the table's names.",
        )
    recode = [one for one in spec.recode if one[0] in (*qi, *spec.sensitive_columns)]
    plain = Spec(qi=qi, sensitive=spec.sensitive, protect=spec.protect, r=spec.r, recode=recode)
    return align(frame, other, plain, key=key)
