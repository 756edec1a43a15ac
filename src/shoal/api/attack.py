"""attack: what the red team achieves on a release, or on groups that any tool made."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from shoal.api.audit import check_named, published_of
from shoal.api.inputs import Known, frame_of, is_location, table_of
from shoal.api.released import by_cells, recorded
from shoal.api.releases import shown_together
from shoal.attacks import Attack, Attacker, Scene, as_attackers, run
from shoal.attacks.scene import Remake
from shoal.auditing.audit import grouped
from shoal.data.spec import Spec, checked_seed
from shoal.data.spec.recipe import with_files
from shoal.data.table import Table
from shoal.engines import Engine
from shoal.errors import InputError, nearest
from shoal.groups import Grouping, Progress, silent
from shoal.knowledge import OWN, READERS, Knowledge, as_readers, seen_in
from shoal.methods.registry import inform, make_method
from shoal.release import Release
from shoal.release.folder import load, private_folder
from shoal.release.pair import refuse_strangers
from shoal.release.record import rows_recorded
from shoal.release.regroup import regroup, regroup_cells
from shoal.release.verification.models import with_models


def attack(
    data: Any,
    spec: Spec | None = None,
    *,
    table: Any = None,
    private: str | Path | None = None,
    groups: Any = None,
    released: Any = None,
    others: Sequence[Any] = (),
    key: str | None = None,
    knowledge: Known = None,
    hierarchies: Mapping[str, str | Path] | None = None,
    attackers: Iterable[str | Attacker] | None = None,
    seed: int = 0,
    budget: float | None = None,
    column: str | None = None,
    engine: Engine | None = None,
    progress: Progress = silent,
) -> Attack:
    """Lets attackers loose on a release: whom each names, and how often they are right.

    Attacked is a release with its original table, or a table with its spec and what was published
    of it, as `audit` takes them. Where the private folder tells by cells who is in which group, the
    table may be a file of cells, or is counted by the engine, and no row of it is read.

    Args:
        data: A Release, the folder of one, or the table itself.
        spec: What was asked for; a release has its own.
        table: The original table of the release: a frame, a path or URL.
        private: The publisher's private folder, without which nobody knows who is in which group;
            the folder's name with -private behind unless given.
        groups: The column that labels the groups. In Python also one label for each row.
        released: What was released of the table: a file whose QI columns make the groups, or the
            folder of a release.
        others: More releases of the same people, files or folders: attack those who compare them
            all with this one.
        key: The column that aligns the released file; row by row unless given.
        knowledge: What attackers know, in place of what the spec says.
        hierarchies: The files that columns of a release were recoded by, by column.
        attackers: Who attacks; everybody unless named. In Python also attackers of your own.
        seed: Seed of all that attackers draw.
        budget: Seconds after which no further attacker begins; `not_run` says who did not.
        column: The column to attack, where several are sensitive.
        engine: Who counts the table of a release; Polars on this machine unless given.
        progress: Called with a step's name, how much of it is done, and of how much.

    Returns:
        A finding for each attacker, and whether the limit was withstood.

    Raises:
        InputError: It is not known what is attacked, or who is right; an argument that goes with
            something else is refused.

    >>> import shoal
    >>> hospital = shoal.datasets.hospital(20_000, seed=0)
    >>> spec = shoal.Spec(
    ...     qi=["sex", "region"], sensitive="diagnosis", protect=[["HIV", "Schizophrenia"]], r=5
    ... )
    >>> release = shoal.anonymize(hospital, spec, seed=1)
    >>> found = shoal.attack(release, attackers=["likeliest", "medoid"])
    >>> found.withstood
    True
    >>> found["likeliest"].everybody.tries == found["medoid"].everybody.tries
    True
    """
    until = float("inf") if budget is None else time.monotonic() + _checked_budget(budget)
    team, seed = as_attackers(attackers, together=bool(others)), checked_seed(seed)
    refuse_idle(
        spec=spec,
        table=table,
        private=private,
        hierarchies=hierarchies,
        groups=groups,
        released=released,
        key=key,
        engine=engine,
    )
    if others:
        refuse_beside(data, groups, private, hierarchies, engine, column)
        mine, everybody = (data, table) if released is None else (released, data)
        scene = _of_several(everybody, [mine, *others], spec, key, knowledge)
    elif groups is not None or released is not None:
        scene = _of_table(data, spec, groups, released, key, knowledge)
    else:
        scene = _of_release(data, table, private, knowledge, hierarchies or {}, engine)
    scene = _one_column(scene, column)
    found = run(replace(scene, seed=seed, until=until), team, progress=progress)
    return replace(found, column=column)


def refuse_beside(*given: Any) -> None:
    """An InputError for what says nothing where releases are compared; the release comes first."""
    release, *idle = given
    if any(one is not None for one in idle) or isinstance(release, Release):
        raise InputError(
            "attack-with",
            "Releases are compared as files, or as folders with their private folders beside them.",
            "Save the release; leave out groups, private, hierarchies, engine and column.",
        )


def _of_several(
    data: Any, releases: Sequence[Any], spec: Spec | None, key: str | None, knowledge: Known
) -> Scene:
    """The first of some releases, before those who have all of them."""
    table, shown = shown_together(data, releases, spec, key=key, knowledge=knowledge)
    first = shown[0]
    pooled = np.isin(
        np.arange(int(first.group.max()) + 1),
        first.group[first.value == len(first.table.values)],
    )
    return Scene(
        table=table,
        grouping=Grouping.of_rows(table, first.group, pooled=pooled),
        knowledge=Knowledge.of(table, knowledge),
        limit=table.spec.limit,
        shown=tuple(shown),
    )


def _one_column(scene: Scene, column: str | None) -> Scene:
    """What is published of one of several sensitive columns."""
    several = scene.table.several
    names = scene.table.spec.sensitive_columns
    if column is not None and column not in names:
        raise InputError(
            "attack-column",
            f'"{column}" is no sensitive column{nearest(column, names)}.',
            f"Choose among: {', '.join(names)}.",
        )
    if several is None:
        return scene
    if column is None:
        raise InputError(
            "attack-several",
            f"Attackers read one sensitive column, and there are {len(names)}.",
            f"Name one: --column {names[0]}, or column={names[0]!r}.",
        )
    aspect = next(one for one in several.aspects if one.column == column)
    views = [seen_in(view, aspect.table) for view in scene.knowledge.views]
    return replace(
        scene,
        table=aspect.table,
        grouping=scene.grouping.alone(aspect),
        knowledge=replace(scene.knowledge, views=tuple(views)),
        readers=tuple(name for name in scene.readers if name != "together"),
        remake=None,
    )


def refuse_idle(**given: Any) -> None:
    """An InputError for an argument that what is attacked has no use for."""
    foreign = given["groups"] is not None or given["released"] is not None
    for name in ("table", "private", "hierarchies", "engine") if foreign else ("spec", "key"):
        if given[name] is not None:
            raise InputError(
                "attack-argument",
                f"{name} goes with {'a release' if foreign else 'groups or a released table'}.",
                "Leave it out.",
            )
    if foreign:
        check_named(given["groups"], given["released"], given["key"])


def _of_release(
    data: Any,
    original: Any,
    private: Any,
    knowledge: Known,
    hierarchies: Mapping[str, str | Path],
    engine: Engine | None,
) -> Scene:
    if isinstance(data, Release):
        release, folder = data, None if private is None else Path(private)
    elif is_location(data):
        release, folder = load(Path(data)), private_folder(Path(data), private)
        refuse_strangers(Path(data), folder)
    else:
        raise InputError(
            "attack-what",
            "Nothing to attack is named.",
            "Give a release, or a table with groups or a released table.",
        )
    table, grouping = _known_groups(release, original, folder, hierarchies, engine)
    readers = release.judged.names
    return Scene(
        table=table,
        grouping=grouping,
        knowledge=_judged_with(release, table, knowledge, folder),
        limit=release.certificate["limit"],
        readers=readers,
        exact=release.form == "bucketized",
        remake=_remake(release.certificate["method"], readers),
    )


def _known_groups(
    release: Release,
    original: Any,
    private: Path | None,
    hierarchies: Mapping[str, str | Path],
    engine: Engine | None,
) -> tuple[Table, Grouping]:
    """The table, and who is in which group: as the release still knows, or as its private folder
    tells, by rows or by cells."""
    rows, cells = release.row_groups, release.row_groups is None and by_cells(release, private)
    if engine is not None and (original is None or not cells):
        raise InputError(
            "engine-attack",
            "An engine counts a table that is given, where the private folder keeps by cells who "
            "is in which group.",
            "Leave the engine out, or make the release with --private cells.",
        )
    if original is None:
        if release.run is None:
            raise InputError(
                "attack-table",
                "Without the original table nobody knows who is right.",
                "Give the table that the release was made of.",
            )
        table = release.run.table
    else:
        if rows is None and not cells:
            recorded(private)  # before a table is read in vain
        asked = release.spec.with_(recode=with_files(release.spec.recode, hierarchies))
        if cells:
            table = table_of(original, asked, engine=engine, keep=False)
        else:
            table = Table.from_frame(frame_of(original), asked)
    if cells:
        assert private is not None
        return table, regroup_cells(release, table, private)
    made = release.run
    if rows is None and original is None and made is not None and not table.several:
        return table, replace(made.grouping, form="bucketized", recodings=())
    weights = None if made is None else made.row_weights
    if rows is None:
        rows, weights = rows_recorded(recorded(private), table)
    return table, regroup(release, table, rows, weights)


def _judged_with(
    release: Release, table: Table, knowledge: Known, private: Path | None
) -> Knowledge:
    """What the release was judged with, models included."""
    claimed = release.certificate["knowledge"]
    outside = not claimed["source"].startswith(OWN)
    if knowledge is None and table.spec.knowledge is None and outside:
        raise InputError(
            "verify-knowledge",
            f"The release was judged against {claimed['source']}.",
            "Give that file again with --knowledge.",
        )
    known = with_models(Knowledge.of(table, knowledge), claimed, table, private)
    for check in known.checks:
        if not check.passed or not known.whole:
            raise InputError(
                "attack-model",
                f"The release was judged with a model: {check.name}, {check.detail}.",
                "Give the private folder that was written with the release.",
            )
    return known.knowledge


def _of_table(
    data: Any, spec: Spec | None, groups: Any, released: Any, key: str | None, knowledge: Known
) -> Scene:
    found = published_of(data, spec, groups=groups, released=released, key=key, knowledge=knowledge)
    table, grouping = found.table, grouped(found.table, found.groups, found.rows)[0]
    return Scene(
        table=table,
        grouping=grouping,
        knowledge=Knowledge.of(table, knowledge),
        limit=table.spec.limit,
        exact=released is None and grouping.form == "bucketized",
    )


def _remake(method: Mapping[str, Any], readers: tuple[str, ...]) -> Remake | None:
    """The method that a certificate names, with its parameters; None if these cannot be had from
    it (hierarchies are not in a certificate). It raises an InputError if the method, or a parameter
    of it, is not known here."""
    given = method["parameters"]
    if any(isinstance(value, list | dict) for value in given.values()):
        return None
    answered = tuple(name for name in readers if name in READERS)

    def remake(table: Table, seed: int) -> Grouping:
        made = make_method(method["name"], given)
        made = inform(made, readers=as_readers(answered) if answered else None)
        return made.anonymize(table, seed=seed)

    return remake


def _checked_budget(budget: float) -> float:
    if not budget > 0:
        raise InputError("budget", f"The budget is {budget!r}.", "Give seconds above 0.")
    return budget


__all__ = ["attack"]
