"""Shares by leanings as SQL: a group's carriers in proportion to the weights of its people.

Kind 0 of a value is no event, and kind e + 1 event e. A group of two kinds, of which one is 0, is
shared by weight (`leans`), any other equally; leaning.py has the rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shoal.release.forms.bucketized import condition
from shoal.table import Column, code_column
from shoal.utility.published import COUNT

if TYPE_CHECKING:
    from shoal.release import Release
    from shoal.utility.sql import Asked, Files


def count_sql(release: Release, files: Files, asked: Asked, people: str) -> str:
    """How many people match; `people` says of a line of the sensitive table how many of those whom
    it stands for are asked for."""
    conditions = [condition(files, column, allowed) for column, allowed in asked.values()]
    products = _products(release, files)
    shown = ["gid", f"{' AND '.join(conditions) or 'true'} AS matches"]
    weight = _weight(products, "weight")
    return f"""WITH {_groups(release, files, people)}, people AS (
  SELECT {", ".join(shown)}{_named(products, "weight")}
  FROM {files.source("qi")}
), shares AS (
  SELECT gid, carriers, leans, size, sum({weight}) AS total,
    count(*) FILTER (WHERE matches) AS matching,
    coalesce(sum({weight}) FILTER (WHERE matches), 0) AS part
  FROM people JOIN groups USING (gid) GROUP BY ALL
)
SELECT coalesce(sum(asked * CASE
    WHEN NOT leans THEN matching / size
    WHEN kind > 0 THEN part / total
    ELSE (matching - carriers * part / total) / number END), 0) AS estimate
FROM kinds JOIN shares USING (gid);"""


def list_sql(release: Release, files: Files) -> str:
    """Everybody with each value that they may have, and its weight."""
    value = files.name("sensitive", release.spec.sensitive_columns[0])
    names = ["gid", *(files.name("qi", name) for name in release.spec.qi)]
    products = _products(release, files)
    front = _front(release.spec.qi)
    weight = _weight(products, front)
    return f"""WITH {_groups(release, files, "0")}, people AS (
  SELECT *{_named(products, front)}
  FROM {files.source("qi")}
), totals AS (
  SELECT people.gid, sum({weight}) AS total
  FROM people JOIN groups ON groups.gid = people.gid GROUP BY people.gid
)
SELECT {", ".join(f"people.{name}" for name in names)}, lines.value AS {value},
  lines.number / kinds.number * CASE
    WHEN NOT groups.leans THEN kinds.number / groups.size
    WHEN kinds.kind > 0 THEN groups.carriers * {weight} / totals.total
    ELSE 1 - groups.carriers * {weight} / totals.total END AS weight
FROM people JOIN groups ON groups.gid = people.gid JOIN totals ON totals.gid = people.gid
  JOIN kinds ON kinds.gid = people.gid
  JOIN lines ON lines.gid = people.gid AND lines.kind = kinds.kind;"""


def _groups(release: Release, files: Files, people: str) -> str:
    """Tables `lines` of the sensitive table, `kinds` of values in a group, and `groups`."""
    value = files.name("sensitive", release.spec.sensitive_columns[0])
    number = files.name("sensitive", COUNT)
    kinds = "".join(
        f"\n      WHEN {files.text(text)} THEN {kind}"
        for kind, event in enumerate(release.spec.protect or (), start=1)
        for text in dict.fromkeys((event.label, *event.values))
    )
    return f"""lines AS (
  SELECT gid, {value} AS value, CAST({number} AS DOUBLE) AS number, {people} AS asked,
    CASE {value}{kinds}
      ELSE 0 END AS kind
  FROM {files.source("sensitive")}
), kinds AS (
  SELECT gid, kind, sum(number) AS number, sum(asked) AS asked FROM lines GROUP BY gid, kind
), groups AS (
  SELECT gid, max(kind) AS event, arg_max(number, kind) AS carriers, sum(number) AS size,
    count(*) = 2 AND min(kind) = 0 AS leans
  FROM kinds GROUP BY gid
)"""


def _named(products: dict[int, str], front: str) -> str:
    """Everybody's weight for each event, as columns."""
    return "".join(f",\n    {product} AS {front}_{kind}" for kind, product in products.items())


def _front(names: Sequence[str]) -> str:
    """How names of weights begin: as no column's name does."""
    front = "weight"
    while any(name.lower().startswith(front) for name in names):
        front += "_"
    return front


def _weight(products: dict[int, str], front: str) -> str:
    """Somebody's weight for the event of their group."""
    cases = " ".join(f"WHEN {kind} THEN people.{front}_{kind}" for kind in products)
    return f"CASE groups.event {cases} ELSE 1e0 END"


def _products(release: Release, files: Files) -> dict[int, str]:
    """For the kind of each event that leanings are told for: somebody's weight."""
    labels = [event.label for event in release.spec.protect or ()]
    columns = {
        name: code_column(release.qi_runs.lines[name].unique())[0] for name in release.spec.qi
    }
    products: dict[int, list[str]] = {}
    for event, *asked, factor in release.leanings.iter_rows():
        conditions = [
            condition(files, columns[name], _only(columns[name], value))
            for name, value in zip(asked[::2], asked[1::2], strict=True)
            if name is not None
        ]
        told = f"CASE WHEN {' AND '.join(conditions)} THEN {factor:.11e} ELSE 1e0 END"
        products.setdefault(labels.index(event) + 1, []).append(told)
    return {kind: "\n      * ".join(factors) for kind, factors in products.items()}


def _only(column: Column, value: str) -> NDArray[np.bool_]:
    return np.asarray(np.arange(len(column)) == column.code_of(value))
