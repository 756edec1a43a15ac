"""anonymize: a table and a spec go in; a release, and the proof of what it withstands, come out."""

from __future__ import annotations

import math
import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from shoal.api.inputs import Known, frame_of, is_location, spec_of, table_of
from shoal.api.releases import pair_words
from shoal.auditing.adversaries.adversary import (
    USUAL,
    Adversaries,
    as_adversaries,
    by_view,
    judging,
)
from shoal.auditing.audit import audit as judge
from shoal.data.sources.streamed import Rows
from shoal.data.spec import Spec, checked_seed
from shoal.data.storage import recover_folder
from shoal.data.table import Table
from shoal.data.table.frames import to_polars
from shoal.engines import Engine, Local, default_engine, engine_of
from shoal.engines.counting import holds_cells
from shoal.errors import InputError, InternalError
from shoal.groups import Anonymizer, Grouping, Progress, silent
from shoal.knowledge import Knowledge, check_groups, warn_of_time
from shoal.methods.registry import check_columns, inform, make_method
from shoal.release import Release
from shoal.release.certificate import make_certificate
from shoal.release.drawing import Draw, draw
from shoal.release.ledger import Ledger, begin, check_same, follow, secret
from shoal.release.models import describe_models, model_files
from shoal.release.people import Met, People, met, refuse_met
from shoal.release.release import ReleaseRun
from shoal.release.tables import build_tables, check_names

SEED_BITS = 62
SOON = 50_000
"""Of tables of so many rows it is computed what another release of them adds."""
AT_ONCE = 1 << 17
"""Of so many rows it is recorded at a time who they are."""
HOPELESS = ("r-impossible", "suppression-limit")
"""How a method says that there are too few people to hide somebody among."""


def anonymize(
    data: Any,
    spec: Spec | None = None,
    *,
    method: str | Anonymizer = "art",
    knowledge: Known = None,
    model: Any = None,
    adversary: Adversaries = USUAL,
    engine: Engine | None = None,
    after: str | Path | None = None,
    ledger: bool = False,
    key: str | None = None,
    beside: Sequence[str | Path] = (),
    seed: int | None = None,
    progress: Progress = silent,
    **parameters: Any,
) -> Release:
    """Makes a release of a table, and audits it.

    Where the method knows how much of its group's cases each person counts as, the release says so.
    A release of ART that one of the adversaries it answers refutes is never returned.

    Args:
        data: A frame, the path or URL of a table, or a Table.
        spec: What is published, and what nobody may be linked to; a Table has its own.
        method: How groups are made: a method by its name. In Python also an anonymizer.
        knowledge: What outsiders know, a Knowledge or a file, in place of what the spec says.
        model: Outsiders also know what such a model of all QIs, fitted to other people, foretells
            of everybody. In Python also anything with fit and predict_proba.
        adversary: Who judges, one or several; joint, binary and all-views unless named. ART makes
            its groups for those of them who take one view at a time.
        engine: Who counts, deals and writes the rows; Polars on this machine unless given.
        after: The private folder of the release before this one: whoever is published there stays
            in their group with the value that they had, and newcomers are in groups of their own.
        ledger: Keep a ledger in the private folder, so that another release can follow.
        key: The column by which a ledger knows people again; else all that is published of them.
        beside: Private folders of other releases: none may be of the same people, but for those
            that this one follows.
        seed: Seed of everything random, for tests and studies; the certificate then says so. A
            secret one is drawn otherwise, and kept with the private records: whoever knew it could
            repeat the run.
        progress: Called with a step's name, how much of it is done, and of how much.
        parameters: Those of the method, by name.

    Returns:
        The release, in memory, with its verdict (`robust`); `save` writes it.

    Raises:
        InputError: Something about the table, the spec or the method is wrong, or nothing can be
            published as asked.
        InternalError: The auditor refutes the groups of a method that it was to believe.

    >>> import shoal
    >>> hospital = shoal.datasets.hospital(2000, seed=0)
    >>> spec = shoal.Spec(
    ...     qi=["sex", "region"], sensitive="diagnosis", protect=[["HIV", "Schizophrenia"]], r=5
    ... )
    >>> release = shoal.anonymize(hospital, spec)
    >>> release.robust
    True
    >>> release.save("release", private="private")
    """
    clock, readers = _Clock(), by_view(as_adversaries(adversary))
    drawn = _secret_seed() if seed is None else checked_seed(seed)
    chosen = _chosen(method, parameters, readers, knowledge)
    engine = engine or engine_of(data)
    rows_with = engine or default_engine()
    chain, keep = None, not is_location(data)
    spec = spec_of(data, spec, engine=rows_with)
    rows = _rows(data, rows_with)
    if isinstance(rows, pl.DataFrame) and not keep:
        data = rows
    whose = None if rows is None else People.of(_some(rows), spec)
    if ledger or after is not None:
        chain = _chain(data, spec, after, key, rows_with, knowledge=knowledge, seed=drawn)
        data, spec = chain.frame, spec.with_(identifiers=())
    elif key is not None:
        raise InputError("key-alone", "key names people of no ledger.", "Use it with ledger.")
    others = [] if whose is None else _others(whose, beside, chain, rows)
    table = table_of(
        data,
        spec,
        knowledge=knowledge,
        engine=rows_with,
        keep=keep,
        publish=True,
        progress=progress,
    )
    if not others:
        data = rows = None  # as large as all that follows
    check_names(table)
    check_columns(chosen, table)
    if after is not None:
        check_same(table, chosen, Path(after))
    chosen = _of_at_least(chosen, table)
    clock.lap("read")
    known = Knowledge.of(table, getattr(chosen, "knowledge", None) or knowledge, model=model)
    check_groups(table)
    warn_of_time(table, len(known.views))
    # The search shares what is known, which is large on wide tables.
    searching = _knowing(chosen, known)
    if model is not None:
        chosen = searching
    clock.lap("knowledge")
    blind = getattr(chosen, "condition", None) == "joint"  # such groups are drawn by chance
    following = None if after is None else chain
    people, earlier = _newcomers(following, table, chosen)
    beginning: dict[str, Any] = {} if earlier is None else {"told": earlier}
    if chain is not None and blind:  # other releases may follow
        beginning["judged"] = table

    def search(asked: Table, seed: int) -> Grouping:
        try:
            return searching.anonymize(asked, seed=seed, progress=progress, **beginning)
        except InputError as refused:
            if following is not None and refused.code in HOPELESS:
                raise following.few(table, people) from None
            raise
        finally:
            clock.lap("search")

    def judged(grouping: Grouping) -> Draw:
        told = None
        dealt = rows_with.deal(people, grouping, seed=drawn)
        if following is not None and dealt is not None:
            grouping, dealt, told = following.joined(table, grouping, dealt)
        clock.lap("deal")
        # Whom the method claims to answer judge in any case.
        answered = list(grouping.claims.get("readers", ()))
        audit = judge(
            table,
            grouping,
            knowledge=known,
            adversary=[*answered, *judging(adversary, known, table.spec)],
            seed=seed or 0,
            rows=None if dealt is None else dealt.group,
            told=told,
            weight=None if dealt is None else dealt.weight,
            progress=progress,
        )
        clock.lap("audit")
        if not all(audit.by_adversary[one].robust for one in answered):
            raise InternalError(
                "the auditor refutes ART's groups; nothing is released. Please report this table's "
                "spec"
            )
        return Draw(grouping, dealt, audit)

    made_of = draw(table, search, judged, seed=drawn, blind=blind, margin=chain is not None)
    grouping, dealt, audit = made_of.grouping, made_of.dealt, made_of.audit
    qi, sensitive, members, ranges = build_tables(table, grouping, dealt, seed=drawn)
    models = model_files(table, known, seed=drawn)
    certificate = make_certificate(
        table,
        grouping,
        known,
        audit,
        method=chosen.name,
        parameters=_shown(chosen),
        seed=seed,
        models=describe_models(known, models),
        after=() if chain is None else chain.releases,
    )
    clock.lap("build")
    made = Release(
        spec=table.spec,
        form=grouping.form,
        qi_held=qi,
        sensitive_held=sensitive,
        members=members,
        ranges=ranges,
        certificate=certificate,
        run=ReleaseRun(
            table, grouping, audit, drawn, rows_with, dealt, models, clock.laps, chain, whose
        ),
    )
    if others:
        raise refuse_met(others[0], pair_words(rows, others[0], made))
    return made


def _newcomers(
    following: Ledger | None, table: Table, method: Anonymizer
) -> tuple[Table, Grouping | None]:
    """Who is put into groups now, and the groups that earlier releases made."""
    if following is None:
        return table, None
    people, fewest = following.newcomers(table), _fewest(method, table)
    if people.rows < fewest:
        raise following.fewer(people, fewest)
    return people, following.groups(table)


def _chain(
    data: Any,
    spec: Spec | None,
    after: str | Path | None,
    key: str | None,
    engine: Engine,
    *,
    knowledge: Known,
    seed: int,
) -> Ledger:
    """The chain that a release begins or follows."""
    if not isinstance(engine, Local):
        raise InputError(
            "ledger-engine",
            f"A ledger is kept of rows that are here, and {engine.name} leaves them there.",
            "Leave the engine out.",
        )
    held = engine.read(data) if is_location(data) else to_polars(frame_of(data))
    frame, asked = held, spec_of(data, spec, knowledge=knowledge)
    if after is None:
        return begin(frame, asked, key, secret(seed))
    recover_folder(Path(after))
    return follow(frame, asked, Path(after), key)


def _rows(data: Any, engine: Engine) -> pl.DataFrame | Rows | None:
    """The rows of what is given, where they are here."""
    if not isinstance(engine, Local) or (is_location(data) and holds_cells(data)):
        return None
    if is_location(data):
        return engine.opened(data)
    held = data.native if isinstance(data, Table) else data
    return None if held is None else to_polars(held)


def _some(rows: pl.DataFrame | Rows) -> Iterable[pl.DataFrame]:
    if isinstance(rows, pl.DataFrame):
        return rows.iter_slices(AT_ONCE)
    return rows.frames(rows.names)


def _others(
    whose: People,
    beside: Sequence[str | Path],
    chain: Ledger | None,
    rows: pl.DataFrame | Rows | None,
) -> list[Met]:
    """Releases of the same people that this one does not follow; refused at once unless it is soon
    known what they tell together."""
    followed = () if chain is None else chain.releases
    found = list(met(whose, list(map(Path, beside)), followed))
    here = isinstance(rows, pl.DataFrame) and rows.height <= SOON
    if found and not (here and found[0].same_table and found[0].release is not None):
        raise refuse_met(found[0])
    return found


def _secret_seed() -> int:
    return secrets.randbits(SEED_BITS)


def _chosen(
    method: str | Anonymizer, parameters: Mapping[str, Any], readers: Any, knowledge: Known
) -> Anonymizer:
    """The method, told of who reads its groups and what they know, where it takes that."""
    made = (
        make_method(method, parameters) if isinstance(method, str) else _given(method, parameters)
    )
    if isinstance(method, str) and "readers" not in parameters and readers:
        made = inform(made, readers=readers)
    return inform(made, knowledge=knowledge) if isinstance(knowledge, Knowledge) else made


def _given(method: Anonymizer, parameters: Mapping[str, Any]) -> Anonymizer:
    if isinstance(method, type) or not is_dataclass(method):
        raise InputError(
            "method-class",
            f"{method!r} is no method.",
            "Give a method's name, or an instance of a frozen dataclass with a name and anonymize.",
        )
    if parameters:
        raise InputError(
            "method-parameter",
            f"{', '.join(parameters)} is given beside a method that has its parameters already.",
            "Set it when the method is made, or give the method's name.",
        )
    return method


def _of_at_least(method: Anonymizer, table: Table) -> Anonymizer:
    """The method with groups of at least k people, if what it publishes are ranges of groups."""
    ranged = getattr(method, "form", None) == "generalized"
    size = "smallest_group" if ranged else "k" if hasattr(method, "k") else None
    k = table.spec.k
    if k is None or size is None:
        return method
    least = getattr(method, size)
    if (math.ceil(table.event_r.max()) if least is None else least) >= k:
        return method
    return replace(method, **{size: k})  # type: ignore[type-var]


def _fewest(method: Anonymizer, table: Table) -> int:
    """How many people a group has at least, unless it is one of those that are few."""
    least = getattr(method, "smallest_group", None)
    return math.ceil(table.event_r.max()) if least is None else int(least)


def _knowing(method: Anonymizer, known: Knowledge) -> Anonymizer:
    """The method with what is known, if it takes that."""
    own = getattr(method, "__dataclass_fields__", {}).get("knowledge")
    if own is not None and own.init:
        return replace(method, knowledge=known)  # type: ignore[type-var]
    return method


def _shown(method: Anonymizer) -> dict[str, Any]:
    """A method's parameters as plain data; hierarchies by the attributes they are for."""
    shown: dict[str, Any] = {}
    for field in fields(method):  # type: ignore[arg-type]
        value = getattr(method, field.name)
        if isinstance(value, Mapping):
            value = sorted(value)
        if value is None or isinstance(value, bool | int | float | str | list):
            shown[field.name] = value
    return shown


class _Clock:
    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.laps[name] = round(self.laps.get(name, 0.0) + now - self._last, 4)
        self._last = now
