"""What must stay inside: the private folder that goes with a release.

The group of every row, with everybody's worst case; or, where rows are too many or elsewhere, how
many people of each cell are in which group. Beside it the seed, the audit, and what a report says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.data.sources import part_writer, write_table
from shoal.data.table import Table
from shoal.data.table.frames import free_name
from shoal.engines import GID, Distant, Part
from shoal.engines.counting import columns_of
from shoal.errors import InputError
from shoal.groups.grouping import WEIGHT
from shoal.release.pair import CELL_GROUPS, KEY_GROUPS, ROW_GROUPS, SEED
from shoal.release.release import Release
from shoal.release.stated import as_json
from shoal.release.tables import shown_parts
from shoal.release.weights import weight_column

if TYPE_CHECKING:
    from shoal.release.facts import Facts

COPIES, PUBLISHED, COUNT = "(copies)", "(published)", "count"
Keep = Callable[[Path], None]


def facts_of(release: Release, given: Facts | None) -> Facts:
    """What a report says of the release: as given, or gathered from its table."""
    from shoal.release.facts import certificate_digest, release_facts

    known = release.grouping is not None and release.audit is not None
    if known and given is not None:
        if given.certificate != certificate_digest(release.certificate):
            raise InputError(
                "facts-other",
                "The facts given for the report are those of another release.",
                "Leave them out: they are gathered when the release is saved.",
            )
        return given
    if known and release.original is not None:
        return release_facts(release, release.original)
    raise InputError(
        "private-unknown",
        "This release has no private records: it was loaded.",
        "Save them when the release is made.",
    )


def keeper(release: Release, record: str | None) -> Keep:
    """Writes the record that is asked for, or that can be had; an InputError if it cannot."""
    if record not in (None, "rows", "cells"):
        raise InputError(
            "record-kind", f'There is no record by "{record}".', "Choose rows or cells."
        )
    parts = None if record == "cells" else _parts(release)
    if parts is not None:
        return lambda folder: _keep_rows(release, parts, folder)
    if record == "rows" and isinstance(release.engine, Distant):
        return _distant_keeper(release, release.engine)
    if record == "rows":
        raise InputError(
            "rows-elsewhere",
            "The table was counted elsewhere, and its rows are not here.",
            "Keep the record by cells, or give the table itself.",
        )
    return lambda folder: write_table(_cell_groups(release), folder / CELL_GROUPS)


def _distant_keeper(release: Release, engine: Distant) -> Keep:
    """The group of everybody by what identifies them, dealt and written where they are."""
    table, grouping, seed = release.original, release.grouping, release.seed
    assert table is not None
    assert grouping is not None
    assert seed is not None
    dealt = engine.row_groups(table, grouping, seed=seed)
    return lambda folder: engine.write_rows(dealt, folder / KEY_GROUPS, rows=table.rows)


def save_private(release: Release, facts: Facts, keep: Keep, folder: Path) -> None:
    """Everything that is never part of the release."""
    from shoal.release.facts import keep_facts

    assert release.audit is not None, "facts are those of an audit"
    keep(folder)
    (folder / "audit.json").write_text(as_json(release.audit.to_dict()), encoding="utf-8")
    (folder / "spec.toml").write_text(release.spec.to_toml(), encoding="utf-8")
    (folder / SEED).write_text(as_json({"seed": release.seed}), encoding="utf-8")
    for name, content in release.models.items():
        (folder / name).write_bytes(content)
    keep_facts(facts, folder)


def _parts(release: Release) -> Iterator[Part] | None:
    """Everybody's signature and group, some rows after the other."""
    table, grouping, engine = release.original, release.grouping, release.engine
    if table is None or grouping is None or engine is None or release.seed is None:
        return None
    return engine.parts(table, grouping, seed=release.seed)


def _keep_rows(release: Release, parts: Iterator[Part], folder: Path) -> None:
    assert release.audit is not None
    risks, first = release.audit.risks, 0
    with (
        part_writer(folder / ROW_GROUPS) as write_groups,
        part_writer(folder / "row_risks.parquet") as write_risks,
    ):
        for signature, group, weight in parts:
            gid = pl.Series(GID, np.where(group < 0, -1, group + 1)).cast(_gid_type(release))
            told = [] if weight is None else [pl.Series(WEIGHT, weight, nan_to_null=True)]
            write_groups(pl.DataFrame([gid, *told]).with_row_index("row", first))
            rows = np.arange(first, first + len(group))
            write_risks(risks.of_people(rows, group, signature).drop("group"))
            first += len(group)


def _gid_type(release: Release) -> pl.DataType:
    return release.qi_runs.slice(0, 1)[GID].dtype


def copies_name(table: Table) -> str:
    """What the record by cells calls the copies of a group."""
    return free_name(COPIES, columns_of(table.spec))


def _cell_groups(release: Release) -> pl.DataFrame:
    """The gid of the first copy of each group and how many there are, with its people by cell:
    their QI values, their own value, what is published, how many of them each copy has, and their
    weight if anybody has one."""
    table, grouping = release.original, release.grouping
    assert table is not None
    assert grouping is not None
    parts = shown_parts(table)
    values = {
        name: pl.Series([part[c] for part in parts], dtype=pl.String)
        for c, name in enumerate(table.spec.sensitive_columns)
    }
    shown, taken = grouping.published_values(table), columns_of(table.spec)
    return pl.DataFrame(
        [
            pl.Series(GID, (grouping.first_number + 1)[grouping.group]),
            pl.Series(copies_name(table), grouping.copies[grouping.group]),
            *(
                column.values.gather(table.signatures[grouping.signature, place])
                for place, column in enumerate(table.qi)
            ),
            *(texts.gather(grouping.value).alias(name) for name, texts in values.items()),
            *(
                texts.gather(shown).alias(free_name(f"{PUBLISHED} {name}", taken))
                for name, texts in values.items()
            ),
            pl.Series(COUNT, grouping.rows),
            *(
                []
                if grouping.weight is None
                else [pl.Series(weight_column(table.spec), grouping.weight, nan_to_null=True)]
            ),
        ]
    )
