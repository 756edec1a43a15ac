"""A release as one weighted table, for models and for anything that takes weights.

Nobody's value is known, but a group says how likely each is. So everybody is listed once with every
value that they may have, and a weight: how many people of these attributes are expected to have it.
People who are published alike share a line, which changes no weighted figure. All weights together
are the people published.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from shoal.data.table.frames import free_name
from shoal.engines import GID
from shoal.errors import InputError, missing_extra
from shoal.release.utility.published import COUNT, Published, same_groups

if TYPE_CHECKING:
    from shoal.release import Release

WEIGHT = "weight"


def weighted(release: Release) -> pl.DataFrame:
    """What is published of people, a value that they may have, and how many are expected to."""
    refuse_apart(release)
    values = [name for name in release.sensitive_runs.columns if name not in (GID, COUNT)]
    taken, weight = [*release.spec.qi, *values, COUNT], weight_column(release)
    alike, size = (free_name(name, [*taken, weight]) for name in ("alike", "size"))
    if release.weight is not None and release.form == "bucketized":
        return _listed(release.coded, values[0], weight)
    seen = list(release.spec.qi)
    qi, sensitive = same_groups(release)
    sizes = pl.DataFrame({GID: qi.first, size: qi.sizes})
    people = qi.distinct.with_columns(pl.Series(alike, qi.weight), pl.col(GID).cast(pl.Int64))
    held = sensitive.distinct.with_columns(pl.col(GID).cast(pl.Int64))
    return (
        people.group_by(GID, *seen)
        .agg(pl.col(alike).sum())
        .join(sizes, on=GID)
        .join(held, on=GID)
        .with_columns((pl.col(alike) * pl.col(COUNT) / pl.col(size)).alias(weight))
        .group_by(*seen, *values)
        .agg(pl.col(weight).sum())
        .sort(*seen, *values)
    )


def refuse_apart(release: Release) -> None:
    """An InputError if sensitive columns were permuted apart."""
    if release.spec.publish_apart:
        raise InputError(
            "table-apart",
            "The sensitive columns were permuted apart: which of their values go together is not "
            "in the release.",
            f'Take one of them at a time: release.alone("{release.spec.sensitive_columns[0]}").',
        )


def weight_column(release: Release) -> str:
    """What weights are called: as no column of the release is, in whatever case."""
    names = [*release.spec.qi, *release.sensitive_runs.columns]
    return free_name(WEIGHT, [name.lower() for name in names])


def as_pandas(frame: pl.DataFrame) -> Any:
    """The same for pandas; whole numbers stay whole also where some are missing."""
    try:
        import pandas
    except ImportError:
        raise missing_extra("A pandas frame", "pandas") from None
    found = frame.to_pandas()
    for column in frame:
        if column.dtype.is_integer() and column.null_count():
            found[column.name] = pandas.array(column.to_list(), dtype=str(column.dtype))
    return found


def _listed(published: Published, sensitive: str, weight: str) -> pl.DataFrame:
    cells = published.cells
    unit, value = cells.owner, cells.code
    return pl.DataFrame(
        [
            *(
                column.values.gather(published.coded[unit, place]).alias(column.name)
                for place, column in enumerate(published.columns)
            ),
            pl.Series(sensitive, published.values).gather(value),
            pl.Series(weight, cells.count),
        ]
    ).filter(pl.col(weight) > 0)
