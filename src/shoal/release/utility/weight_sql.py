"""Counts by published weights as SQL: a person has a protected event with the chance that the QI
table's column of weights gives, and else one of the group's other values. errors.py has the rule of
standard errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.release.forms.bucketized import condition
from shoal.release.utility.errors import NOTHING
from shoal.release.utility.published import COUNT

if TYPE_CHECKING:
    from shoal.release import Release
    from shoal.release.utility.sql import Asked, Files

CHANCE = """CASE WHEN totals.total > 0
      THEN least({weight} * held.cases / totals.total, 1) ELSE held.cases / held.size END"""
"""A weight is rounded: all of a group are scaled to be its cases."""


def count_sql(release: Release, files: Files, asked: Asked, part: str) -> str:
    """How many people match; `part` says how much of a line of the sensitive table is asked for."""
    conditions = [condition(files, column, allowed) for column, allowed in asked.values()]
    return f"""WITH {_held(release, files, part)}, people AS (
  SELECT gid, {" AND ".join(conditions) or "true"} AS matches, {_weight(release, files)} AS weight
  FROM {files.source("qi")}
), totals AS (
  SELECT gid, sum(weight) AS total FROM people GROUP BY gid
), chances AS (
  SELECT gid, matches, case_part, case_square, other_part, other_square,
    {CHANCE.format(weight="people.weight")} AS chance
  FROM people JOIN totals USING (gid) JOIN held USING (gid)
), counted AS (
  SELECT gid, matches, chance * case_part + (1 - chance) * other_part AS mean,
    chance * case_square + (1 - chance) * other_square AS square FROM chances
), groups AS (
  SELECT gid, coalesce(sum(mean) FILTER (WHERE matches), 0) AS estimate,
    coalesce(sum(mean - square) FILTER (WHERE matches), 0) AS parted,
    coalesce(sum(square - mean * mean) FILTER (WHERE matches), 0) AS asked,
    sum(square - mean * mean) AS spread,
    count(*) FILTER (WHERE square - mean * mean > {NOTHING!r}) AS n FROM counted GROUP BY gid
)
SELECT coalesce(sum(estimate), 0) AS estimate,
  sqrt(greatest(coalesce(sum(parted + CASE WHEN n > 1
    THEN (asked - asked * asked / spread) * n / (n - 1) ELSE 0 END), 0), 0)) AS standard_error
FROM groups;"""


def list_sql(release: Release, files: Files) -> str:
    """Everybody with each value that they may have, and its weight."""
    value = files.name("sensitive", release.spec.sensitive_columns[0])
    names = ["gid", *(files.name("qi", name) for name in release.spec.qi)]
    weight = f"CAST(people.{files.name('qi', str(release.weight))} AS DOUBLE)"
    return f"""WITH {_held(release, files, "1.0")}, people AS (
  SELECT * FROM {files.source("qi")}
), totals AS (
  SELECT gid, sum({weight}) AS total FROM people GROUP BY gid
), chances AS (
  SELECT {", ".join(f"people.{name}" for name in names)},
    {CHANCE.format(weight=weight)} AS {files.weight(release)}
  FROM people JOIN totals ON totals.gid = people.gid JOIN held ON held.gid = people.gid
)
SELECT {", ".join(f"chances.{name}" for name in names)}, lines.value AS {value},
  lines.number * CASE WHEN lines.protected = 1 THEN chances.{files.weight(release)} / held.cases
    ELSE (1 - chances.{files.weight(release)}) / (held.size - held.cases)
    END AS {files.weight(release)}
FROM chances JOIN held ON held.gid = chances.gid JOIN lines ON lines.gid = chances.gid;"""


def _weight(release: Release, files: Files) -> str:
    return f"CAST({files.name('qi', str(release.weight))} AS DOUBLE)"


def _held(release: Release, files: Files, part: str) -> str:
    """Tables `lines` of the sensitive table, and `held` of the groups: how many values each has,
    how many of a protected event, and what is asked for of these and of the others."""
    value = files.name("sensitive", release.spec.sensitive_columns[0])
    events = ", ".join(
        files.text(text)
        for event in release.spec.protect or ()
        for text in dict.fromkeys((event.label, *event.values))
    )
    protected = f"CASE WHEN {value} IN ({events}) THEN 1 ELSE 0 END" if events else "1"
    figures = ",\n    ".join(
        f"coalesce(sum(number * {kind} * {what}) / nullif(sum(number * {kind}), 0), 0) AS {name}"
        for kind, name, what in (
            ("protected", "case_part", "part"),
            ("protected", "case_square", "part * part"),
            ("(1 - protected)", "other_part", "part"),
            ("(1 - protected)", "other_square", "part * part"),
        )
    )
    return f"""lines AS (
  SELECT gid, {value} AS value, CAST({files.name("sensitive", COUNT)} AS DOUBLE) AS number,
    {part} AS part, {protected} AS protected
  FROM {files.source("sensitive")}
), held AS (
  SELECT gid, sum(number) AS size, sum(number * protected) AS cases,
    {figures}
  FROM lines GROUP BY gid
)"""
