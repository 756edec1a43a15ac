"""What can be asked for by name, for whoever must not import it yet; tests hold it against what
there is."""

from __future__ import annotations

from typing import Literal, TypedDict, get_args

ENGINES = ("polars", "duckdb", "spark")
ADVERSARIES = ("joint", "binary", "all-views")
ATTACKERS = (
    *("likeliest", "weight", "medoid", "rarest", "singling-out", "linkability", "absentee"),
    *("learner", "counter-class", "counter-odds", "counter-all", "modeller", "informed", "insider"),
    *("intersection", "difference", "arrivals"),
)
Model = Literal["boosting", "logistic", "kernel"]
MODELS: tuple[Model, ...] = get_args(Model)
OutputFormat = Literal["github", "sarif", "junit"]
"""Forms in which machines that run checks read a verdict."""


class Reading(TypedDict, total=False):
    """How a file is written, where that is not to be found out: keywords of `read_table`."""

    separator: str | None
    encoding: str | None
    decimal: str | None
    sheet: str | None


READING = tuple(Reading.__annotations__)
