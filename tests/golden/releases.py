"""Releases of fixed tables by every method, and the hashes of all that they write but words: those
of README.txt, and which code wrote them.

`python -m tests.golden.releases` renews `hashes.json`: only for a change that is meant to alter
published bytes, in a commit that says so.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import numpy as np
import polars as pl

import shoal
from shoal.data.datasets import HOSPITAL_EVENT, HOSPITAL_QI, HOSPITAL_SENSITIVE, hospital
from shoal.file_names import CERTIFICATE
from shoal.release.folder import README
from shoal.release.stated import as_json

HASHES = Path(__file__).with_name("hashes.json")
METHODS = {
    "art": {},
    "art-bound": {"condition": "bound", "max_suppression": 1},
    "art-generalized": {"form": "generalized"},
    "anatomy": {},
    "mask": {},
    "injector": {},
    "t-closeness": {"t": 0.5, "max_suppression": 0.5},
    "mondrian": {},
}
FORMATS = ("csv", "parquet")


def hospital_table() -> tuple[pl.DataFrame, shoal.Spec]:
    spec = shoal.Spec(
        qi=HOSPITAL_QI[:3],
        sensitive=HOSPITAL_SENSITIVE,
        protect=[shoal.Event(HOSPITAL_EVENT, label="grave")],
        identifiers=["patient"],
        r=3,
    )
    return hospital(1500, 3), spec


def hostile_table() -> tuple[pl.DataFrame, shoal.Spec]:
    """Missing values, texts that CSV, SQL, HTML and spreadsheets stumble over, dates, events."""
    rng = np.random.default_rng(11)
    rows = 900
    places = ["=1+1", "-A", "it's", 'say "so"', "</script>", "é\u202eb", " ; ,", "@x", None]
    values = ["-cold", "'flu", "+HIV", "a\nb", "=cough", '"ulcer"', None, "söre", "x;y", "rash"]
    frame = pl.DataFrame(
        {
            "place, quoted": rng.choice(np.array(places, object), rows).tolist(),
            "age": [None if age == 29 else int(age) for age in rng.integers(20, 30, rows)],
            "born": [date(1990, 1, 1 + int(day)) for day in rng.integers(0, 4, rows)],
            'ill"ness': rng.choice(
                np.array(values, object),
                rows,
                p=[0.15, 0.15, 0.02, 0.15, 0.15, 0.03, 0.1, 0.1, 0.1, 0.05],
            ).tolist(),
        }
    )
    spec = shoal.Spec(
        qi=["place, quoted", "age", "born"],
        sensitive='ill"ness',
        protect=[["+HIV"], {"values": ['"ulcer"'], "r": 4}],
        r=3,
        min_support=40,
    )
    return frame, spec


TABLES = {"hospital": hospital_table, "hostile": hostile_table}


def cases() -> list[tuple[str, str]]:
    return [(table, method) for table in TABLES for method in METHODS]


def hashes(table: str, method: str) -> Iterator[tuple[str, str]]:
    """The name and the hash of each file of the release in both formats, private ones included."""
    frame, spec = TABLES[table]()
    name = method.removesuffix("-generalized").removesuffix("-bound")
    release = shoal.anonymize(frame, spec, method=name, seed=7, **METHODS[method])
    with tempfile.TemporaryDirectory() as scratch:
        for kind in FORMATS:
            folder, private = Path(scratch, kind), Path(scratch, f"{kind}-private")
            release.save(folder, format=kind, private=private)
            for file in (*sorted(folder.iterdir()), private / "row_groups.parquet"):
                if file.name != README:
                    digest = hashlib.sha256(_without_words(file)).hexdigest()
                    yield f"{table} {method} {kind} {file.name}", digest


def _without_words(file: Path) -> bytes:
    """A file; of a certificate what no change of words changes."""
    if file.name != CERTIFICATE:
        return file.read_bytes()
    told = json.loads(file.read_text("utf-8"))
    del told["software"], told["files"][README]
    return as_json(told).encode("utf-8")


def _main() -> None:
    found = dict(line for case in cases() for line in hashes(*case))
    HASHES.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    _main()
