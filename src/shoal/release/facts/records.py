"""What facts are made of: small records, each as it is kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from shoal._version import versions
from shoal.auditing.findings import Kind
from shoal.auditing.verdict import ViewRisk


@dataclass(frozen=True)
class EventWorst:
    """The worst case of one event."""

    before: float
    posterior: float
    kind: Kind


@dataclass(frozen=True)
class EventFacts:
    """A protected event, its limit 1/r, and its worst case."""

    label: str
    values: tuple[str, ...]
    limit: float
    carriers: int
    worst: EventWorst | None


@dataclass(frozen=True)
class RiskBin:
    """How many people have a probability from `low` to `high`."""

    low: float
    high: float
    people: int
    parts: int = 1
    """Of so many bins it was merged."""


@dataclass(frozen=True)
class SizeBin:
    """How many groups have from `low` to `high` people, and how many people these are."""

    low: int
    high: int
    with_event: int
    without: int
    people: int


@dataclass(frozen=True, kw_only=True)
class ViewFacts(ViewRisk):
    """What one view can do on its own, by its name."""

    name: str
    guess: float | None
    """How often the likeliest member of a group is a case."""


@dataclass(frozen=True)
class Bar:
    """People who have a value, or one of several, before and after."""

    label: str
    before: float
    after: float


@dataclass(frozen=True)
class ColumnLoss:
    """How far a column's published distribution is from the true one."""

    name: str
    role: str
    distance: float
    """Total variation: half the sum of |p - q|."""
    values: int
    gone: int
    """Values that nobody has any more."""
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class ErrorLine:
    """Relative errors of one kind of count queries."""

    name: str
    counted: int
    mean: float
    median: float
    p95: float


@dataclass(frozen=True)
class StratumError:
    """The cases of one event in one stratum, and what the release leads to."""

    class_: dict[str, str]
    """What its people have in common."""
    event: str
    carriers: int
    estimate: float
    standard_error: float | None = None
    error: float | None = None


@dataclass(frozen=True)
class CountedStrata:
    """Errors over all strata with enough cases."""

    classes: int
    mean: float | None
    far_off: int
    covered: float | None
    """The share of those whose interval holds the truth."""


@dataclass(frozen=True)
class StratumErrors:
    """Counts of cases by stratum."""

    weights: bool
    """Whether the release says how likely each person is a case."""
    smaller: int
    """Strata with fewer cases, which are not judged."""
    enough: int
    counted: CountedStrata
    worst: tuple[StratumError, ...]


@dataclass(frozen=True)
class QueryErrors:
    """How far count queries are off."""

    drawn: int
    selectivity: float
    attributes: int
    seed: int
    lines: tuple[ErrorLine, ...]
    classes: StratumErrors


@dataclass(frozen=True)
class ExposedPerson:
    """One of the most exposed rows."""

    row: int | None
    group: str
    event: str
    view: str
    before: float
    posterior: float
    kind: Kind
    limit: float
    person: dict[str, str]


@dataclass(frozen=True)
class MethodFacts:
    """The method behind a release, and what it did to the table."""

    name: str
    parameters: dict[str, Any]
    claims: dict[str, Any]
    form: str
    pooled: int
    """Groups that show values outside events as (other)."""
    changed: int


@dataclass(frozen=True, kw_only=True)
class SpecFacts:
    """What was asked, and what it assumes."""

    toml: str
    public_toml: str
    qi: tuple[str, ...]
    sensitive: str
    columns: int = 1
    min_support: int
    max_attributes: int | None
    outside: bool
    chosen_views: bool
    bands: tuple[tuple[str, float], ...]
    quantiles: tuple[tuple[str, int], ...] = ()
    in_no_view: tuple[str, ...] = ()
    titles: tuple[tuple[str, str], ...]
    recoded: tuple[tuple[str, str], ...]
    weighted: bool
    publish_members: bool
    publish_apart: bool


@dataclass(frozen=True)
class Repeat:
    """How the run can be repeated, as far as the caller knows it, and with what it was made."""

    command: str | None = None
    """The command line; only the internal edition shows it."""
    seed: int | None = None
    """Where it was given; a secret seed is kept elsewhere."""
    versions: dict[str, str] = field(default_factory=versions)
