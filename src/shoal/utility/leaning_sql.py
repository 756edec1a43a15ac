"""Shares by leanings as SQL: a group's carriers as the QI table's column of shares tells.

Kind 0 of a value is no event, and kind e + 1 event e. A group of which no shares are told is shared
equally; leaning.py has the rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shoal.release.forms.bucketized import condition
from shoal.utility.leaning import unreadable
from shoal.utility.published import COUNT

if TYPE_CHECKING:
    from shoal.release import Release
    from shoal.utility.sql import Asked, Files


def count_sql(release: Release, files: Files, asked: Asked, people: str) -> str:
    """How many people match; `people` says of a line of the sensitive table how many of those whom
    it stands for are asked for."""
    conditions = [condition(files, column, allowed) for column, allowed in asked.values()]
    return f"""WITH {_kinds(release, files, people)}, people AS (
  SELECT gid, {" AND ".join(conditions) or "true"} AS matches,
    {_share(release, files)} AS share
  FROM {files.source("qi")}
), shares AS (
  SELECT gid, count(*) AS size, count(*) FILTER (WHERE matches) AS matching,
    sum(share) AS total, coalesce(sum(share) FILTER (WHERE matches), 0) AS part
  FROM people GROUP BY gid
)
SELECT coalesce(sum(asked * CASE
    WHEN total IS NULL THEN matching / size
    WHEN kind > 0 THEN part / total
    ELSE (matching - (size - number) * part / total) / number END), 0) AS estimate
FROM kinds JOIN shares USING (gid);"""


def list_sql(release: Release, files: Files) -> str:
    """Everybody with each value that they may have, and its weight."""
    value = files.name("sensitive", release.spec.sensitive_columns[0])
    names = ["gid", *(files.name("qi", name) for name in release.spec.qi)]
    share, weight = _apart("share", release.spec.qi), files.weight(release)
    return f"""WITH {_kinds(release, files, "0")}, people AS (
  SELECT {", ".join(names)},
    {_share(release, files)} AS {share}
  FROM {files.source("qi")}
), totals AS (
  SELECT gid, count(*) AS size, sum({share}) AS total FROM people GROUP BY gid
)
SELECT {", ".join(f"people.{name}" for name in names)}, lines.value AS {value},
  lines.number / kinds.number * CASE
    WHEN totals.total IS NULL THEN kinds.number / totals.size
    WHEN kinds.kind > 0 THEN kinds.number * people.{share} / totals.total
    ELSE 1 - (totals.size - kinds.number) * people.{share} / totals.total END AS {weight}
FROM people JOIN totals ON totals.gid = people.gid JOIN kinds ON kinds.gid = people.gid
  JOIN lines ON lines.gid = people.gid AND lines.kind = kinds.kind;"""


def _share(release: Release, files: Files) -> str:
    if release.share not in files.columns["qi"]:
        raise unreadable()
    return f"CAST({files.name('qi', release.share)} AS DOUBLE)"


def _kinds(release: Release, files: Files, people: str) -> str:
    """Tables `lines` of the sensitive table, and `kinds` of values in a group."""
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
)"""


def _apart(front: str, names: Sequence[str]) -> str:
    """A name that no column has, in whatever case."""
    while any(name.lower() == front for name in names):
        front += "_"
    return front
