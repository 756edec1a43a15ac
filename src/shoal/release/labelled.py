"""Releases for SPSS and Stata: what columns are called there, and which numbers stand for texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from shoal.data.sources.labelled import Codes, codes_of, read_labelled, write_labelled
from shoal.release import Release

LABELLED = ("sav", "dta")
NUMBERED = re.compile("(?:v|str|column)[0-9]+")
RESERVED = {
    *("byte", "double", "float", "if", "in", "int", "long", "using", "with", "to", "all", "by"),
    *("and", "or", "not", "eq", "ne", "ge", "gt", "le", "lt"),
    *("strl", "_all", "_b", "_coef", "_cons", "_n", "_pi", "_pred", "_rc", "_skip"),
}
"""What is no name of a column in either program."""


def called(names: Iterable[str]) -> dict[str, str]:
    """What Stata and SPSS call columns: by their names, where these are names there."""
    kept = list(dict.fromkeys(names))
    alike = [name.lower() for name in kept]
    return {
        name: name
        if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,31}", name)
        and name.lower() not in RESERVED
        and not NUMBERED.fullmatch(name)
        and alike.count(name.lower()) == 1
        else f"column{place}"
        for place, name in enumerate(kept)
    }


@dataclass(frozen=True, eq=False)
class Labelled:
    """A release as its files show it."""

    release: Release

    @cached_property
    def names(self) -> dict[str, str]:
        """What the columns of both large tables are called."""
        return called([*self.release.qi_runs.columns, *self.release.sensitive_runs.columns])

    def codes(self, name: str) -> dict[str, Codes]:
        """The numbers of a table's texts, by column. Values that had numbers in the original table
        keep them."""
        large, frames = self.release.large, self.release.parts
        texts = [one for one in frames[name] if one.dtype in (pl.String, pl.Enum, pl.Categorical)]
        recipes = dict(self.release.spec.recode) if name in large else {}
        return {
            one.name: codes_of(one, _known(recipes[one.name].labels if one.name in recipes else ()))
            for one in texts
        }

    def write(self, name: str, path: Path) -> None:
        """One table."""
        frame = self.release.frames[name]
        titles = dict(self.release.spec.titles)
        renamed = {one: self.names.get(one, one) for one in frame.columns}
        codes = self.codes(name)
        write_labelled(
            frame.rename(renamed),
            path,
            codes={renamed[one]: codes[one] for one in codes},
            titles={
                short: titles.get(one, "" if short == one else one)
                for one, short in renamed.items()
                if one in titles or short != one
            },
        )


def _known(labels: Iterable[tuple[str, str]]) -> Codes:
    """The numbers that labels had, the first of several; none unless all are whole."""
    told = {label: code for code, label in reversed(tuple(labels))}
    whole = all(re.fullmatch(r"-?[0-9]{1,9}", code) for code in told.values())
    return {label: int(code) for label, code in told.items()} if whole else {}


def read_release_table(path: Path, fields: Mapping[str, Mapping[str, Any]]) -> pl.DataFrame:
    """A table of a release, with its names and types, as the data package describes them."""
    frame = read_labelled(path)
    names = {field["name"]: name for name, field in fields.items()}
    frame = frame.rename({one: names[one] for one in frame.columns if one in names})
    kinds = {"integer": pl.Int64, "number": pl.Float64, "string": pl.String}
    return frame.with_columns(
        pl.col(name).cast(kinds[field["type"]])
        for name, field in fields.items()
        if name in frame.columns and field["type"] in kinds
    )
