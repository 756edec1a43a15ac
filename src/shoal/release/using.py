"""README.txt's pages on using a release: how its files are read, counted in, and weighted."""

from __future__ import annotations

import textwrap

from shoal.data.spec import OTHER
from shoal.release import GID, Release
from shoal.release.labelled import LABELLED
from shoal.release.typed import PACKAGE

LABELLED_FILES = (
    "Texts are numbers with labels; values that had numbers in the original table keep them. A "
    f"missing value is the system's. A column whose name is none there has another, and {PACKAGE} "
    "says which (`title`)."
)
SCRIPTED = (
    "Everybody with each value that they may have and its weight; a count by weights. Fit models "
    "with these weights, and take errors from plausible tables: several, each with one value for "
    "each person, combined by Rubin's rules (in Python shoal.read(folder).draw(5))."
)


def using_parts(release: Release, names: dict[str, str]) -> list[str]:
    """The pages, in the order of the file; their queries are for DuckDB, in the folder."""
    from shoal.release.utility.sql import example_sql, other_example, other_sql, weights_sql

    format = names["qi"].rpartition(".")[2]
    if format in LABELLED:
        return _labelled_parts(release, names, format)
    parts = [
        "HOW TO READ THE FILES\n" + filled(_reading(format) + _parts(release)),
        "HOW TO COUNT\n" + filled(_counting(release, names) + "In DuckDB, from this folder, both:"),
        example_sql(release, format=format),
        filled(_labels(release, names)),
    ]
    if (other := other_example(release)) is not None:
        _, value, mine, everybody = other
        told = (
            f"{OTHER} in a group stands for values outside every protected event. Where one of "
            f"these is asked for, it counts there with the part that it is of all such values "
            f"published by name: {_shown(value)} with {mine:,} of {everybody:,}."
        )
        parts += [filled(told), other_sql(release, format=format)]
    parts += [
        "WEIGHTS, FOR REGRESSIONS AND THE LIKE\n" + filled(_weighting(release, names)),
        weights_sql(release, format=format),
        *_of_population(release, names, format),
        *_scripts(release, names, format),
    ]
    return [part for part in parts if part]


def _labelled_parts(release: Release, names: dict[str, str], format: str) -> list[str]:
    """The pages on files of SPSS and Stata."""
    from shoal.release.utility.script import Script
    from shoal.release.utility.spss_script import spss_script
    from shoal.release.utility.stata_script import stata_script

    script = Script.of(release, format)
    counting = filled(_counting(release, names))
    if format == "dta":
        syntax = ["IN STATA\n" + filled(SCRIPTED), stata_script(script, names)]
    else:
        told = "The estimate in SPSS or PSPP, from this folder:"
        syntax = ["IN SPSS\n" + told, spss_script(script, names)]
    parts = [
        "HOW TO READ THE FILES\n" + filled(LABELLED_FILES),
        "HOW TO COUNT\n" + counting,
        *syntax,
        filled(_labels(release, names)),
    ]
    return [part for part in parts if part]


def filled(text: str) -> str:
    """A paragraph, as wide as the page."""
    return textwrap.fill(text.strip(), 88)


def _reading(format: str) -> str:
    if format == "parquet":
        return "Parquet holds the types of its columns; a missing value is null."
    return (
        f"{PACKAGE} says of every column of what type it is. An empty cell is a missing value, and "
        "nothing else is: NA, Yes and No are texts. What a spreadsheet would run as a formula "
        f"stands behind an apostrophe; {PACKAGE} lists these texts as they really are (`guarded`), "
        "and names of columns likewise (`title`). With every type as it should be: "
        "shoal.read(folder).to_pandas()."
    )


def _parts(release: Release) -> str:
    if not release.parted:
        return ""
    return " A table that is a folder has its lines in parts, in the order of their names."


def _counting(release: Release, names: dict[str, str]) -> str:
    share = "the share of the group's people who have the attributes"
    if release.form == "generalized":
        share = (
            "for each attribute the share of the values asked for among those that the group's "
            f"range covers ({names['ranges']})"
        )
    told = (
        "To estimate how many people have certain attributes and a certain value, add up over "
        f"the groups: how often the value occurs in the group, times {share}. In Python: "
        "shoal.read(folder).count(where). "
    )
    if release.weight is not None and release.form == "bucketized":
        told += (
            "People with a protected event are not shared equally within a group: "
            f"{release.weight} in {names['qi']} is how much of its group's people with an event "
            "a person counts as, rounded down, and an empty cell stands for an equal share. The "
            "weights of people who are alike in something add up to how many of them are expected "
            "to have an event. "
        )
    told += (
        "The standard error says how far an estimate may be off by chance, since a group does not "
        "say who of its people has which value: in about 95 of 100 counts the truth lies within "
        "1.96 standard errors of the estimate. "
    )
    if release.pooled_people:
        told += (
            "It does not cover what stands behind (other): that is reckoned from groups whose "
            "values are published. "
        )
    if release.form == "generalized":
        told += "That values are spread evenly over ranges is taken for granted there. "
    elif release.weight is None:
        told += (
            "It does not cover how groups are put together: where similar people often have a "
            "protected value, their count may be too low by more than that. "
        )
    return told


def _labels(release: Release, names: dict[str, str]) -> str:
    if not release.members.height:
        return ""
    return (
        "The label of an event stands for any of its values. One of these counts as the part that "
        f"{names['members']} gives it of all values behind the label."
    )


def _weighting(release: Release, names: dict[str, str]) -> str:
    told = (
        "The next query lists everybody with each value that they may have; the weight is the "
        "value's share of the group, and one person's weights add up to 1. Whatever takes weights "
        "can be fitted to it. Nobody is one observation more than once: reckon errors with as many "
        "people as the release has, not with as many lines. "
    )
    told += (
        "Protected values are shared with people who are in a group to hide others, so that "
        "differences in them come out too small"
    )
    weighted = release.weight is not None and release.form == "bucketized"
    told += ", though far less so by these weights. " if weighted else ". "
    if release.form == "generalized":
        told += f"Attributes are ranges; {names['ranges']} says which values each covers. "
    alone = ""
    if release.spec.publish_apart:
        first = release.spec.sensitive_columns[0]
        told += f"Sensitive columns are taken one by one, here {_shown(first)}. "
        alone = ".alone(column)"
    return told + f"In Python: shoal.read(folder){alone}.table(), without {GID}."


def _of_population(release: Release, names: dict[str, str], format: str) -> list[str]:
    """How the population is counted, where survey weights are published as numbers."""
    from shoal.release.utility.count import has_survey_weights
    from shoal.release.utility.sql import population_sql

    if not has_survey_weights(release):
        return []
    told = (
        f"{_shown(str(release.spec.weight))} in {names['qi']} is the survey weight: how many "
        "people of the population a person stands for. Counts above are of the people of the "
        "release. To count the population, multiply everybody's weights by it; in Python: "
        "shoal.read(folder).count(where, weighted=True). For models, too, the product is the "
        "weight. Errors of a sample are those of its design, which is not known here. In DuckDB:"
    )
    parts = ["SURVEY WEIGHTS, FOR THE POPULATION\n" + filled(told)]
    apart = release.spec.publish_apart and len(release.spec.sensitive_columns) > 1
    return parts if apart else [*parts, population_sql(release, format=format)]


def _scripts(release: Release, names: dict[str, str], format: str) -> list[str]:
    """Scripts in R and Stata, which read CSV."""
    from shoal.release.utility.r_script import r_script
    from shoal.release.utility.script import Script
    from shoal.release.utility.stata_script import stata_script

    if format != "csv" or release.parted:
        return []
    script = Script.of(release)
    return [
        "IN R (data.table)\n" + filled(SCRIPTED),
        r_script(script, names),
        "IN STATA\n" + filled(SCRIPTED),
        stata_script(script, names),
    ]


def _shown(text: str) -> str:
    return '"' + "".join(one if one.isprintable() else " " for one in text) + '"'
