"""The words and bytes of a release folder: made again from its tables and its certificate.

What a page or a description says has to follow from the certificate, and a file may hold nothing
besides its table: neither a note nor a way of writing that marks people.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from itertools import chain, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from shoal._version import software
from shoal.data.sources import read_table
from shoal.data.sources.guard import guarded
from shoal.data.sources.write import parquet_again
from shoal.data.spec import Spec
from shoal.data.table import Table
from shoal.engines import Runs
from shoal.errors import InputError
from shoal.release import Release
from shoal.release.certificate import public_spec
from shoal.release.folder import LARGE, README, data_package, table_files
from shoal.release.labelled import Labelled
from shoal.release.numbering import misplaced
from shoal.release.pair import sha256
from shoal.release.readme import readme_text
from shoal.release.stated import FORMAT, as_json
from shoal.release.typed import PACKAGE, described_fields, field_of, read_runs
from shoal.release.verification.files import Claim

ARROW_SCHEMA = b"ARROW:schema"
"""The one note that a Parquet file holds: the types of its columns."""
SPARK_NOTES = (b"org.apache.spark.version", b"org.apache.spark.sql.parquet.row.metadata")
SPARK_KINDS = {
    *("string", "boolean", "byte", "short", "integer", "long", "float", "double"),
    *("date", "timestamp", "timestamp_ntz"),
}


def same_software(certificate: dict[str, Any]) -> bool:
    """Whether this version of shoal knows the order and the spelling of a release."""
    versions = [one.partition("+")[0] for one in (certificate["software"], software())]
    return certificate["format"] == FORMAT and versions[0] == versions[1]


def same_words(certificate: dict[str, Any]) -> bool:
    """Whether this very code wrote README.txt."""
    return bool(certificate["software"] == software())


def check_texts(folder: Path, release: Release) -> list[Claim]:
    """All that can be seen without the original table."""
    names = table_files(file.name for file in folder.iterdir())
    for name in names:
        if name not in (*LARGE, *release.small_frames):
            return [Claim("written plainly", False, f"{names[name]}: it has no line")]
    plain = _check_bytes(folder, release, names)
    if not same_software(release.certificate):
        return [plain, _check_fields(folder, release)]
    return [
        plain,
        _check_order(release),
        _check_spec(release),
        _check_readme(folder, release, names),
        _check_package(folder, release, names),
    ]


def _check_order(release: Release) -> Claim:
    fault = misplaced(release)
    places = _listed(release.spec)
    pairs = list(release.members[["event", "value"]].iter_rows())
    told = [places.get(pair, -1) for pair in pairs]
    in_order = all(one <= other for one, other in pairwise([0, *told]))
    if not fault and (not in_order or len(set(pairs)) < len(pairs)):
        fault = "the values behind labels are not listed in the order of the spec"
    if not fault and release.ranges is not None:
        lines = release.ranges.unique().sort("attribute", "label", "value")
        fault = "" if lines.equals(release.ranges) else "ranges are not in the order of their texts"
    return Claim("order", not fault, fault)


def _listed(spec: Spec) -> dict[tuple[str, str], int]:
    """The places of events and the values behind their labels; of several columns, with their
    names. The values of an event in several columns stand in each column's own order, which the
    spec does not tell."""
    several, places = len(spec.sensitive_columns) > 1, dict[tuple[str, str], int]()
    for column in spec.sensitive_columns:
        alone = spec.alone(column).protect or ()
        shared = [len(one.column) > 1 for one in spec.protect or () if column in one.column]
        for event, in_several in zip(alone, shared or [False] * len(alone), strict=True):
            label, first = f"{column}: {event.label}" if several else event.label, len(places)
            for number, value in enumerate(event.values if event.is_set else ()):
                places[label, value] = first if in_several else first + number
    return places


def _check_spec(release: Release) -> Claim:
    """Whether the spec is written as shoal writes it, and nothing else is hidden in it."""
    said = json.dumps(release.certificate["spec"], sort_keys=True)
    same = said == json.dumps(public_spec(release.spec), sort_keys=True)
    return Claim.of("spec", same, "it is not written as shoal writes it")


def _check_readme(folder: Path, release: Release, names: dict[str, str]) -> Claim:
    if not same_words(release.certificate):
        return Claim(README, True, "other code wrote it; it has the hash that was stated")
    same = (folder / README).read_bytes() == readme_text(release, names).encode("utf-8")
    return Claim.of(README, same, "it says something else than the tables")


def _check_package(folder: Path, release: Release, names: dict[str, str]) -> Claim:
    same = (folder / PACKAGE).read_bytes() == as_json(data_package(release, names)).encode("utf-8")
    return Claim.of(PACKAGE, same, "it says something else than the tables")


def _check_fields(folder: Path, release: Release) -> Claim:
    """All that is asked of a data package that another version wrote: the columns of the tables."""
    try:
        fields = described_fields(folder)
    except InputError:
        return Claim(PACKAGE, False, "it cannot be read")
    tables = release.large.items()
    same = all(list(fields.get(name, ())) == runs.columns for name, runs in tables)
    return Claim.of(PACKAGE, same, "its schema differs from the tables")


def _check_bytes(folder: Path, release: Release, names: dict[str, str]) -> Claim:
    """Whether files hold their tables and nothing else."""
    for name, table in names.items():
        for file in release.parted.get(name, [table]):
            if file.endswith(".csv"):
                fault = _strange_csv(folder / file, *_cells(folder, file, release, name))
            elif file.endswith(".parquet"):
                fault = _strange_parquet(folder / file)
            else:
                fault = _strange_labelled(folder / file, release, name)
            if fault:
                return Claim("written plainly", False, f"{file}: {fault}")
    return Claim("written plainly", True)


def _cells(
    folder: Path, file: str, release: Release, name: str
) -> tuple[pl.DataFrame | Runs, pl.DataFrame]:
    """What a file has of a table, as it is written, and what its cells stand for."""
    if name in release.parted:
        values, written = read_runs([folder / file], described_fields(folder)[name])
        return written, values.lines if isinstance(values, Runs) else values
    if name in LARGE:
        return release.written[name], release.large[name].lines
    cells = read_table(folder / file, separator=",", as_text=True)
    return cells.with_columns(pl.all().replace("", None)), release.small_frames[name]


def _strange_csv(file: Path, cells: pl.DataFrame | Runs, values: pl.DataFrame) -> str:
    """`cells` is the table as it is written; `values`, line by line the same (of runs, each once),
    what its cells stand for."""
    parts = cells.slices() if isinstance(cells, Runs) else [cells]
    if not _same_bytes(
        file, (part.write_csv(include_header=False) for part in parts), cells.columns
    ):
        return "cells are not written as shoal writes them"
    lines = cells.lines if isinstance(cells, Runs) else cells
    for texts, column in zip(lines, values, strict=True):
        is_text = column.dtype in (pl.String, pl.Enum, pl.Categorical)
        if not (_guarded_alike if is_text else _written_alike)(texts, column):
            return f'"{column.name}" is not written as shoal writes it'
    return ""


def _same_bytes(file: Path, parts: Iterable[str], columns: list[str]) -> bool:
    """Whether a file is made of a header and these parts, and of nothing else."""
    header = pl.DataFrame(schema=dict.fromkeys(columns, pl.String)).write_csv()
    with file.open("rb") as stream:
        for part in chain([header], parts):
            data = part.encode("utf-8")
            if stream.read(len(data)) != data:
                return False
        return not stream.read(1)


def _guarded_alike(texts: pl.Series, values: pl.Series) -> bool:
    """Whether texts stand behind an apostrophe where they have to, and nowhere else."""
    shown = guarded(values.cast(pl.String).alias(values.name).to_frame()).to_series()
    return shown.name == texts.name and shown.equals(texts)


def _written_alike(texts: pl.Series, values: pl.Series) -> bool:
    """Whether each value is written in one way, and numbers in the usual one; decimals, which are
    read as floats, have equally many digits behind the point."""
    pairs = pl.DataFrame({"text": texts, "value": values}).unique()
    if texts.n_unique() != pairs.height or values.n_unique() != pairs.height:
        return False
    pairs = pairs.drop_nulls()
    if not values.dtype.is_numeric() or not pairs.height:
        return True
    usual = pairs.select("value").write_csv(include_header=False).splitlines()
    if usual == pairs["text"].to_list():
        return True
    parts = pairs["text"].str.extract_groups(r"^-?(0|[1-9][0-9]*)\.([0-9]+)$")
    digits = parts.struct[1].str.len_bytes()
    return values.dtype.is_float() and digits.null_count() == 0 and digits.n_unique() == 1


def _strange_parquet(file: Path) -> str:
    """A file that is written again, without notes, has to be the same; one that another version of
    the library wrote may differ, but hold no note."""
    from pyarrow.parquet import ParquetFile

    with TemporaryDirectory() as scratch:
        again = Path(scratch) / "again.parquet"
        parquet_again(file, again)
        if sha256(again) == sha256(file):
            return ""
        here, there = ParquetFile(file).metadata, ParquetFile(again).metadata
    notes = {key: text for key, text in (here.metadata or {}).items() if key != ARROW_SCHEMA}
    if here.created_by == there.created_by or (notes and not _notes_of_spark(notes, here)):
        return "it holds more than its table"
    return ""


def _strange_labelled(file: Path, release: Release, name: str) -> str:
    """A file of SPSS or Stata that is written again has to be the same."""
    with TemporaryDirectory() as scratch:
        again = Path(scratch) / file.name
        Labelled(release).write(name, again)
        return "" if sha256(again) == sha256(file) else "it is not written as shoal writes it"


def _notes_of_spark(notes: dict[bytes, bytes], file: Any) -> bool:
    """Whether notes are the two that Spark leaves, its version and the kinds of the columns, and
    say no more."""
    version, kinds = (notes.get(key, b"").decode("utf-8", "replace") for key in SPARK_NOTES)
    if set(notes) != set(SPARK_NOTES) or not re.fullmatch(r"[0-9]{1,2}(\.[0-9]{1,2}){2}", version):
        return False
    try:
        told = [(one["name"], one["type"], one["nullable"]) for one in json.loads(kinds)["fields"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        return False
    keys = ("name", "type", "nullable", "metadata")
    plain = {"type": "struct", "fields": [dict(zip(keys, (*one, {}), strict=True)) for one in told]}
    return (
        [name for name, _, _ in told] == file.schema.names
        and all(kind in SPARK_KINDS and nullable in (True, False) for _, kind, nullable in told)
        and kinds == json.dumps(plain, separators=(",", ":"), ensure_ascii=False)
    )


def check_types(folder: Path, release: Release, table: Table) -> Claim:
    """Whether attributes are described as what they are in the original table."""
    if release.form != "bucketized" or not same_software(release.certificate):
        return Claim("types", True)
    fields = described_fields(folder).get("qi", {})
    for column in table.qi:
        asked, said = field_of(column.values), fields.get(column.name, {})
        if any(said.get(key) != value for key, value in asked.items() if key != "name"):
            return Claim("types", False, f'"{column.name}" is described as something else')
    return Claim("types", True)
