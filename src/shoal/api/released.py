"""What was published of a table, as groups of its rows: a table that any tool released, or the
folder of a release of shoal's own, whose private folder says who is in which group."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.api.inputs import frame_of, is_location
from shoal.arrays import Floats
from shoal.auditing.align import Aligned, align_counted, align_release
from shoal.data.spec import Spec
from shoal.data.storage import recover_folder
from shoal.data.table import Table
from shoal.data.table.frames import to_polars
from shoal.data.table.recoding import by_labels
from shoal.engines import GID, Engine, Joining
from shoal.errors import InputError
from shoal.file_names import CERTIFICATE
from shoal.groups import Progress, silent
from shoal.release import Release
from shoal.release.folder import load, private_folder
from shoal.release.pair import CELL_GROUPS, ROW_GROUPS, refuse_strangers
from shoal.release.record import rows_recorded
from shoal.release.regroup import regroup


def is_own(released: Any) -> bool:
    """Whether it is the folder of a release that shoal made."""
    if not is_location(released):
        return False
    recover_folder(Path(released))
    return (Path(released) / CERTIFICATE).is_file()


def spec_of_own(released: Any) -> Spec | None:
    """The spec that such a folder was made by; None for anything else."""
    return load(Path(released)).spec if is_own(released) else None


def align_large(
    table: Any,
    released: Any,
    spec: Spec,
    *,
    key: str | None,
    engine: Engine,
    progress: Progress = silent,
) -> Aligned:
    """A table and what another tool released of it, joined and counted by an engine."""
    if not isinstance(engine, Joining):
        raise no_audit_by_engine()
    if key is None or is_own(released):
        raise InputError(
            "engine-key",
            "An engine aligns the file of another tool by a key, and none is named.",
            "Name a column that both have with --key, or leave the engine out.",
        )
    if spec.person not in (None, key):
        raise InputError(
            "engine-person",
            f'An engine joins by the key "{key}", and does not know whose rows are whose.',
            f'Name the person as the key, --key "{spec.person}", or leave the engine out.',
        )
    columns = [*spec.qi, *spec.sensitive_columns]
    once = [name for name in spec.identifiers if name != key]
    pairs = engine.pairs(table, released, columns, key=key, once=once, progress=progress)
    return align_counted(pairs, spec)


def no_audit_by_engine() -> InputError:
    """The error for whatever engines do not judge."""
    return InputError(
        "engine-audit",
        "Of the engines, duckdb and spark audit, and only what another tool released.",
        "Name one of these with the released table and its key, or leave the engine out.",
    )


def align(frame: Any, released: Any, spec: Spec, *, key: str | None = None) -> Aligned:
    """The table, its groups, and the group of each row."""
    if not is_own(released):
        coded = {name: one for name, one in spec.recode if one.labels}
        told = {name: dict.fromkeys(one.missing) | dict(one.labels) for name, one in coded.items()}
        other = frame_of(released)
        other = by_labels(to_polars(other), told) if told else other
        return align_release(frame, other, spec, key=key)
    if key is not None:
        raise InputError(
            "key-alone",
            "key has nothing to align: the private folder of a release says who is who.",
            "Leave it out.",
        )
    table = Table.from_frame(frame, spec)
    gids, weights = rows_recorded(recorded(private_of(released)), table)
    return _own(table, load(Path(released)), gids, weights)


def aligned_own(frame: Any, release: Release, gids: NDArray[Any]) -> Aligned:
    """Table, groups and the group of each row, by the gid of each row of a release of shoal's, -1
    where it is not published."""
    return _own(Table.from_frame(frame, release.spec.with_(identifiers=())), release, gids)


def private_of(released: str | Path) -> Path:
    """The private folder of a release of shoal's, or an InputError if it is another one's."""
    private = private_folder(Path(released))
    refuse_strangers(Path(released), private)
    return private


def _own(
    table: Table, release: Release, gids: NDArray[Any], weights: Floats | None = None
) -> Aligned:
    grouping = regroup(release, table, gids, weights)
    known = np.unique(release.sensitive[GID].to_numpy())
    rows = np.where(gids < 0, -1, np.searchsorted(known, gids)).astype(np.int32)
    return Aligned(table, grouping, rows)


def by_cells(release: Release, private: Path | None) -> bool:
    """Whether the private folder tells by cells who is in which group, and that is enough: of
    several sensitive columns it has to be known row by row."""
    one_column = len(release.spec.sensitive_columns) == 1
    return one_column and private is not None and (private / CELL_GROUPS).is_file()


def recorded(private: Path | None) -> Path:
    """The private folder, if it says who is in which group."""
    if private is not None and (private / CELL_GROUPS).is_file():
        raise InputError(
            "private-by-cell",
            f"{private} keeps by cell who is in which group; here it is needed by row.",
            "Make the release again with the group of every row (without --private cells).",
        )
    if private is None or not (private / ROW_GROUPS).is_file():
        raise InputError(
            "attack-private",
            f"{private or 'The release'} has no record of who is in which group, and nothing else "
            "says who is right.",
            "Give the publisher's private folder, or lay it beside the release and call it like "
            "that, with -private behind.",
        )
    return private
