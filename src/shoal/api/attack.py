"""attack: what the red team achieves on a release, or on groups that any tool made."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from shoal.anonymizers.registry import inform, make_method
from shoal.api.inputs import Known, frame_of, is_location, spec_of, table_of
from shoal.attacks import Attack, Attacker, Scene, as_attackers, run
from shoal.attacks.scene import Remake
from shoal.auditing.align import align_column, align_release
from shoal.auditing.audit import grouped
from shoal.errors import InputError
from shoal.grouping import Progress, silent
from shoal.knowledge import OWN, READERS, Knowledge, as_readers
from shoal.release import Release
from shoal.release.folder import load
from shoal.release.regroup import regroup, row_groups_of
from shoal.sources import recover_folder
from shoal.spec import Spec, checked_seed
from shoal.table import Table


def attack(
    data: Any,
    spec: Spec | None = None,
    *,
    table: Any = None,
    private: str | Path | None = None,
    groups: Any = None,
    released: Any = None,
    key: str | None = None,
    knowledge: Known = None,
    attackers: Iterable[str | Attacker] | None = None,
    seed: int = 0,
    budget: float | None = None,
    progress: Progress = silent,
) -> Attack:
    """Lets attackers loose on a release: whom each names, and how often they are right.

    `data` is a Release, or the folder of one with its original `table` (a frame, a path or URL) and
    the publisher's `private` folder, without which nobody knows who is in which group (by default
    the folder's name with -private). Or it is the table itself, with its `spec` and what was
    published of it, as `audit` takes them: `groups` or a `released` table.

    `attackers` are names or objects (all that shoal knows, unless told), `budget` the seconds after
    which nobody new begins; whoever did not try is in `not_run`. `knowledge` replaces what the spec
    says that attackers know.

    >>> import shoal
    >>> hospital = shoal.datasets.hospital(2000, seed=0)
    >>> spec = shoal.Spec(
    ...     qi=["sex", "region"], sensitive="diagnosis", protect=[["HIV", "Schizophrenia"]], r=5
    ... )
    >>> release = shoal.anonymize(hospital, spec)
    >>> found = shoal.attack(release, attackers=["likeliest", "medoid"])
    >>> found.withstood
    True
    >>> found["likeliest"].everybody.tries == found["medoid"].everybody.tries
    True
    """
    until = float("inf") if budget is None else time.monotonic() + _checked_budget(budget)
    team = as_attackers(attackers)
    if groups is not None or released is not None:
        scene = _of_table(data, spec, groups, released, key, knowledge, until, seed)
    else:
        scene = _of_release(data, table, private, knowledge, until, seed)
    return run(scene, team, progress=progress)


def _of_release(
    data: Any, original: Any, private: Any, knowledge: Known, until: float, seed: int
) -> Scene:
    if isinstance(data, Release):
        release = data
    elif is_location(data):
        recover_folder(Path(data))
        release = load(Path(data))
    else:
        raise InputError(
            "attack-what",
            "Nothing to attack is named.",
            "Give a release, or a table with groups or a released table.",
        )
    if release.table is not None and original is None:
        table = release.table
    elif original is None:
        raise InputError(
            "attack-table",
            "Without the original table nobody knows who is right.",
            "Give the table that the release was made of.",
        )
    else:
        table = Table.from_frame(frame_of(original), release.spec)
    known = Knowledge.of(table, knowledge)
    claimed = release.certificate["knowledge"]["source"]
    if knowledge is None and table.spec.knowledge is None and not claimed.startswith(OWN):
        raise InputError(
            "verify-knowledge",
            f"The release was judged against {claimed}.",
            "Give that file again with --knowledge.",
        )
    rows = release.row_groups
    if rows is None:
        rows = row_groups_of(_private_folder(Path(data), private), table)
    readers = tuple(one["name"] for one in release.certificate["audit"]["adversaries"])
    return Scene(
        table=table,
        grouping=regroup(release, table, rows),
        knowledge=known,
        limit=release.certificate["limit"],
        readers=readers,
        exact=release.form == "bucketized",
        remake=_remake(release.certificate["method"], readers),
        seed=checked_seed(seed),
        until=until,
    )


def _of_table(
    data: Any,
    spec: Spec | None,
    groups: Any,
    released: Any,
    key: str | None,
    knowledge: Known,
    until: float,
    seed: int,
) -> Scene:
    if groups is not None and released is not None:
        raise InputError(
            "audit-what",
            "Two things to judge are named.",
            "Give either groups or a released table.",
        )
    if key is not None and released is None:
        raise InputError("key-alone", "key has nothing to align.", "Use it with released.")
    asked = spec_of(data, spec, knowledge=knowledge)
    if released is not None:
        table, grouping, _ = align_release(frame_of(data), frame_of(released), asked, key=key)
    elif isinstance(groups, str):
        table, grouping, _ = align_column(frame_of(data), groups, asked)
    else:
        table = table_of(data, spec, knowledge=knowledge)
        grouping = grouped(table, groups, None)[0]
    return Scene(
        table=table,
        grouping=grouping,
        knowledge=Knowledge.of(table, knowledge),
        limit=table.spec.limit,
        exact=released is None and grouping.form == "bucketized",
        seed=checked_seed(seed),
        until=until,
    )


def _private_folder(release: Path, given: Any) -> Path:
    private = release.with_name(release.name + "-private") if given is None else Path(given)
    if not (private / "row_groups.parquet").is_file():
        raise InputError(
            "attack-private",
            f"{private} has no record of who is in which group, and nothing else says who is "
            "right.",
            "Give the publisher's private folder.",
        )
    return private


def _remake(method: Mapping[str, Any], readers: tuple[str, ...]) -> Remake | None:
    """The method that a certificate names, with its parameters; None if these cannot be had from
    it (hierarchies are not in a certificate), or the method is not known here."""
    given = method["parameters"]
    if any(isinstance(value, list | dict) for value in given.values()):
        return None
    try:
        made = make_method(method["name"], given)
    except InputError:
        return None
    answered = tuple(name for name in readers if name in READERS)
    made = inform(made, readers=as_readers(answered) if answered else None)
    return lambda table, seed: made.anonymize(table, seed=seed)


def _checked_budget(budget: float) -> float:
    if not budget > 0:
        raise InputError("budget", f"The budget is {budget!r}.", "Give seconds above 0.")
    return budget


__all__ = ["attack"]
