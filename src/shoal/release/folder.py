"""A release as a folder: tables, data package, certificate, and a page for whoever receives it.

Written to one side and moved into place at the end, so that a crash or a full disk leaves the old
folder or none. What must stay inside goes to a folder of its own.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from shoal.errors import InputError
from shoal.release import GID, Release
from shoal.release.readme import readme_text
from shoal.release.totals import no_totals
from shoal.sources import read_table, replace_folder, write_parts, write_table
from shoal.spec import Spec

if TYPE_CHECKING:
    from shoal.facts import Facts

CERTIFICATE, PACKAGE, README = "certificate.json", "datapackage.json", "README.txt"
FORMATS = ("csv", "parquet")
QUALITY = ("auc", "expected", "carriers", "calibration")
FIGURES = ("worst_posterior", "problematic", "undecided")
COUNTED = (
    "kept",
    "classes",
    "certain_classes",
    "carriers_in_worst_view",
    "certain_in_worst_view",
)
UNIT, ZONE = "timeUnit", "timeZone"
"""What a datetime column is read with, where it is not in microseconds or has a time zone."""
_PARTS: dict[str, Any] = {
    "spec": dict,
    "form": str,
    "r": float | int,
    "events": list,
    "knowledge": dict,
    "audit": dict,
    "rows": dict,
    "groups": dict,
    "totals": dict,
    "files": dict,
}
TABLES = ("qi", "sensitive", "members", "ranges", "totals")


def save(
    release: Release,
    path: Path,
    *,
    format: str,
    force: bool,
    private: str | Path | None,
    facts: Facts | None,
) -> None:
    """Writes the release to `path`, and the publisher's own records to `private`."""
    if format not in FORMATS:
        raise InputError(
            "release-format", f'There is no format "{format}".', "Choose csv or parquet."
        )
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
    _refuse_inexact(release, format)
    # Nothing but the writing itself can fail after this.
    records = None if private is None else (Path(private), _facts_of(release, facts))
    with replace_folder(path, force=force, marker=CERTIFICATE) as folder:
        names = _write_tables(release, folder, format)
        (folder / PACKAGE).write_text(_json(data_package(release, names)), encoding="utf-8")
        (folder / README).write_text(readme_text(release, names), encoding="utf-8")
        files = [*names.values(), PACKAGE, README]
        certificate = {**release.certificate, "files": _describe(folder, files)}
        (folder / CERTIFICATE).write_text(_json(certificate), encoding="utf-8")
        if records is not None:
            _save_private(release, *records, force=force)


def load(path: Path) -> Release:
    """The release in a folder; nothing is checked but that it can be read."""
    certificate = read_certificate(path)
    fields = _fields(path)
    files = {
        Path(name).stem: path / name
        for name in certificate["files"]
        if Path(name).stem in TABLES and Path(name).suffix[1:] in FORMATS
    }
    tables = {name: read_published(file, fields.get(name, {})) for name, file in files.items()}
    for needed in TABLES[:3]:
        if needed not in tables:
            raise InputError(
                "release-incomplete", f"{path} lacks its {needed} table.", "Get it again, whole."
            )
    return Release(
        spec=Spec.from_mapping(certificate["spec"], source=str(path / CERTIFICATE)),
        form=certificate["form"],
        qi=tables["qi"],
        sensitive=tables["sensitive"],
        members=tables["members"],
        ranges=tables.get("ranges"),
        totals=tables.get("totals", no_totals()),
        certificate={key: value for key, value in certificate.items() if key != "files"},
        loaded_from=files["qi"].suffix[1:],
    )


def read_certificate(path: Path) -> dict[str, Any]:
    """The certificate of a release folder, or an InputError."""
    if not (path / CERTIFICATE).is_file():
        raise InputError(
            "release-not", f"{path} holds no {CERTIFICATE}.", "Name the folder of a release."
        )
    try:
        certificate = json.loads((path / CERTIFICATE).read_text(encoding="utf-8"))
        whole = all(isinstance(certificate[name], kind) for name, kind in _PARTS.items())
        whole = whole and _says_verdicts(certificate["audit"])
        whole = whole and isinstance(certificate["totals"]["told"], dict)
        whole = whole and type(certificate["totals"]["linked_above"]) is int
        whole = whole and _describes_models(certificate["knowledge"])
        whole = whole and all(isinstance(file, dict) for file in certificate["files"].values())
    except (ValueError, KeyError, TypeError, AttributeError):
        whole = False
    if not whole:
        raise InputError(
            "certificate-damaged",
            f"{path / CERTIFICATE} is no certificate that shoal can read.",
            "Get the release again.",
        )
    return certificate  # type: ignore[no-any-return]


def _says_verdicts(audit: dict[str, Any]) -> bool:
    """Whether the audit's part names adversaries, each with its verdict and figures."""
    return (
        bool(audit["adversaries"])
        and all(
            isinstance(one.get("name", "audit"), str)
            and (one["robust"] is None or isinstance(one["robust"], bool))
            and all(type(one[key]) in (int, float) for key in FIGURES)
            for one in [audit, *audit["adversaries"]]
        )
        and all(isinstance(one["name"], str) for one in audit["adversaries"])
        and all(type(audit["counter"][key]) in (bool, int) for key in COUNTED)
        and all(type(audit["absence"][key]) in (bool, int) for key in ("kept", "carriers"))
    )


def _describes_models(knowledge: dict[str, Any]) -> bool:
    """Whether it says of every model which view it is, and which file goes with it."""
    models = knowledge.get("models", [])
    return isinstance(models, list) and all(
        all(isinstance(one[key], str) for key in ("view", "file", "sha256"))
        and type(one["folds"]) in (int, type(None))
        and all(_is_quality(of) for of in one["quality"])
        for one in models
    )


def _is_quality(of: dict[str, Any]) -> bool:
    return all(type(of[key]) in (int, float, type(None)) for key in QUALITY)


def read_published(path: Path, fields: dict[str, dict[str, Any]]) -> pl.DataFrame:
    """One published table, with values and types as they were before they became CSV."""
    if path.suffix == ".parquet":
        return read_table(path)
    frame = read_table(path, unguard=True, separator=",", as_text=True)
    try:
        return pl.DataFrame([_typed(column, fields.get(column.name, {})) for column in frame])
    except (pl.exceptions.PolarsError, ValueError, TypeError):
        raise InputError(
            "release-types",
            f"{path} holds something else than {PACKAGE} says.",
            "Get the release again.",
        ) from None


def _typed(column: pl.Series, field: dict[str, Any]) -> pl.Series:
    """A column of CSV cells as what the data package says that it is."""
    text = column.set(column == "", None)
    kind = field.get("type", "string")
    if kind == "integer":
        short = text.cast(pl.Int64, strict=False)
        return short if short.null_count() == text.null_count() else text.cast(pl.UInt64)
    if kind == "number":
        return text.cast(pl.Float64)
    if kind == "date":
        return text.str.to_date()
    if kind == "time":
        return text.str.to_time()
    if kind != "datetime":
        return text
    unit, zone = field.get(UNIT, "us"), field.get(ZONE)
    if zone is None:
        return text.str.to_datetime(time_unit=unit)
    # Each cell ends with its offset from UTC, so that it is clear also when clocks are set back.
    return text.str.to_datetime(time_unit=unit, time_zone="UTC").dt.convert_time_zone(zone)


def _fields(path: Path) -> dict[str, dict[str, dict[str, Any]]]:
    """What the data package says of every table's columns."""
    try:
        described = json.loads((path / PACKAGE).read_text(encoding="utf-8"))
        return {
            resource["name"]: {
                one["name"]: {"type": one["type"], **one} for one in resource["schema"]["fields"]
            }
            for resource in described["resources"]
        }
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError(
            "package-damaged", f"{path / PACKAGE} cannot be read.", "Get the release again."
        ) from None


def _refuse_inexact(release: Release, format: str) -> None:
    """An InputError for a column whose values would not be the same when they are read again."""
    for column in (column for frame in release.frames.values() for column in frame):
        decimal = column.dtype == pl.Decimal  # in either format they are read as floats
        problem = _lost_in_csv(column) if decimal or format == "csv" else ""
        if problem and decimal:
            raise InputError(
                "decimal-long",
                f'"{column.name}" holds decimals with more digits than a float can keep apart.',
                "Turn it into text first.",
            )
        if problem:
            raise InputError(
                "csv-inexact",
                f'"{column.name}" holds {problem}, which cannot be read back from CSV exactly.',
                "Save the release in the format parquet.",
            )


def _lost_in_csv(column: pl.Series) -> str:
    """What a column holds that CSV would lose, or an empty text."""
    dtype = column.dtype
    if dtype.is_integer() and dtype not in (pl.Int128, pl.UInt128):
        return ""
    values = column.unique()
    if dtype in (pl.String, pl.Categorical, pl.Enum):
        broken = values.cast(pl.String).str.contains("\0", literal=True).any()
        return "a NUL character" if broken else ""
    values = values.drop_nulls()
    cells = pl.read_csv(values.to_frame().write_csv().encode(), infer_schema=False).to_series()
    try:
        same = _typed(cells, _field(values)).cast(dtype).equals(values)
    except pl.exceptions.PolarsError:
        same = False
    return "" if same else str(dtype)


def sha256(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def data_package(release: Release, names: dict[str, str]) -> dict[str, Any]:
    """The Frictionless description of the folder, with the key between the two tables."""
    frames = release.frames
    resources = []
    for name, file in names.items():
        schema: dict[str, Any] = {"fields": [_field(column) for column in frames[name]]}
        if name == "qi":
            schema["foreignKeys"] = [
                {"fields": [GID], "reference": {"resource": "sensitive", "fields": [GID]}}
            ]
        resource: dict[str, Any] = {"name": name, "path": file, "schema": schema}
        resource |= {"profile": "tabular-data-resource", "encoding": "utf-8"}
        if file.endswith(".parquet"):
            resource |= {"profile": "data-resource", "format": "parquet"}
        resources.append(resource)
    return {"profile": "data-package", "name": "release", "resources": resources}


def _write_tables(release: Release, folder: Path, format: str) -> dict[str, str]:
    names = {}
    for name, frame in release.frames.items():
        names[name] = f"{name}.{format}"
        if release.engine is None:
            write_table(frame, folder / names[name])
        else:
            release.engine.write(frame, folder / names[name])
    return names


def _describe(folder: Path, files: list[str]) -> dict[str, Any]:
    return {
        file: {"sha256": sha256(folder / file), "bytes": (folder / file).stat().st_size}
        for file in files
    }


def _facts_of(release: Release, given: Facts | None) -> Facts:
    """What a report says of the release: as given, or gathered from its table."""
    from shoal.facts import certificate_digest, release_facts

    known = release.row_groups is not None and release.audit is not None
    if known and given is not None:
        if given.certificate != certificate_digest(release.certificate):
            raise InputError(
                "facts-other",
                "The facts given for the report are those of another release.",
                "Leave them out: they are gathered when the release is saved.",
            )
        return given
    if known and release.table is not None:
        return release_facts(release, release.table)
    raise InputError(
        "private-unknown",
        "This release has no private records: it was loaded, or its rows stayed elsewhere.",
        "Save them when the release is made, of a table whose rows are here.",
    )


def _save_private(release: Release, path: Path, facts: Facts, *, force: bool) -> None:
    """The group of every row, everybody's worst case, the seed, what models say: never part of the
    release."""
    from shoal.facts import keep_facts

    assert release.audit is not None, "facts are those of an audit"
    with replace_folder(path, force=force, marker="row_groups.parquet") as folder:
        rows = pl.DataFrame({GID: release.row_groups}).with_row_index("row")
        write_table(rows, folder / "row_groups.parquet")
        risks = (part.drop("group") for part in release.audit.risks.slices())
        write_parts(risks, folder / "row_risks.parquet")
        (folder / "audit.json").write_text(_json(release.audit.to_dict()), encoding="utf-8")
        (folder / "spec.toml").write_text(release.spec.to_toml(), encoding="utf-8")
        (folder / "seed.json").write_text(_json({"seed": release.seed}), encoding="utf-8")
        for name, content in release.models.items():
            (folder / name).write_bytes(content)
        keep_facts(facts, folder)


def _field(column: pl.Series) -> dict[str, Any]:
    """What the data package says of a column: its type, and what else reading it takes."""
    dtype = column.dtype
    field: dict[str, Any] = {"name": column.name, "type": _field_type(dtype)}
    if isinstance(dtype, pl.Datetime):
        field |= {} if dtype.time_unit == "us" else {UNIT: dtype.time_unit}
        field |= {} if dtype.time_zone is None else {ZONE: dtype.time_zone}
    return field


def _field_type(dtype: pl.DataType) -> str:
    if dtype.is_integer():
        return "integer"
    if dtype.is_numeric():
        return "number"
    kinds = {pl.Date: "date", pl.Datetime: "datetime", pl.Time: "time"}
    return kinds.get(dtype.base_type(), "string")


def _inside(inner: Path, outer: Path) -> bool:
    return inner.resolve().is_relative_to(outer.resolve())


def _json(data: Any) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
