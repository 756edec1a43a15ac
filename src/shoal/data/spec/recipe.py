"""Recipe: how one column is made coarser before anything else, and said in words."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args

from shoal.data.spec.checks import listed, number_or_text
from shoal.data.spec.events import entry_texts
from shoal.errors import InputError, unknown

# What the file of a statistics program says of its columns.

Measure = Literal["nominal", "ordinal", "scale", "unknown"]


@dataclass(frozen=True)
class Variable:
    """One column of a codebook."""

    title: str = ""
    """The label of the column: what was asked, or measured."""
    labels: tuple[tuple[str, str], ...] = ()
    """What each of its codes stands for, if all that occur stand for something."""
    missing: tuple[str, ...] = ()
    """The codes in it that are declared to mean that nothing is known."""
    measure: Measure = "unknown"
    """How its numbers are to be taken."""

    def recipe(self) -> Recipe | None:
        """How the column is recoded so that it shows what it means, if it has to be."""
        nominal = self.measure == "nominal" and not self.labels
        if not (self.labels or self.missing or nominal):
            return None
        return Recipe(missing=self.missing, labels=self.labels, nominal=nominal)


Codebook = Mapping[str, Variable]
"""Columns by their names."""


DatePart = Literal["year", "month", "day"]
ANY = "*"
"""The value that stands for any other."""
RARE = "(rare)"
"""The value that rare values are gathered under."""
COARSER = ("nominal", "date", "bands", "quantiles", "cuts", "hierarchy", "suppress")
"""What can be done to values once codes for missing ones are gone: one of these."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What is done to a column before it is anonymized, in this order: codes become missing, values
    are made coarser in one way, rare ones are gathered. Only the result is ever published."""

    missing: tuple[str, ...] = ()
    """Values that mean that nothing is known, such as 99."""
    labels: tuple[tuple[str, str], ...] = ()
    """What codes stand for: values are published by these names, others as they are."""
    nominal: bool = False
    """Numbers that are categories: they have no order and lie in no range."""
    date: DatePart | None = None
    """Dates as their year, month or day."""
    bands: float | None = None
    """Numbers in bands of this width: 40-49 for 10."""
    quantiles: int | None = None
    """Numbers in so many parts, with about as many rows each."""
    cuts: tuple[float, ...] = ()
    """Numbers cut at these: [18, 65] makes under 18, 18-64, 65 or more."""
    hierarchy: str | None = None
    """File of a hierarchy: a value becomes its node."""
    level: int = 1
    """The level of the hierarchy, 1 next above the values; 0 leaves them, for k to raise."""
    suppress: bool = False
    """Every value becomes `*`."""
    rare: int | None = None
    """Values with fewer rows than this are gathered under (rare); protected ones never are."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "missing", entry_texts(self.missing, "missing"))
        object.__setattr__(self, "labels", named_pairs(self.labels, "labels"))
        object.__setattr__(self, "cuts", _numbers(self.cuts))
        if isinstance(self.hierarchy, Path):
            object.__setattr__(self, "hierarchy", str(self.hierarchy))
        if self.bands is not None:
            (width,) = _numbers([self.bands])
            object.__setattr__(self, "bands", width)
        for key, fits, remedy in (
            ("nominal", isinstance(self.nominal, bool), "true or false"),
            ("suppress", isinstance(self.suppress, bool), "true or false"),
            ("date", self.date in (None, *get_args(DatePart)), "year, month or day"),
            ("bands", self.bands is None or self.bands > 0, "a positive width, such as 10"),
            ("quantiles", _is_whole(self.quantiles, 2), "a whole number of at least 2"),
            ("cuts", list(self.cuts) == sorted(set(self.cuts)), "rising numbers, such as [18, 65]"),
            ("hierarchy", isinstance(self.hierarchy, str | None), "the path of a file"),
            (
                "level",
                self.level is not None and _is_whole(self.level, 0),
                "a whole number of at least 1",
            ),
            ("rare", _is_whole(self.rare, 2), "a whole number of at least 2"),
        ):
            if not fits:
                raise InputError(
                    "recode-form", f"{key} is {getattr(self, key)!r}.", f"Give {remedy}."
                )
        chosen = [key for key in COARSER if getattr(self, key)]
        if len(chosen) > 1:
            raise InputError(
                "recode-form",
                f"A column is recoded by {chosen[0]} and by {chosen[1]}.",
                f"Choose one of: {', '.join(COARSER)}.",
            )
        if self.level != 1 and self.hierarchy is None:
            raise InputError(
                "recode-level", "level is given without a hierarchy.", "Add the hierarchy's file."
            )
        if not self.to_mapping():
            raise InputError("recode-form", "A recipe does nothing.", f"Keys: {KEYS}.")

    def to_mapping(self) -> dict[str, Any]:
        """Plain data; what is at its default is left out."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        plain = {f.name: given[f.name] for f in fields(self) if given[f.name] != f.default}
        plain |= {"labels": dict(self.labels)} if self.labels else {}
        return {k: list(v) if isinstance(v, tuple) else v for k, v in plain.items()}

    def words(self) -> str:
        """What is done, for whoever reads what was published."""
        steps = []
        if self.missing:
            steps.append(f"{', '.join(self.missing)} counted as missing")
        if self.labels:
            steps.append("codes published by their labels")
        if self.nominal:
            steps.append("numbers taken as categories")
        if self.date:
            steps.append(f"dates by {self.date}")
        if self.bands is not None:
            steps.append(f"numbers in bands of {self.bands:g}")
        if self.quantiles is not None:
            steps.append(f"numbers in {self.quantiles} parts with about as many rows each")
        if self.cuts:
            steps.append(f"numbers cut at {', '.join(f'{cut:g}' for cut in self.cuts)}")
        if self.hierarchy is not None:
            steps.append(f"values raised to level {self.level} of {Path(self.hierarchy).name}")
        if self.suppress:
            steps.append(f"every value suppressed ({ANY})")
        if self.rare is not None:
            steps.append(f"values with fewer than {self.rare:,} rows gathered as {RARE}")
        return ", then ".join(steps)


def named_pairs(given: Any, what: str) -> tuple[tuple[str, str], ...]:
    """Texts by what they belong to, from a mapping or pairs."""
    pairs = list(given.items()) if isinstance(given, Mapping) else listed(given, what)
    if not all(isinstance(one, tuple | list) and len(one) == 2 and one[1] for one in pairs):
        raise InputError(
            "recode-form",
            f"{what} is {given!r}.",
            'Write it as {name = "text"}; no text may be empty.',
        )
    names = entry_texts([name for name, _ in pairs], what)
    return tuple(zip(names, (str(text) for _, text in pairs), strict=True))


KEYS = ", ".join(field.name for field in fields(Recipe))
RecipeLike = Recipe | Mapping[str, Any]
Recipes = tuple[tuple[str, Recipe], ...]


def as_recipe(given: RecipeLike, column: str) -> Recipe:
    """A Recipe from what a caller may write."""
    if isinstance(given, Recipe):
        return given
    if not isinstance(given, Mapping):
        raise InputError(
            "recode-form",
            f'The recoding of "{column}" is {given!r}.',
            f"Give a table such as {{bands = 10}}; keys: {KEYS}.",
        )
    known = [field.name for field in fields(Recipe)]
    for key in given:
        if key not in known:
            problem = f'The recoding of "{column}" has an unknown key "{key}"'
            raise unknown("recode-form", problem, key, known)
    return Recipe(**given)


def as_recipes(given: Any) -> Recipes:
    """The recipes of a spec, by column."""
    pairs = given.items() if isinstance(given, Mapping) else listed(given, "recode")
    return tuple((str(column), as_recipe(recipe, str(column))) for column, recipe in pairs)


def public_recipes(recipes: Recipes) -> Recipes:
    """The recipes without the folders of the publisher's machine."""
    return with_files(recipes, {name: Path(one.hierarchy or "").name for name, one in recipes})


def with_files(recipes: Recipes, files: Mapping[str, str | Path]) -> Recipes:
    """The recipes with other files for the hierarchies of these columns."""
    return tuple(
        (name, replace(one, hierarchy=str(files[name])) if one.hierarchy and name in files else one)
        for name, one in recipes
    )


_OPTION = re.compile(rf"(.+):({'|'.join(field.name for field in fields(Recipe))})(?:=(.*))?")


def parse_recipes(texts: list[str]) -> dict[str, dict[str, Any]]:
    """Recipes from the command line: `age:bands=10`, repeated for more keys and columns."""
    recipes: dict[str, dict[str, Any]] = {}
    for text in texts:
        parts = _OPTION.fullmatch(text)
        if parts is None or (parts[3] is None) != (parts[2] in ("nominal", "suppress")):
            raise InputError(
                "recode-form",
                f'--recode "{text}" is not understood.',
                f"Write it as age:bands=10 or job:nominal; keys: {KEYS}.",
            )
        recipes.setdefault(parts[1], {})[parts[2]] = _option_value(parts[2], parts[3])
    return recipes


def _option_value(key: str, text: str | None) -> Any:
    if text is None:
        return True
    if key in ("missing", "cuts", "labels"):
        parts = [part.strip() for part in text.split(",")]
        if key == "labels":
            return [part.split("=", 1) for part in parts]
        return parts if key == "missing" else [number_or_text(part) for part in parts]
    return text if key in ("date", "hierarchy") else number_or_text(text)


def _numbers(given: Any) -> tuple[float, ...]:
    numbers = listed(given, "cuts")
    for one in numbers:
        if isinstance(one, bool) or not isinstance(one, int | float) or not math.isfinite(one):
            raise InputError("recode-form", f"{one!r} is no number.", "Give plain numbers.")
    return tuple(float(one) for one in numbers)


def _is_whole(value: Any, least: int) -> bool:
    whole = isinstance(value, int) and not isinstance(value, bool) and value >= least
    return value is None or whole
