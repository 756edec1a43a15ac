"""Who of a table is in which group of releases whose rows stood otherwise: their ledgers say who is
who, and what was published of whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from shoal.arrays import Floats, Ints
from shoal.errors import InputError
from shoal.release.ledger import CHAIN, Line, whose
from shoal.wording import people as counted_people


class Told(NamedTuple):
    """What one release says of some people."""

    gid: Ints
    """-1 where it does not publish them."""
    weight: Floats | None
    """What they count as, where it says so."""

    @classmethod
    def of(cls, told: pl.DataFrame) -> Told:
        """From a gid and, if it has weights, the weight of each."""
        gid, *weight = (told[name] for name in told.columns)
        known = weight[0].fill_null(np.nan).to_numpy() if weight else None
        return cls(gid.fill_null(-1).cast(pl.Int64).to_numpy(), known)

    def of_more(self, more: int) -> Told:
        """The same with as many behind whom it does not publish."""
        nobody = np.full(more, np.nan)
        weight = None if self.weight is None else np.append(self.weight, nobody)
        return Told(np.append(self.gid, np.full(more, -1)), weight)


@dataclass(frozen=True, eq=False)
class Placed:
    """A table's rows, and behind them the people whom it has no more."""

    frame: pl.DataFrame
    rows: int
    """How many are the table's."""
    told: Sequence[Told | None]
    """What each release says of each of them; None for a release without a ledger."""

    @property
    def more(self) -> int:
        return self.frame.height - self.rows


def place(frame: pl.DataFrame, privates: Sequence[Path | None], columns: Sequence[str]) -> Placed:
    """By the ledgers in private folders. Of whom a ledger has, what was published of them counts,
    and whoever has left is there too; `columns` must be known of everybody."""
    rows, known = frame.height, dict[str, pl.Series]()
    told = list[Told | None]()
    for private in privates:
        if private is None or not (private / CHAIN).is_file():
            told.append(None)
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
        told = [one and one.of_more(left.height) for one in told]
        told.append(Told.of(pl.concat([found.select(ledger.told), left.select(ledger.told)])))
        more = left.select(pl.col(name).cast(frame.schema[name]) for name in ledger.columns)
        frame = pl.concat([frame, more], how="diagonal")
    return Placed(frame, rows, told)


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
