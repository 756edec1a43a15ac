"""Spec: what is published, what must be protected, how strongly, and what the adversary knows."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from shoal.data.spec.checks import checked_names, checked_r, checked_whole, listed
from shoal.data.spec.events import (
    Event,
    EventLike,
    as_event,
    check_apart,
    check_events,
    labelled,
    of_columns,
)
from shoal.data.spec.person import RowRule
from shoal.data.spec.recipe import (
    Codebook,
    Recipe,
    RecipeLike,
    Variable,
    as_recipes,
    named_pairs,
    public_recipes,
)
from shoal.data.spec.toml_text import read_spec_file, toml_text
from shoal.declared import Parameter, fields_of
from shoal.errors import InputError, nearest, unknown

MISSING = "(missing)"
"""How a missing value is shown; it is a category like any other."""

OTHER = "(other)"
"""How pooled values, which are outside every event, are published."""

MAX_QI = 20
MOST_STRATA, LEAST_SUPPORT, MOST_SUPPORT = 50, 10, 100

FILES = ("knowledge", "population")
"""Fields that name a file."""
Limit = Literal["absolute", "prior"]
LIMITS: tuple[Limit, ...] = ("absolute", "prior")


class InputWarning(UserWarning):
    """Something about the input is allowed, but probably not meant."""


@dataclass(frozen=True, kw_only=True)
class Spec:
    """Column roles, protected events, r and the adversary's knowledge. Columns not named in
    `qi` or `sensitive` are never published.

    >>> import shoal
    >>> spec = shoal.Spec(qi=["age", "sex"], sensitive="diagnosis", protect=["HIV"], r=5)
    >>> spec.with_(r=10).r
    10.0
    """

    qi: tuple[str, ...]
    """Quasi-identifiers: published, and known to outsiders for everybody."""
    sensitive: str | tuple[str, ...]
    """The sensitive column, or several: then each is read alone, and all together."""
    r: float
    """Nobody may be linked to a protected event with a probability above 1/r."""
    protect: tuple[Event, ...] | None = None
    """What nobody may be linked to: a value of a sensitive column, or several taken as one event.
    Unless any is named, each value is protected on its own."""
    identifiers: tuple[str, ...] = ()
    """Columns that name people; never published. Rows are people: a table in which one of these
    repeats is refused, unless `person` says whose rows they are."""
    person: str | None = None
    """The column that names the person, or whatever else is to be hidden, as a household, where
    rows are not people. Never published, but for its name."""
    rows_per_person: str = "all"
    """What becomes of a person's rows. One each: "first" in the table's order, "last by COLUMN", or
    "event", the first with the sensitive value of the first row that has a protected one. Several:
    "all", or "first 3"; then the chance that any of them has a protected value is judged."""
    weight: str | None = None
    """The survey weight of a sample: how many people of the population a row stands for. Outsiders
    then know how common values are by weights, too. It is published only if it is a QI as well."""
    population: str | None = None
    """A file of the population, with the QIs of everybody, or of each combination and its count.
    How many of those who are alone in what is published are alone there too is counted by it;
    survey weights give an estimate."""
    min_support: int | None = None
    """Outsiders know how common an event is among people who are alike in something, if there are
    at least so many of them. Unless given, 10 to 100, by the table's rows."""
    max_attributes: int | None = None
    """The largest number of QIs that outsiders put together. Unless given, all."""
    views: tuple[tuple[str, ...], ...] | None = None
    """Which sets of QIs outsiders put together, if not every one of at most max_attributes. Bands
    are written as age/10."""
    bands: tuple[tuple[str, float], ...] = ()
    """Numeric QIs that outsiders also know in bands of this width. Nothing is made coarser: that is
    `recode`."""
    recode: tuple[tuple[str, Recipe], ...] = ()
    """Columns that are made coarser before anything else, each with its recipe."""
    titles: tuple[tuple[str, str], ...] = ()
    """What columns mean in words, such as the question that was asked; published with them."""
    rare_unknown: tuple[str, ...] = ()
    """QIs that outsiders have no figures by, but for values that min_support rows have. Else
    numbers are also known in bands of as many people each, and text with thousands of values is
    refused."""
    knowledge: str | None = None
    """A file of how common values are (columns of the table, value, probability), in place of all
    that the table itself would say: then min_support, max_attributes and views do not
    count. For one sensitive column."""
    limit: Limit = "absolute"
    """absolute: 1/r for everybody, as the paper has it; prior: in each view 1/r, or what that view
    says of a person before anything is published, if that is more already."""
    k: int | None = None
    """At least so many people share every published combination of QI values; columns are made
    coarser for it. Unless given, nothing is asked."""
    publish_members: bool = False
    """Publish an event of several values by its values, not by its label."""
    publish_apart: bool = False
    """Permute each of several sensitive columns by itself within a group, so that nobody can cross
    them."""

    if TYPE_CHECKING:  # what callers may write; __post_init__ turns it into the types above

        def __init__(
            self,
            *,
            qi: str | Iterable[str],
            sensitive: str | Iterable[str],
            r: float,
            protect: Iterable[EventLike] | None = None,
            identifiers: str | Iterable[str] = (),
            person: str | None = None,
            rows_per_person: str = "all",
            weight: str | None = None,
            population: str | Path | None = None,
            min_support: int | None = None,
            max_attributes: int | None = None,
            views: Iterable[str | Iterable[str]] | None = None,
            bands: Mapping[str, float] | Iterable[tuple[str, float]] = (),
            recode: Mapping[str, RecipeLike] | Iterable[tuple[str, RecipeLike]] = (),
            titles: Mapping[str, str] | Iterable[tuple[str, str]] = (),
            rare_unknown: str | Iterable[str] = (),
            knowledge: str | Path | None = None,
            limit: Limit = "absolute",
            k: int | None = None,
            publish_members: bool = False,
            publish_apart: bool = False,
        ) -> None: ...

    def __repr__(self) -> str:
        given = ((field, getattr(self, field.name)) for field in fields(self))
        shown = (f"{field.name}={value!r}" for field, value in given if value != field.default)
        return f"Spec({', '.join(shown)})"

    def __post_init__(self) -> None:
        def put(name: str, value: object) -> None:
            object.__setattr__(self, name, value)

        put("qi", checked_names(self.qi, "qi"))
        put("identifiers", checked_names(self.identifiers, "identifiers"))
        put("r", checked_r(self.r))
        if self.sensitive is not None and not isinstance(self.sensitive, str):
            columns = checked_names(self.sensitive, "sensitive")
            put("sensitive", columns[0] if len(columns) == 1 else columns)
        put("recode", as_recipes(self.recode))
        put("titles", named_pairs(self.titles, "titles"))
        if self.protect is not None:
            events = [as_event(event) for event in listed(self.protect, "protect")]
            events = [of_columns(event, self.sensitive_columns) for event in events]
            put("protect", tuple(labelled(e, self._labels_of(e)) for e in events))
        if self.views is not None:
            put(
                "views", tuple(checked_names(view, "views") for view in listed(self.views, "views"))
            )
        put("bands", _bands(self.bands))
        put("rare_unknown", checked_names(self.rare_unknown, "rare_unknown"))
        for name in FILES:
            if isinstance(getattr(self, name), Path):
                put(name, str(getattr(self, name)))
        self._check()

    def _labels_of(self, event: Event) -> dict[str, str]:
        """The labels of the columns that an event is of."""
        recipes, columns = dict(self.recode), event.column or self.sensitive_columns
        return dict(pair for name in columns if name in recipes for pair in recipes[name].labels)

    def _check(self) -> None:
        if not self.qi:
            raise InputError(
                "spec-missing", "No QI columns are named.", "Name at least one with qi."
            )
        if len(self.qi) > MAX_QI:
            raise InputError(
                "qi-too-many",
                f"{len(self.qi)} QI columns are named, and shoal judges at most {MAX_QI}.",
                "Keep those that an outsider can really know of a person.",
            )
        if not self.sensitive or not all(self.sensitive_columns):
            raise InputError(
                "spec-missing", "No sensitive column is named.", "Name it with sensitive."
            )
        roles = (
            ("a QI", self.qi),
            ("sensitive", self.sensitive_columns),
            ("an identifier", self.identifiers),
            ("a person", self.named_person),
        )
        for (other, taken), (role, names) in combinations(roles, 2):
            if both := [name for name in names if name in taken]:
                problem = f'Column "{both[0]}" is both {other} and {role}.'
                raise InputError("role-twice", problem, "Give each column one role.")
        self._check_person()
        self._check_weight()
        for name in ("min_support", "max_attributes"):
            if getattr(self, name) is not None:
                checked_whole(name, getattr(self, name))
        if self.k is not None:
            checked_whole("k", self.k, least=2)
        if self.limit not in LIMITS:
            raise unknown("limit", f"limit is {self.limit!r}", str(self.limit), LIMITS)
        for name in ("publish_members", "publish_apart"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(
                    "spec-value", f"{name} is {getattr(self, name)!r}.", "Give true or false."
                )
        for name in FILES:
            if not isinstance(getattr(self, name), str | None):
                raise InputError(
                    "spec-value", f"{name} is {getattr(self, name)!r}.", "Give the path of a file."
                )
        self._check_views()
        self._check_recode()
        check_events(self.protect, self.sensitive_columns)
        if self.publish_apart:
            check_apart(self.protect, self.sensitive_columns)

    def _check_person(self) -> None:
        if self.person is not None and (not isinstance(self.person, str) or not self.person):
            raise InputError(
                "person", f"person is {self.person!r}.", "Name one column of the table."
            )
        rule = self.row_rule
        if self.person is None and rule.kind != "all":
            raise InputError(
                "person",
                f'rows_per_person is "{self.rows_per_person}", and nothing says whose rows are '
                "whose.",
                "Name the column with person.",
            )
        if rule.by in self.sensitive_columns:
            raise InputError(
                "rows-per-person",
                f'"{rule.by}" is sensitive, and the choice of the row would reveal it.',
                "Choose the last row by a column that is not.",
            )

    def _check_weight(self) -> None:
        if self.weight is None:
            return
        if not isinstance(self.weight, str) or not self.weight:
            raise InputError(
                "survey-weight",
                f"weight is {self.weight!r}.",
                "Name one column of the table: the survey weight.",
            )
        if self.weight in (*self.sensitive_columns, *self.identifiers, *self.named_person):
            raise InputError(
                "role-twice",
                f'Column "{self.weight}" is the survey weight and something else.',
                "A survey weight may be a QI as well, to be published; nothing else.",
            )
        recipe = dict(self.recode).get(self.weight)
        banded = recipe and (recipe.bands or recipe.cuts or recipe.quantiles or recipe.suppress)
        if recipe is not None and (not banded or recipe.missing or recipe.rare):
            raise InputError(
                "survey-weight",
                f'The survey weight "{self.weight}" would not be a number for everybody.',
                "Recode it by bands, cuts or quantiles alone: each band is published as its mean.",
            )

    @property
    def row_rule(self) -> RowRule:
        """What becomes of a person's rows."""
        return RowRule.parse(self.rows_per_person)

    @property
    def named_person(self) -> tuple[str, ...]:
        """The column that names the person, if there is one."""
        return () if self.person is None else (self.person,)

    def _check_views(self) -> None:
        known = [*self.qi, *(band_name(name, width) for name, width in self.bands)]
        for name, width in self.bands:
            if name not in self.qi:
                raise unknown("band", f'"{name}" is banded but is no QI', name, self.qi)
            if band_name(name, width) in self.qi:
                raise InputError(
                    "band",
                    f'The band "{band_name(name, width)}" has the name of a QI.',
                    "Rename that QI, or choose another width.",
                )
        for name in self.rare_unknown:
            if name not in self.qi:
                problem = f'"{name}" is in rare_unknown but is no QI'
                raise unknown("rare-column", problem, name, self.qi)
        quantiles = re.compile(rf"({'|'.join(map(re.escape, self.qi))})/q[1-9]\d{{0,3}}")
        for name in self.qi:
            if quantiles.fullmatch(name):
                raise InputError(
                    "band",
                    f'The QI "{name}" has the name of quantile bands of another.',
                    "Rename it.",
                )
        for view in self.views or ():
            for name in view:
                if name not in known and not quantiles.fullmatch(name):
                    raise InputError(
                        "view-attribute",
                        f'A view names "{name}", which is no QI{nearest(name, known)}.',
                        "Views are made of QIs (or of their bands, as age/10 or age/q4).",
                    )

    def _check_recode(self) -> None:
        published = [*self.qi, *self.sensitive_columns]
        checked_names((name for name, _ in self.recode), "recode")
        for name, recipe in self.recode:
            if recipe.level == 0 and (self.k is None or name not in self.qi):
                raise InputError(
                    "recode-level",
                    f'Level 0 leaves "{name}" as it is.',
                    "Give a level of at least 1, or k too: the hierarchy of a QI is then climbed "
                    "as far as k needs.",
                )
            if name not in published:
                problem = f'"{name}" is recoded but not published'
                raise unknown("recode-column", problem, name, published)

    @property
    def sensitive_columns(self) -> tuple[str, ...]:
        """The sensitive columns, one or several."""
        return (self.sensitive,) if isinstance(self.sensitive, str) else self.sensitive

    def alone(self, column: str) -> Spec:
        """What is asked of one of several sensitive columns."""
        if isinstance(self.sensitive, str):
            return self
        mine = [replace(e, column=()) for e in self.protect or () if column in e.column]
        recode = [pair for pair in self.recode if pair[0] in (*self.qi, column)]
        return replace(
            self, sensitive=column, protect=tuple(mine), recode=tuple(recode), publish_apart=False
        )

    def with_(self, **changes: Any) -> Spec:
        """The same spec with some fields changed (and checked again)."""
        return replace(self, **changes)

    def unnamed(self, **changes: Any) -> Spec:
        """The same for counted people, whom no column names."""
        return self.with_(identifiers=(), person=None, rows_per_person="all", **changes)

    def of_rows(self, rows: int) -> Spec:
        """The spec for a table of so many rows: min_support follows from these unless given."""
        return self if self.min_support else self.with_(min_support=support_for(rows))

    def published(self) -> Spec:
        """What others may read of the spec: no column that is not published but those that say
        what a person is, no folder."""
        titles = [one for one in self.titles if one[0] in (*self.qi, *self.sensitive_columns)]
        recode = public_recipes(self.recode)
        files = dict.fromkeys(FILES)
        return self.with_(identifiers=(), recode=recode, titles=titles, **files)

    def described(self, codebook: Codebook) -> Spec:
        """The spec with what a file says of its columns, where the spec says nothing of them."""
        recode, titles = dict(self.recode), dict(self.titles)
        for name in (*self.qi, *self.sensitive_columns):
            variable = codebook.get(name, Variable())
            if variable.title:
                titles.setdefault(name, variable.title)
            if variable.missing and name in recode and not recode[name].missing:
                warnings.warn(
                    f'The file says that {", ".join(variable.missing)} in "{name}" means missing, '
                    "and the spec does not: it is taken as a value.",
                    InputWarning,
                    stacklevel=2,
                )
            if (recipe := variable.recipe()) is not None:
                recode.setdefault(name, recipe)
        return self.with_(recode=recode, titles=titles)

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any], *, source: str = "The spec") -> Spec:
        """A spec from plain data, as TOML gives it; unknown keys are refused."""
        check_keys(mapping, source=source)
        for key in ("qi", "sensitive", "r"):
            if key not in mapping:
                raise InputError("spec-missing", f'{source} does not say "{key}".', "Add it.")
        return cls(**mapping)

    @classmethod
    def from_toml(cls, path: str | Path) -> Spec:
        """Reads a spec file; its keys are the fields of this class. Files that it names lie beside
        it, or else in the working folder."""
        return cls.from_mapping(read_spec_file(path), source=str(path))

    def to_mapping(self) -> dict[str, Any]:
        """Plain data that `from_mapping` takes back; fields at their default are left out."""
        given = {field: getattr(self, field.name) for field in fields(self)}
        plain = {field.name: value for field, value in given.items() if value != field.default}
        plain |= {"titles": dict(self.titles)} if self.titles else {}
        if self.protect is not None:
            plain["protect"] = [
                {k: v for k, v in asdict(event).items() if v not in (None, ())}
                for event in self.protect
            ]
        if self.bands:
            one_each = len(dict(self.bands)) == len(self.bands)
            plain["bands"] = dict(self.bands) if one_each else [list(band) for band in self.bands]
        if self.recode:
            plain["recode"] = {name: recipe.to_mapping() for name, recipe in self.recode}
        return plain

    def to_toml(self) -> str:
        """The spec as TOML text."""
        return toml_text(self.to_mapping())


@cache
def parameters() -> tuple[Parameter, ...]:
    """The fields of Spec, with what each means."""
    return tuple(fields_of(Path(__file__).read_text("utf-8"), "Spec"))


def check_keys(mapping: Mapping[str, Any], *, source: str) -> None:
    """An InputError for a key that is no field of Spec."""
    known = {field.name for field in fields(Spec)}
    for key in mapping:
        if key not in known:
            raise unknown("spec-key", f'{source} has an unknown key "{key}"', key, sorted(known))


def support_for(rows: int) -> int:
    """The min_support of a table of so many rows: what one in fifty share is known, between 10
    people and 100 (decision 21).

    >>> [support_for(rows) for rows in (60, 1_000, 5_000, 1_000_000)]
    [10, 20, 100, 100]
    """
    return min(max(rows // MOST_STRATA, LEAST_SUPPORT), MOST_SUPPORT)


def band_name(attribute: str, width: float) -> str:
    """The adversary's name of a banded QI, e.g. `age/10`; no two widths share one."""
    return f"{attribute}/{repr(float(width)).removesuffix('.0')}"


def _bands(given: Any) -> tuple[tuple[str, float], ...]:
    pairs = given.items() if isinstance(given, Mapping) else listed(given, "bands")
    bands: list[tuple[str, float]] = []
    for pair in pairs:
        name, width = pair if isinstance(pair, tuple | list) and len(pair) == 2 else (pair, None)
        is_number = isinstance(width, int | float) and not isinstance(width, bool)
        if width is None or not is_number or not 0 < width < math.inf:
            raise InputError(
                "band",
                f'The band width of "{name}" is {width!r}.',
                "Give a positive number, such as age = 10.",
            )
        band = (str(name), float(width))
        if band in bands:
            raise InputError(
                "name-twice", f'bands names "{band_name(*band)}" twice.', "Name it once."
            )
        bands.append(band)
    return tuple(bands)
