"""Who of a table is in which group of releases whose rows stood otherwise: their ledgers say who is
who, and what was published of whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from shoal.arrays import Ints
from shoal.errors import InputError
from shoal.release.ledger import CHAIN, Line, whose
from shoal.wording import people as counted_people


@dataclass(frozen=True, eq=False)
class Placed:
    """A table's rows, and behind them the people whom it has no more."""

    frame: pl.DataFrame
    rows: int
    """How many are the table's."""
    gids: Sequence[Ints | None]
    """Of each release the gid of each of them, -1 where it does not publish them; None for a
    release without a ledger."""

    @property
    def more(self) -> int:
        return self.frame.height - self.rows


def place(frame: pl.DataFrame, privates: Sequence[Path | None], columns: Sequence[str]) -> Placed:
    """By the ledgers in private folders. Of whom a ledger has, what was published of them counts,
    and whoever has left is there too; `columns` must be known of everybody."""
    rows, known = frame.height, dict[str, pl.Series]()
    gids = list[Ints | None]()
    for private in privates:
        if private is None or not (private / CHAIN).is_file():
            gids.append(None)
            continue
        ledger = Line.read(private)
        who = known.get(ledger.key)
        if who is None:
            who = whose(frame.head(rows), ledger).extend_constant(None, frame.height - rows)
        found = who.to_frame("who").join(
            ledger.people.rename({ledger.who: "who"}).with_row_index("place"),
            on="who",
            how="left",
            maintain_order="left",
        )
        there = found["place"].is_not_null()
        if found["place"].drop_nulls().is_duplicated().any():
            raise InputError(
                "placed-twice",
                f'The table has somebody twice whom the ledger in "{private}" has once.',
                "Give a table with one row for each person.",
            )
        frame = frame.with_columns(
            pl.when(there)
            .then(found[name].cast(frame.schema[name]))
            .otherwise(pl.col(name))
            .alias(name)
            for name in ledger.columns
        )
        left = ledger.people.filter(~pl.col(ledger.who).is_in(who.drop_nulls().implode()))
        _refuse_unknown(left.height, ledger, columns, others=frame.height - rows, private=private)
        known = {key: one.extend_constant(None, left.height) for key, one in known.items()}
        known[ledger.key] = pl.concat([who, left[ledger.who]])
        gids = [None if one is None else _longer(one, left.height) for one in gids]
        gids.append(np.append(found[ledger.gid].fill_null(-1), left[ledger.gid]).astype(np.int64))
        more = left.select(pl.col(name).cast(frame.schema[name]) for name in ledger.columns)
        frame = pl.concat([frame, more], how="diagonal")
    return Placed(frame, rows, gids)


def _longer(gid: Ints, more: int) -> Ints:
    return np.append(gid, np.full(more, -1, np.int64))


def _refuse_unknown(
    left: int, ledger: Line, columns: Sequence[str], *, others: int, private: Path
) -> None:
    """An InputError for people of whom the ledger alone tells, and not enough."""
    unknown = [name for name in columns if name not in ledger.columns]
    if left and (unknown or others):
        raise InputError(
            "placed-left",
            f'{counted_people(left)} of the ledger in "{private}" are not in the table, and '
            + (f'their "{unknown[0]}" is' if unknown else "who they are in other ledgers is")
            + " not known.",
            "Give a table with everybody.",
        )
