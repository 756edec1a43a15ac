"""Real files of every kind that shoal reads, and how each is read."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import xlsxwriter
from pyarrow import ipc, parquet

import shoal
from shoal.data.sources import read_table
from shoal.data.storage import recover_folder
from shoal.data.table.hierarchy import read_hierarchy
from shoal.release.facts import load_facts

SPEC = shoal.Spec(
    qi=["sex", "region"], sensitive="diagnosis", protect=[["HIV", "Schizophrenia"]], r=3
)
TABLE = shoal.datasets.hospital(300, seed=0)


@dataclass(frozen=True)
class Sample:
    """A whole file, where a mutated one goes, and what reads it there."""

    content: bytes
    place: Path
    read: Callable[[], Any]


def make_samples(folder: Path) -> dict[str, Sample]:
    """Every kind of file, by name; mutated ones go into the folder too."""
    frame = TABLE.with_columns(
        code=pl.format("0{}", pl.int_range(300) % 7),
        weight=pl.int_range(300) / 7,
        day=pl.date(2020, 1, 1) + pl.duration(days=pl.int_range(300)),
        kind=pl.col("region").cast(pl.Categorical),
        sure=pl.int_range(300) % 3 == 0,
    )
    text = frame.write_csv().encode()
    made = {
        "t.csv": text,
        "u.csv": (frame.write_csv(separator=";") + 'a;"b\nc"\n').encode(),
        "t.csv.gz": gzip.compress(text, mtime=0),
        "t.xlsx": _workbook(frame.drop("kind"), folder / "whole.xlsx"),
        "t.parquet": _parquet(frame, "zstd"),
        "u.parquet": _parquet(frame, "none"),
        "t.arrow": _arrow(frame, "zstd"),
        "u.arrow": _arrow(frame, None),
    }
    samples = {
        name: Sample(content, folder / name, partial(read_table, folder / name))
        for name, content in made.items()
    }
    return {**samples, **_small_files(folder), **_release_files(folder)}


def _small_files(folder: Path) -> dict[str, Sample]:
    spec = SPEC.with_(qi=["age", "sex"], recode={"age": {"bands": 10}}).to_toml().encode()
    regions = TABLE["region"].unique().sort().to_list()
    wide = "".join(f"{one};{one[:1]};*\n" for one in regions).encode()
    groups = {one[:1]: [two for two in regions if two[:1] == one[:1]] for one in regions}
    nested = "[groups]\n" + "".join(
        f"{json.dumps(k)} = {json.dumps(v)}\n" for k, v in groups.items()
    )
    known = b"sex,value,probability\nF,HIV,0.02\nM,HIV,0.03\n,Schizophrenia,0.01\n"
    listed = SPEC.with_(protect=[[f"@{folder / 'codes.txt'}"]])
    table = shoal.Table.from_frame(TABLE, SPEC)
    return {
        "spec.toml": Sample(
            spec,
            folder / "spec.toml",
            lambda: shoal.Spec.from_toml(folder / "spec.toml"),
        ),
        "wide.csv": Sample(
            wide, folder / "wide.csv", lambda: read_hierarchy(folder / "wide.csv", name="region")
        ),
        "nested.toml": Sample(
            nested.encode(),
            folder / "nested.toml",
            lambda: read_hierarchy(folder / "nested.toml", name="region"),
        ),
        "known.csv": Sample(
            known,
            folder / "known.csv",
            lambda: shoal.Knowledge.of(table, folder / "known.csv"),
        ),
        "codes.txt": Sample(
            b"HIV\nSchizophrenia\n",
            folder / "codes.txt",
            lambda: shoal.Table.from_frame(TABLE, listed),
        ),
    }


def _release_files(folder: Path) -> dict[str, Sample]:
    """The files of a release and of its private folder, each with the others whole."""
    release, private = folder / "release", folder / "private"
    shoal.anonymize(TABLE, SPEC, seed=0).save(release, private=private)
    samples = {}
    for file in sorted(release.iterdir()):
        samples[f"release/{file.name}"] = Sample(
            file.read_bytes(), file, lambda: shoal.verify(release, TABLE, private=private)
        )
    for name in ("release.json", "row_groups.parquet"):
        samples[f"private/{name}"] = Sample(
            (private / name).read_bytes(),
            private / name,
            lambda: shoal.verify(release, TABLE, private=private),
        )
    samples["private/report.json"] = Sample(
        (private / "report.json").read_bytes(),
        private / "report.json",
        lambda: load_facts(private),
    )
    notice = folder / ".other.shoal-moves"
    moves = {".other.shoal-new-1": "00", ".another.shoal-new-2": "11"}
    samples["notice"] = Sample(
        json.dumps(moves).encode(), notice, lambda: recover_folder(folder / "other")
    )
    return samples


def _workbook(frame: pl.DataFrame, path: Path) -> bytes:
    with xlsxwriter.Workbook(path) as book:
        frame.write_excel(book)
    return path.read_bytes()


def _parquet(frame: pl.DataFrame, packed: str) -> bytes:
    out = pa.BufferOutputStream()
    parquet.write_table(frame.to_arrow(), out, compression=packed, row_group_size=100)
    return out.getvalue().to_pybytes()  # type: ignore[no-any-return]


def _arrow(frame: pl.DataFrame, packed: str | None) -> bytes:
    table, out = frame.to_arrow(), pa.BufferOutputStream()
    with ipc.new_file(out, table.schema, options=ipc.IpcWriteOptions(compression=packed)) as writer:
        writer.write_table(table, max_chunksize=100)
    return out.getvalue().to_pybytes()  # type: ignore[no-any-return]
