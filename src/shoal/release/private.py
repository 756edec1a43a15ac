"""What must stay inside: the private folder that goes with a release.

The group of every row, with everybody's worst case; or, where rows are too many or elsewhere, how
many people of each cell are in which group. Beside it the seed, the audit, and what a report says.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.data.sources import part_writer, write_table
from shoal.data.table import Table
from shoal.data.table.frames import free_name
from shoal.engines import GID, Distant, Part
from shoal.engines.counting import columns_of
from shoal.engines.dealing import PART
from shoal.errors import InputError
from shoal.groups.grouping import WEIGHT
from shoal.release.ledger import Ledger, write_ledger
from shoal.release.pair import CELL_GROUPS, KEY_GROUPS, ROW_GROUPS, SEED
from shoal.release.people import People
from shoal.release.release import Release, ReleaseRun
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

    made = release.made
    if given is not None:
        if given.certificate != certificate_digest(release.certificate):
            raise InputError(
                "facts-other",
                "The facts given for the report are those of another release.",
                "Leave them out: they are gathered when the release is saved.",
            )
        return given
    return release_facts(release, made.table, queries=False)


def keeper(release: Release, record: str | None) -> Keep:
    """Writes the record that is asked for, or that can be had; an InputError if it cannot."""
    if record not in (None, "rows", "cells"):
        raise InputError(
            "record-kind", f'There is no record by "{record}".', "Choose rows or cells."
        )
    made = release.made
    parts = None if record == "cells" else _parts(made)
    if parts is not None:
        return lambda folder: _keep_rows(release, parts, folder)
    if record == "rows" and isinstance(engine := made.engine, Distant):
        dealt = engine.row_groups(made.table, made.grouping, seed=made.seed)
        return lambda folder: engine.write_rows(dealt, folder / KEY_GROUPS, rows=made.table.rows)
    if record == "rows":
        raise InputError(
            "rows-elsewhere",
            "The table was counted elsewhere, and its rows are not here.",
            "Keep the record by cells, or give the table itself.",
        )
    return lambda folder: write_table(_cell_groups(made), folder / CELL_GROUPS)


def save_private(release: Release, facts: Facts, keep: Keep, folder: Path) -> None:
    """Everything that is never part of the release."""
    from shoal.release.facts import keep_facts

    made = release.made
    keep(folder)
    (folder / "audit.json").write_text(as_json(made.audit.to_dict()), encoding="utf-8")
    (folder / "spec.toml").write_text(release.spec.to_toml(), encoding="utf-8")
    (folder / SEED).write_text(as_json({"seed": made.seed}), encoding="utf-8")
    if made.people is not None:
        whose_people(release).write(folder)
    for name, content in made.models.items():
        (folder / name).write_bytes(content)
    keep_facts(facts, folder)


def whose_people(release: Release) -> People:
    """Who a release that was just made is of, with a mark of the release itself."""
    made = release.made
    assert made.people is not None, "asked where rows are at hand"
    told = as_json({**release.certificate, "seed": made.seed})
    return replace(made.people, release=hashlib.sha256(told.encode()).hexdigest())


def keep_ledger(made: ReleaseRun, ledger: Ledger, folder: Path) -> str:
    """Writes the ledger, and gives what the certificate says of it."""
    gid, grouping = made.row_groups, made.grouping
    assert gid is not None, "a ledger is kept of rows that are here"
    pools = np.zeros(len(grouping.copies), bool) if grouping.pooled is None else grouping.pooled
    pooled = np.append(np.repeat(pools, grouping.copies), False)[np.where(gid < 0, -1, gid - 1)]
    return write_ledger(ledger, gid, pooled, made.row_weights, folder)


def _parts(made: ReleaseRun) -> Iterator[Part] | None:
    """Everybody's signature and group, some rows after the other."""
    if made.dealt is None:
        return made.engine.parts(made.table, made.grouping, seed=made.seed)
    signature, group, weight = made.table.row_signature, made.dealt.group, made.dealt.weight
    return (
        Part(
            signature[some], group[some].astype(np.int64), None if weight is None else weight[some]
        )
        for first in range(0, len(group), PART)
        for some in [slice(first, first + PART)]
    )


def _keep_rows(release: Release, parts: Iterator[Part], folder: Path) -> None:
    risks, first = release.made.audit.risks, 0
    with (
        part_writer(folder / ROW_GROUPS) as write_groups,
        part_writer(folder / "row_risks.parquet") as write_risks,
    ):
        for signature, group, weight in parts:
            gid = pl.Series(GID, np.where(group < 0, -1, group + 1)).cast(_gid_type(release))
            told = [] if weight is None else [pl.Series(WEIGHT, weight, nan_to_null=True)]
            write_groups(pl.DataFrame([gid, *told]).with_row_index("row", first))
            rows = np.arange(first, first + len(group))
            dealt = release.made.dealt is not None
            lines = risks.of_rows(rows) if dealt else risks.of_people(rows, group, signature)
            write_risks(lines.drop("group"))
            first += len(group)


def _gid_type(release: Release) -> pl.DataType:
    return release.qi_runs.slice(0, 1)[GID].dtype


def copies_name(table: Table) -> str:
    """What the record by cells calls the copies of a group."""
    return free_name(COPIES, columns_of(table.spec))


def _cell_groups(made: ReleaseRun) -> pl.DataFrame:
    """The gid of the first copy of each group and how many there are, with its people by cell:
    their QI values, their own value, what is published, how many of them each copy has, and their
    weight if anybody has one."""
    table, grouping = made.table, made.grouping
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
