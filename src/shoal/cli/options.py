"""The options that every command shares, and the Spec they make."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.errors import InputError
from shoal.spec import Spec, parse_event
from shoal.toml_text import read_toml

TableArgument = Annotated[str, typer.Argument(help="The table: a file, a folder, or a URL.")]
SpecOption = Annotated[
    Path | None, typer.Option("--spec", help="TOML file with the spec; options override it.")
]
QiOption = Annotated[str | None, typer.Option("--qi", help="Quasi-identifier columns: a,b,c.")]
SensitiveOption = Annotated[str | None, typer.Option("--sensitive", help="The sensitive column.")]
ProtectOption = Annotated[
    list[str] | None,
    typer.Option(
        "--protect",
        help="A protected event, repeatable: one value, or 'a|b' for several as one; "
        "'a|b@r=5' gives it its own r. Default: each value.",
    ),
]
ROption = Annotated[str | None, typer.Option("-r", "--r", help="Nobody above a chance of 1/r.")]
SupportOption = Annotated[
    int | None,
    typer.Option("--min-support", help="Rows that must share a signature to be known (100)."),
]
AttributesOption = Annotated[
    int | None, typer.Option("--max-attributes", help="Largest number of QIs in a view (all).")
]
ViewOption = Annotated[
    list[str] | None,
    typer.Option("--view", help="An explicit view, repeatable: a,b. Default: every QI subset."),
]
BandOption = Annotated[
    list[str] | None,
    typer.Option("--band", help="A numeric QI that is also known in bands: age=10."),
]
KnowledgeOption = Annotated[
    str | None,
    typer.Option("--knowledge", help="File of outside knowledge instead of the table's own."),
]
IdentifierOption = Annotated[
    str | None, typer.Option("--identifiers", help="Columns that name people: a,b.")
]
MembersOption = Annotated[
    bool,
    typer.Option("--publish-members", help="Publish a set event's member values, not its label."),
]
SeparatorOption = Annotated[
    str | None, typer.Option("--separator", help="The CSV's separator, if it is not found out.")
]
EncodingOption = Annotated[
    str | None, typer.Option("--encoding", help="The CSV's encoding, such as latin-1 (utf-8).")
]
HierarchyOption = Annotated[
    list[str] | None,
    typer.Option("--hierarchy", help="A QI's hierarchy file, repeatable: age=age.csv."),
]
AdultHierarchiesOption = Annotated[
    bool, typer.Option("--adult-hierarchies", help="Use the hierarchies that come for Adult.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


def make_spec(
    *,
    spec: Path | None,
    qi: str | None,
    sensitive: str | None,
    protect: list[str] | None,
    r: str | None,
    min_support: int | None,
    max_attributes: int | None,
    view: list[str] | None,
    band: list[str] | None,
    knowledge: str | None,
    identifiers: str | None,
    publish_members: bool,
) -> Spec:
    """The spec of a file, with what the options say instead."""
    given: dict[str, Any] = dict(read_toml(spec)) if spec else {}
    options: dict[str, Any] = {
        "qi": _split(qi),
        "sensitive": sensitive,
        "protect": [parse_event(text) for text in protect] if protect else None,
        "r": r,
        "min_support": min_support,
        "max_attributes": max_attributes,
        "views": [_split(text) for text in view] if view else None,
        "bands": dict(_band(text) for text in band) if band else None,
        "knowledge": knowledge,
        "identifiers": _split(identifiers),
        "publish_members": publish_members or None,
    }
    given.update({key: value for key, value in options.items() if value is not None})
    for key, option in (("qi", "--qi a,b,c"), ("sensitive", "--sensitive X"), ("r", "-r 10")):
        if key not in given:
            raise InputError(
                "spec-missing", f'Nothing says "{key}".', f"Add {option}, or put it into --spec."
            )
    return Spec.from_mapping(given, source=str(spec) if spec else "The spec")


def read_hierarchies(given: list[str] | None, *, adult: bool) -> dict[str, Any]:
    """Hierarchies by attribute, from `name=file` options and from the package."""
    from shoal.hierarchy import adult_hierarchies, read_hierarchy

    found: dict[str, Any] = dict(adult_hierarchies()) if adult else {}
    for text in given or []:
        name, mark, file = text.partition("=")
        if not mark:
            raise InputError(
                "hierarchy-option",
                f'--hierarchy "{text}" is not understood.',
                "Write it as age=age.csv.",
            )
        found[name] = read_hierarchy(file, name=name)
    return found


def _split(text: str | None) -> list[str] | None:
    return [part.strip() for part in text.split(",") if part.strip()] if text is not None else None


def _band(text: str) -> tuple[str, float]:
    name, _, width = text.rpartition("=")
    try:
        return name, float(width)
    except ValueError:
        raise InputError(
            "band-width", f'--band "{text}" is not understood.', "Write it as age=10."
        ) from None
