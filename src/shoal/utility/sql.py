"""The recipient's estimator as SQL, for DuckDB over the CSV files of a saved release."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shoal.table import Column
from shoal.utility.count import allowed_values, check_names, value_weights
from shoal.utility.published import Floats, Published

if TYPE_CHECKING:
    from shoal.release import Release

_RISKY = re.compile("^'*[=+@\t\r-]")


def sql_for_count(release: Release, where: Mapping[str, Any] | None = None) -> str:
    """SQL that gives what `release.count(where)` gives, run in the release's folder."""
    published, where = release.coded, where or {}
    check_names(release, where)
    asked = {
        column.name: (column, allowed_values(column, where[column.name]))
        for column in published.columns
        if column.name in where
    }
    parts = [_asked(release.spec.sensitive, published, where)]
    if published.form == "bucketized":
        parts.append(_matched(asked))
        share = "matched.people / matched.size"
    else:
        parts += [_overlap(f"share{i}", *one) for i, one in enumerate(asked.values())]
        parts.append(_classes(list(asked)))
        share = "matched.share"
    return (
        f"WITH {', '.join(parts)}\n"
        f"SELECT coalesce(sum(asked.people * {share}), 0) AS estimate\n"
        "FROM asked JOIN matched USING (gid);"
    )


def _asked(sensitive: str, published: Published, where: Mapping[str, Any]) -> str:
    """Per group, how many of its values are asked for."""
    weights: Floats = value_weights(published, sensitive, where)
    people = 'CAST("count" AS BIGINT)'
    if sensitive in where:
        cases = "".join(
            f"\n      WHEN {_text(value)} THEN {float(weight)!r}"
            for value, weight in zip(published.values, weights, strict=True)
            if weight > 0
        )
        people += f" * CASE {_name(sensitive)}{cases}\n      ELSE 0.0 END" if cases else " * 0.0"
    return (
        f"asked AS (\n  SELECT gid, sum({people}) AS people\n"
        f"  FROM {_file('sensitive')} GROUP BY gid\n)"
    )


def _matched(asked: Mapping[str, tuple[Column, NDArray[np.bool_]]]) -> str:
    """Per group, how many of its people match, and its size."""
    conditions = [_condition(column, allowed) for column, allowed in asked.values()]
    matching = f" FILTER (WHERE {' AND '.join(conditions)})" if conditions else ""
    return (
        f"matched AS (\n  SELECT gid, count(*){matching} AS people, count(*) AS size\n"
        f"  FROM {_file('qi')} GROUP BY gid\n)"
    )


def _condition(column: Column, allowed: NDArray[np.bool_]) -> str:
    codes = np.flatnonzero(allowed)
    missing = column.values.null_count() and allowed[-1]
    named = [column.values[int(code)] for code in codes if column.values[int(code)] is not None]
    name, options = _name(column.name), []
    if named and column.numeric:
        kind = "DOUBLE" if column.values.dtype.is_float() else "BIGINT"
        number = f"CAST({name} AS {kind})"
        run = codes[len(named) - 1] - codes[0] == len(named) - 1
        if len(named) > 2 and run:
            options.append(f"{number} BETWEEN {named[0]!r} AND {named[-1]!r}")
        else:
            options.append(f"{number} IN ({', '.join(repr(value) for value in named)})")
    elif named:
        shown = [column.labels[code] for code in codes if column.values[int(code)] is not None]
        options.append(f"{name} IN ({', '.join(_text(label) for label in shown)})")
    if missing:
        options.append(f"{name} IS NULL")
    return f"({' OR '.join(options)})" if options else "false"


def _overlap(name: str, column: Column, allowed: NDArray[np.bool_]) -> str:
    """For each range of one QI, the share of its domain values that is asked for."""
    listed = ", ".join(_text(column.labels[code]) for code in np.flatnonzero(allowed))
    inside = f"value IN ({listed})" if listed else "false"
    return (
        f"{name} AS (\n  SELECT label, avg(CASE WHEN {inside} THEN 1.0 ELSE 0.0 END) AS part\n"
        f"  FROM {_file('ranges')} WHERE attribute = {_text(column.name)} GROUP BY label\n)"
    )


def _classes(asked: Sequence[str]) -> str:
    """Per class, the product of its ranges' shares."""
    shares = [f"share{number}" for number in range(len(asked))]
    product = " * ".join(f"{share}.part" for share in shares) or "1.0"
    columns = "".join(f", {_name(qi)}" for qi in asked)
    joins = "".join(
        f"\n  JOIN {share} ON classes.{_name(qi)} = {share}.label"
        for share, qi in zip(shares, asked, strict=True)
    )
    return (
        f"matched AS (\n  SELECT gid, {product} AS share\n"
        f"  FROM (SELECT DISTINCT gid{columns} FROM {_file('qi')}) AS classes{joins}\n)"
    )


def _file(name: str) -> str:
    return f"read_csv('{name}.csv', header = true, all_varchar = true)"


def _guarded(text: str) -> str:
    """As the CSV files show a text that a spreadsheet might run."""
    return f"'{text}" if _RISKY.match(text) else text


def _text(text: str) -> str:
    return "'" + _guarded(text).replace("'", "''") + "'"


def _name(name: str) -> str:
    return '"' + _guarded(name).replace('"', '""') + '"'
