"""README.txt of a release: what its receiver has in hand, and how to ask it for a count."""

from __future__ import annotations

import textwrap

from shoal.release import GID, Release


def readme_text(release: Release, names: dict[str, str]) -> str:
    """The page, in plain words, from the release's own names and figures."""
    certificate = release.certificate
    rows, groups = certificate["rows"], certificate["groups"]
    parts = [
        "A RELEASE MADE BY SHOAL",
        _filled(
            f"{rows['published']:,} people in {groups['count']:,} groups. Within a group it is "
            "published who belongs to it and which values occur in it, never who has which."
        ),
        "\n".join(
            [
                f"{names['qi']}: {GID} and {', '.join(release.spec.qi)}, one line per person",
                f"{names['sensitive']}: {GID}, {release.spec.sensitive}, count",
                f"{names['members']}: how often each value behind a label occurs in all",
                *(
                    [f"{names['ranges']}: which values each generalized label covers"]
                    if "ranges" in names
                    else []
                ),
            ]
        ),
        "WHAT IS CLAIMED\n" + _filled(_claim(release)),
        "WHAT IS MISSING OR CHANGED\n" + _filled(_losses(release)),
        "HOW TO COUNT\n"
        + _filled(
            "To estimate how many people have certain attributes and a certain value, add up over "
            "the groups: how often the value occurs in the group, times the share of the group's "
            "people who have the attributes. In Python: shoal.Release.load(folder).count(where). "
            "In DuckDB, from this folder:"
        )
        + "\n\n"
        + textwrap.indent(example_sql(release, names), "  "),
    ]
    return "\n\n".join(parts) + "\n"


def example_sql(release: Release, names: dict[str, str]) -> str:
    """A count query that runs as it stands: one QI value and one sensitive value that occur."""
    column = release.spec.qi[0]
    value = release.qi[column].drop_nulls()[0]
    wanted = release.sensitive[release.spec.sensitive][0]
    literal = str(value) if release.qi[column].dtype.is_numeric() else _text(str(value))
    condition = f"{_name(column)} = {literal}"
    if release.form == "generalized":
        covered = release.ranges
        assert covered is not None
        first = covered.filter(attribute=column)["value"][0]
        share = (
            f"(SELECT avg((r.value = {_text(first)})::INT) FROM '{names['ranges']}' r "
            f"WHERE r.attribute = {_text(column)} AND r.label = q.{_name(column)}::VARCHAR)"
        )
        matching = f"avg({share})"
    else:
        matching = f"avg(({condition})::INT)"
    return (
        f"SELECT sum(s.count * g.share) AS estimate\n"
        f"FROM '{names['sensitive']}' s\n"
        f"JOIN (SELECT {GID}, {matching} AS share FROM '{names['qi']}' q GROUP BY {GID}) g "
        f"USING ({GID})\n"
        f"WHERE s.{_name(release.spec.sensitive)} = {_text(wanted)};"
    )


def _claim(release: Release) -> str:
    certificate = release.certificate
    method = certificate["method"]
    claim = f"Method {method['name']}: {method['claims'].get('guarantee', 'no guarantee')}. "
    audit = certificate["audit"]
    verdict = {True: "is", False: "is not", None: "could not be shown to be"}[audit["robust"]]
    return claim + (
        f"Audited against an adversary who knows the exact distribution of "
        f"{release.spec.sensitive} in {len(certificate['knowledge']['views'])} views of the "
        f"published attributes, the release {verdict} {certificate['r']:g}-robust: the largest "
        f"probability of any person's link to a protected event is {audit['worst_posterior']:.4f}. "
        "certificate.json has the details; `shoal verify` checks it."
    )


def _losses(release: Release) -> str:
    certificate = release.certificate
    rows, groups = certificate["rows"], certificate["groups"]
    text = (
        f"{rows['suppressed']:,} of {rows['table']:,} people are left out, "
        f"{rows['suppressed_with_event']:,} of them with a protected event. "
    )
    if groups["pooled"]:
        text += (
            f"In {groups['pooled']:,} groups the values outside every protected event are "
            "published as (other). "
        )
    if rows["values_changed"]:
        text += (
            f"THE METHOD CHANGED {rows['values_changed']:,} VALUES: published values are not all "
            "true. "
        )
    return text


def _filled(text: str) -> str:
    return textwrap.fill(text.strip(), 88)


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
