"""A release that follows others, judged anew: which of its groups they published is in the ledger
of its private folder, which its certificate vouches for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from shoal.arrays import Ints
from shoal.auditing.adversaries.judging import Case, Earlier
from shoal.auditing.releases import judge_after
from shoal.data.table import Table
from shoal.errors import InputError
from shoal.groups.ragged import Ragged
from shoal.knowledge import Knowledge
from shoal.release.ledger import told_before
from shoal.release.record import Record, rows_recorded
from shoal.release.verification.values import PublishedLines


def earlier_of(table: Table, lines: PublishedLines, record: Record, gids: Ints) -> Earlier:
    """The groups with these gids; `lines` have each group by itself."""
    mine = np.isin(record.gid, gids)
    told = record.signature[mine], record.value[mine], record.people[mine]
    return Earlier.of(table, np.isin(lines.ids, gids), *told)


def together_with_earlier(
    case: Case, knowledge: Knowledge, lines: PublishedLines, private: str | Path
) -> dict[str, Any]:
    """What a release tells with those before it, as a certificate says it."""
    assert case.earlier is not None, "asked of releases that follow others"
    gid, weight = rows_recorded(Path(private), case.table)
    rows = np.where(gid < 0, -1, np.searchsorted(lines.ids, gid)).astype(np.int32)
    pooled = np.zeros(len(lines.ids) + 1, bool)
    pooled[lines.values.owner[lines.values.code == len(case.table.values)]] = True
    return judge_after(case, knowledge, case.earlier.told, rows, pooled, weight).public()


def told_of(certificate: dict[str, Any], private: str | Path | None) -> Ints | None:
    """The gids of the groups that earlier releases published; None where it follows none."""
    if "after" not in certificate:
        return None
    if private is None:
        raise InputError(
            "verify-after",
            "The release follows others, and which of its groups they published says the ledger in "
            "its private folder.",
            "Give that folder with --private, and its ledger.parquet as the table; or leave the "
            "table out.",
        )
    return told_before(Path(private))


def each_apart(lines: PublishedLines) -> PublishedLines:
    """The lines with a group for each copy."""
    number = np.repeat(np.arange(len(lines.copies)), lines.copies)
    order = np.argsort(lines.group, kind="stable")
    owner, place = Ragged.of_owners(lines.group[order], len(lines.copies)).entries(number)
    return PublishedLines(
        np.repeat(lines.ids, lines.copies) + Ragged.of_lengths(lines.copies).nth,
        np.ones(len(number), np.int64),
        owner.astype(np.int64),
        lines.signature[order][place],
        lines.people[order][place],
        lines.values.some(number),
    )
