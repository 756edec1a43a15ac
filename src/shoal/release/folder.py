"""A release as a folder: tables, data package, certificate, and a page for whoever receives it.

Written to one side and moved into place at the end, so that a crash or a full disk leaves the old
folder or none. What must stay inside goes to a folder of its own; the two are moved as one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from shoal.data.sources import write_table
from shoal.data.storage import Place, replace_folders
from shoal.engines import default_engine
from shoal.errors import InputError, unknown
from shoal.file_names import CERTIFICATE
from shoal.release import GID, Release
from shoal.release.labelled import LABELLED, Labelled
from shoal.release.ledger import write_chain
from shoal.release.pair import (
    PAIR,
    SEED,
    belong_together,
    files_of,
    name_release,
    parts_among,
    sha256,
)
from shoal.release.people import beside, met, refuse_met
from shoal.release.private import facts_of, keep_ledger, keeper, save_private, whose_people
from shoal.release.readme import readme_text
from shoal.release.stated import as_json, read_certificate, stated_spec
from shoal.release.typed import (
    PACKAGE,
    described_fields,
    field_of,
    guard_of,
    read_published,
    read_runs,
    refuse_inexact,
)

if TYPE_CHECKING:
    from shoal.release.facts import Facts

README = "README.txt"
FORMATS = ("csv", "parquet", *LABELLED)
CSV = {
    "profile": "tabular-data-resource",
    "format": "csv",
    "mediatype": "text/csv",
    "encoding": "utf-8",
    "dialect": {
        "delimiter": ",",
        "quoteChar": '"',
        "doubleQuote": True,
        "lineTerminator": "\n",
        "skipInitialSpace": False,
        "header": True,
    },
}
"""What the data package says of how a CSV is to be read; nothing is left to guesses."""
TABLES = ("qi", "sensitive", "members", "ranges")
LARGE = TABLES[:2]
"""Those that grow with the people published."""


def save(
    release: Release,
    path: Path,
    *,
    format: str,
    force: bool,
    private: str | Path | None,
    record: str | None,
    facts: Facts | None,
    alone: bool = False,
) -> None:
    """Writes the release to `path`, and the publisher's own records to `private`."""
    if format not in FORMATS:
        raise unknown("release-format", f'There is no format "{format}"', format, FORMATS)
    if private is not None and _inside(Path(private), path):
        raise InputError(
            "private-inside",
            f"The private folder {private} would lie inside the release.",
            "Name a folder elsewhere.",
        )
    if private is not None and _inside(path, Path(private)):
        raise InputError(
            "private-around",
            f"The release would lie inside the private folder {private}.",
            "Name a folder elsewhere.",
        )
    if release.ledger is not None and (private is None or record == "cells"):
        raise InputError(
            "ledger-private",
            "A ledger lies in a private folder that says by row who is in which group.",
            "Name a private folder, and keep the record by rows.",
        )
    if private is not None and not alone:
        _refuse_beside(release, path, Path(private))
    refuse_inexact(release, format)
    # Nothing but the writing itself can fail after this.
    kept = None if private is None else facts_of(release, facts)
    keep = None if private is None else keeper(release, record)
    places = [Place(path, CERTIFICATE)]
    places += [] if private is None else [Place(private, SEED)]
    with replace_folders(places, force=force) as (folder, *inside):
        names = _write_tables(release, folder, format)
        tables = [file for name in names.values() for file in files_of(folder, name)]
        release = replace(release, parted=parts_among(tables))
        (folder / PACKAGE).write_text(as_json(data_package(release, names)), encoding="utf-8")
        (folder / README).write_text(readme_text(release, names), encoding="utf-8")
        files = [*tables, PACKAGE, README]
        sealed = {}
        if release.ledger is not None:
            sealed["ledger"] = keep_ledger(release.made, release.ledger, inside[0])
        certificate = {**release.certificate, **sealed, "files": _describe(folder, files)}
        (folder / CERTIFICATE).write_text(as_json(certificate), encoding="utf-8")
        if kept is not None and keep is not None:
            save_private(release, kept, keep, inside[0])
            name_release(inside[0], folder)
            if release.ledger is not None:
                write_chain(release.ledger, (folder / CERTIFICATE).read_bytes(), inside[0])


def _refuse_beside(release: Release, path: Path, private: Path) -> None:
    """An InputError if one of the same people lies there that this one does not follow."""
    people = None if release.made.people is None else whose_people(release)
    chain = () if release.ledger is None else release.ledger.releases
    for found in () if people is None else met(people, beside(path, private), chain):
        raise refuse_met(found)


def private_folder(release: Path, given: str | Path | None = None) -> Path:
    """Where the publisher's own records of a release are, unless they are said to be elsewhere: in
    the folder of that name with -private behind, or, in a run of a project, beside it."""
    if given is not None:
        return Path(given)
    usual, of_run = release.with_name(f"{release.name}-private"), release.with_name("private")
    named = (of_run / PAIR).is_file() and not usual.exists() and belong_together(release, of_run)
    return of_run if named else usual


def load(path: Path) -> Release:
    """The release in a folder; nothing is checked but that it can be read."""
    certificate = read_certificate(path)
    fields = described_fields(path)
    files = table_files(certificate["files"])
    for needed in TABLES[:3]:
        if needed not in files:
            raise InputError(
                "release-incomplete", f"{path} lacks its {needed} table.", "Get it again, whole."
            )
    large = {
        name: read_runs([path / one for one in files_of(path, files[name])], fields.get(name, {}))
        for name in LARGE
    }
    small = {
        name: read_published(path / files[name], fields.get(name, {}))
        for name in files
        if name not in LARGE
    }
    return Release(
        spec=stated_spec(certificate, path),
        form=certificate["form"],
        qi_held=large["qi"][0],
        sensitive_held=large["sensitive"][0],
        written={name: cells for name, (_, cells) in large.items()},
        members=small["members"],
        ranges=small.get("ranges"),
        certificate={key: value for key, value in certificate.items() if key != "files"},
        loaded_from=Path(files["qi"]).suffix[1:],
        parted=parts_among(certificate["files"]),
    )


def table_files(names: Iterable[str]) -> dict[str, str]:
    """The files of tables among all of a folder, or the folders of their parts, by the tables'
    names, in the order of TABLES."""
    kinds = tuple(f".{kind}" for kind in FORMATS)
    tops = (name.partition("/")[0] for name in names)
    found = {Path(name).stem: name for name in tops if name.endswith(kinds)}
    return {name: found[name] for name in TABLES if name in found}


def data_package(release: Release, names: dict[str, str]) -> dict[str, Any]:
    """The Frictionless description of the folder: how each file is read, column by column, and the
    key between the two tables."""
    frames = release.parts
    resources = []
    for name, file in names.items():
        form = Path(file).suffix[1:]
        csv, named = form == "csv", guard_of if form == "csv" else _called(release, form)
        schema: dict[str, Any] = {
            "fields": [
                field_of(column) | _said_of(release, column) | named(column)
                for column in frames[name]
            ]
        }
        if name == "qi":
            schema["foreignKeys"] = [
                {"fields": [GID], "reference": {"resource": "sensitive", "fields": [GID]}}
            ]
        kind = CSV if csv else {"profile": "data-resource", "format": form}
        schema |= {"missingValues": [""]} if csv else {}
        path = list(release.parted[name]) if name in release.parted else file
        resources.append({"name": name, "path": path, **kind, "schema": schema})
    return {"profile": "data-package", "name": "release", "resources": resources}


def _called(release: Release, form: str) -> Callable[[pl.Series], dict[str, str]]:
    """What the data package says of a column's name in files of SPSS and Stata."""
    names = Labelled(release).names if form in LABELLED else {}

    def told(column: pl.Series) -> dict[str, str]:
        short = names.get(column.name, column.name)
        return {} if short == column.name else {"name": short, "title": column.name}

    return told


def _said_of(release: Release, column: pl.Series) -> dict[str, str]:
    """What a column means, how it was recoded or permuted, for its description."""
    words = release.certificate.get("recoded", {}).get(column.name)
    told = [title] if (title := dict(release.spec.titles).get(column.name)) else []
    told += [f"recoded before publication: {words}"] if words else []
    if column.name == release.weight:
        told.append("how many of the group's people with a protected event a person counts as")
    if release.spec.publish_apart and column.name in release.spec.sensitive_columns:
        told.append("permuted by itself within each group")
    return {"description": "; ".join(told)} if told else {}


def _write_tables(release: Release, folder: Path, format: str) -> dict[str, str]:
    write = default_engine().write if release.run is None else release.run.engine.write
    names = {name: f"{name}.{format}" for name in release.parts}
    if format in LABELLED:
        for name, file in names.items():
            Labelled(release).write(name, folder / file)
        return names
    for name, runs in release.large.items():
        write(runs, folder / names[name])
    for name, frame in release.small_frames.items():
        write_table(frame, folder / names[name])
    return names


def _describe(folder: Path, files: list[str]) -> dict[str, Any]:
    return {
        file: {"sha256": sha256(folder / file), "bytes": (folder / file).stat().st_size}
        for file in files
    }


def _inside(inner: Path, outer: Path) -> bool:
    return inner.resolve().is_relative_to(outer.resolve())
