"""README.txt of a release: what its receiver has in hand, and how to ask it for a count."""

from __future__ import annotations

import textwrap
from dataclasses import replace

import polars as pl

from shoal.auditing.check_words import known_words, lines, lookup_words
from shoal.data.spec import support_for
from shoal.file_names import CERTIFICATE
from shoal.knowledge import OWN, WEIGHTED, Assumed
from shoal.plain import typed
from shoal.release import GID, Release
from shoal.release.certificate import given_seed
from shoal.release.forms import form_named
from shoal.release.typed import PACKAGE
from shoal.release.using import filled, using_parts
from shoal.wording import (
    WEIGHTED_WORDS,
    WHOLE,
    adversaries_words,
    apart_words,
    limit_words,
    lines_of,
    plain_percent,
    pooled_words,
    readable_words,
    seed_words,
    verdict_words,
    visible,
    weights_words,
)

SHOWN = 12
"""Of more events than this the page names the first ones."""


def _readable(release: Release) -> str:
    groups = release.certificate["groups"]
    figures = groups["readable"], groups["readable_by_attributes"]
    return readable_words(*figures, release.spec.sensitive)


def readme_text(release: Release, names: dict[str, str]) -> str:
    """The page, in plain words, from the release's own names and figures. Decimals are shown as
    what they are read as, so that whoever has the files can write the same page."""
    read = release.qi_runs.lines.with_columns(pl.col(pl.Decimal).cast(pl.Float64))
    release = replace(release, qi_held=replace(release.qi_runs, lines=read))
    certificate = release.certificate
    rows, groups = certificate["rows"], certificate["groups"]
    parts = [
        "A RELEASE MADE BY SHOAL",
        filled(
            f"{rows['published']:,} {lines_of(certificate)} in {groups['count']:,} groups. "
            f"Published is who belongs to a group ({GID}) and which values occur in it, not who "
            "has which, unless all of "
            "them have the same one. " + " ".join([_readable(release), *_looked_up(release)])
        ),
        "\n".join(["THE FILES", *_files(release, names)]),
        *_columns(release),
        "WHAT IS CLAIMED\n" + filled(_claim(release)),
        "CHECKS\n" + "\n".join(_hung(line, 13) for line in lines(release.judged.checks)),
        "WHAT IS MISSING OR CHANGED\n" + filled(_losses(release)),
        *using_parts(release, names),
    ]
    return "\n\n".join(parts) + "\n"


def _files(release: Release, names: dict[str, str]) -> list[str]:
    """What each file of the folder holds."""
    told = {
        names["qi"]: f"one line per person: {', '.join(release.qi_runs.columns)}",
        names["sensitive"]: "how many people of a group have a value: "
        f"{', '.join(release.sensitive_runs.columns)}",
        names["members"]: "how often each value behind a label occurs in all",
        **{names[name]: what for name, what in form_named(release.form).more_tables.items()},
        PACKAGE: "the types of columns",
        CERTIFICATE: "what was checked, and how, for `shoal verify`",
    }
    wide = max(map(len, told)) + 2
    return [_hung(f"{name:<{wide}}{what}", wide) for name, what in told.items()]


def _hung(line: str, wide: int) -> str:
    """A line of two columns, the first of which is so wide."""
    return textwrap.fill(line, 88, subsequent_indent=" " * wide, break_on_hyphens=False)


def _columns(release: Release) -> list[str]:
    """What columns mean in words, and the codes that values had."""
    titles, told = dict(release.spec.titles), []
    labels = {name: recipe.labels for name, recipe in release.spec.recode}
    for name in (*release.spec.qi, *release.spec.sensitive_columns):
        codes = "; ".join(f"{code} = {label}" for code, label in labels.get(name, ()))
        parts = [titles.get(name, ""), f"codes: {codes}" if codes else ""]
        if any(parts):
            told.append(filled(f"{name}: {'. '.join(part for part in parts if part)}"))
    return ["\n".join(["WHAT COLUMNS MEAN", *told])] if told else []


def _claim(release: Release) -> str:
    certificate, seed = release.certificate, given_seed(release.certificate)
    method = certificate["method"]
    sentences = [
        _verdict(release),
        f"Its method, {method['name']}, claims: "
        f"{method['claims'].get('guarantee', 'no guarantee')}.",
        f"Judged by the {adversaries_words(release.judged.names)}. An adversary takes one "
        f"group and one view (set of published attributes) at a time{_whole(release)}.",
        _known(release),
        _hollow(release),
        _apart(release),
        known_words(release.judged.known_before, "1/r"),
        weights_words(certificate["weights"]["people"]) if "weights" in certificate else "",
        "" if seed is None else seed_words(seed),
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def _whole(release: Release) -> str:
    if WHOLE not in release.judged.names:
        return ""
    return ", but for the all-views adversary, who uses the counts of all views and groups at once"


def _apart(release: Release) -> str:
    columns = release.spec.sensitive_columns
    return apart_words(" and ".join(columns)) if release.spec.publish_apart else ""


def _known(release: Release) -> str:
    """What the adversary is taken to know of the sensitive column."""
    models = [one["name"] for one in release.certificate["knowledge"].get("models", [])]
    if not models:
        return _known_of_classes(release, 0)
    return (
        f"{_known_of_classes(release, len(models))} They also know what a model of all published "
        f"attributes, fitted to other people, says of each person ({', '.join(models)}); counting "
        "and suppression disclosure are judged without it."
    )


def _hollow(release: Release) -> str:
    """That the verdict says little, where it does."""
    certificate, spec = release.certificate, release.spec
    knowledge, rows = certificate["knowledge"], certificate["rows"]["table"]
    if "assumed" not in knowledge:
        return ""
    support = knowledge["min_support"] if knowledge["source"].startswith(OWN) else None
    told = {"min_support": support, "usual": support_for(rows), "rows": rows, "qi": len(spec.qi)}
    told |= {"views": len(knowledge["views"])}
    return typed(Assumed, knowledge["assumed"] | told).hollow_words


def _known_of_classes(release: Release, models: int) -> str:
    knowledge, spec = release.certificate["knowledge"], release.spec
    weighted = sum(WEIGHTED in view for view in knowledge["views"])
    views = _counted(len(knowledge["views"]) - models - weighted, "view")
    sensitive = " and ".join(spec.sensitive_columns)
    if not knowledge["source"].startswith(OWN):
        return (
            f"All of them know of {sensitive} what a file of the publisher's says, in "
            f"{views}, and not its exact distribution; for people of whom the file says nothing it "
            "is the whole table's distribution. Against somebody who knows more nothing is claimed."
        )
    chosen = ""
    if spec.views is not None:
        chosen = " that the publisher chose"
    elif spec.max_attributes is not None:
        most = _counted(spec.max_attributes, "attribute")
        chosen = f" of at most {most}, a limit that the publisher chose"
    return (
        f"All of them know the exact distribution of {sensitive} in {views}{chosen}, for every "
        "combination of values in those views that at least "
        f"{knowledge['min_support']:,} rows share (min_support); of all other people they know the "
        "whole table's distribution."
    ) + (f" {WEIGHTED_WORDS}" if weighted else "")


def _verdict(release: Release) -> str:
    """Robust or not, and at which limits."""
    robust, events = release.judged.robust, release.certificate["events"]
    limit = limit_words("1/r", release.certificate["limit"])
    labels = [f'"{visible(event["label"])}"' for event in events]
    shown = labels[:SHOWN] + [f"{len(labels) - SHOWN:,} more"] * (len(labels) > SHOWN)
    about = f"Protected (an event): {', '.join(shown)}. "
    if len({event["r"] for event in events}) > 1:
        own = "; ".join(
            f'"{event["label"]}" r = {event["r"]:g}, the largest {event["worst_posterior"]:.4f}'
            for event in events
        )
        told = f"The release is {verdict_words(robust)} at each event's own limit {limit} ({own})"
    else:
        r = events[0]["r"]
        share = limit_words(f"1/r ({plain_percent(1 / r)})", release.certificate["limit"])
        told = f"The release is {verdict_words(robust, f'{r:g}-robust')}, with the limit {share}"
    return f"{about}{told}: the verdict on the checks below."


def _looked_up(release: Release) -> list[str]:
    """Who can be looked up; older certificates do not say."""
    lookup = release.judged.lookup
    return [] if lookup is None else [lookup_words(lookup)]


def _counted(count: int, thing: str) -> str:
    plural = {"person": "people"}.get(thing, f"{thing}s")
    return f"{count:,} {thing if count == 1 else plural}"


def _losses(release: Release) -> str:
    certificate = release.certificate
    rows, groups = certificate["rows"], certificate["groups"]
    text = "Nobody is left out. "
    if rows["suppressed"]:
        text = (
            f"{rows['suppressed']:,} of {rows['table']:,} people are left out, "
            f"{rows['suppressed_with_event']:,} of them with a protected event. "
        )
    if groups["pooled"]:
        text += pooled_words(groups["pooled"], release.pooled_people) + " "
    if recodings := certificate.get("recoded"):
        told = "; ".join(f"{name}: {words}" for name, words in recodings.items())
        text += (
            f"Columns were recoded before anything else ({told}); what they held before is "
            "published nowhere. "
        )
    if rows["values_changed"]:
        text += (
            f"THE METHOD CHANGED {rows['values_changed']:,} VALUES: published values are not all "
            "true. "
        )
    return text
