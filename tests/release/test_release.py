"""A release in memory and as a folder: what is in it, what never is, and how it is written."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import frictionless
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shoal
from shoal.auditing.adversaries.adversary import USUAL
from shoal.data.datasets import HOSPITAL_EVENT, HOSPITAL_QI, HOSPITAL_SENSITIVE, hospital
from shoal.data.spec import Event, Spec
from shoal.data.table import Table
from shoal.engines.dealing import deal
from shoal.errors import InputError
from shoal.groups import Grouping
from shoal.plain import plain
from shoal.release import Release
from shoal.release.readme import readme_text
from shoal.release.tables import build_tables, canonical

SPEC = Spec(
    qi=HOSPITAL_QI[:3],
    sensitive=HOSPITAL_SENSITIVE,
    protect=(Event(HOSPITAL_EVENT, label="grave"),),
    identifiers=("patient",),
    r=3,
)
FRAME = hospital(1500, 3)
SUPPORT = 30
"""What min_support is of 1,500 rows: a fiftieth."""
FILES = {"qi.csv", "sensitive.csv", "members.csv"}
FOLDER = FILES | {"certificate.json", "datapackage.json", "README.txt"}


@pytest.fixture(scope="module")
def release() -> Release:
    return shoal.anonymize(FRAME, SPEC, seed=0)


@pytest.fixture(scope="module")
def generalized() -> Release:
    return shoal.anonymize(FRAME, SPEC, form="generalized")


def texts(folder: Path) -> str:
    return "\n".join(file.read_text(encoding="utf-8") for file in folder.iterdir())


def test_the_certificate_says_what_is_claimed(release: Release) -> None:
    claimed = release.certificate
    assert claimed["r"] == 3
    assert claimed["spec"]["qi"] == SPEC.qi
    assert claimed["knowledge"]["min_support"] == SUPPORT
    assert [one["name"] for one in claimed["audit"]["adversaries"]] == [*USUAL]
    judged = 2 * len(claimed["knowledge"]["views"]) * claimed["groups"]["with_event"]
    assert claimed["audit"]["posteriors"] == {"exact": judged, "bound": 0, "estimate": 0}
    assert claimed["limit"] == "absolute"
    (event,) = claimed["events"]
    assert event["label"] == "grave"
    assert 0 < event["worst_posterior"] == claimed["audit"]["worst_posterior"] <= 1 / 3
    assert claimed["rows"]["table"] == 1500
    assert claimed["software"].startswith(f"shoal {shoal.__version__}+")
    assert claimed["seed"] == {"given": True, "value": 0}
    assert release.robust is True
    beside = claimed["audit"]["adversaries"][-1]
    assert beside["name"] == "all-views"
    assert beside["robust"] is (beside["problematic"] == beside["missing"] == 0)


def test_set_events_stand_under_their_label_with_totals_apart(release: Release) -> None:
    shown = set(release.sensitive[HOSPITAL_SENSITIVE])
    assert "grave" in shown
    assert not shown & set(HOSPITAL_EVENT)
    expected = FRAME[HOSPITAL_SENSITIVE].value_counts()
    totals = dict(expected.rows())
    found = {value: count for _, value, count in release.members.rows()}
    assert found == {value: totals.get(value, 0) for value in HOSPITAL_EVENT}


def test_both_tables_are_sorted_so_that_order_says_nothing(release: Release) -> None:
    assert release.qi.columns == ["gid", *SPEC.qi, "weight"]
    assert release.qi.equals(release.qi.sort("gid", *SPEC.qi, "weight", nulls_last=True))
    held = [(gid, value) for gid, value, _ in release.sensitive.rows()]
    assert held == sorted(set(held))
    assert release.sensitive.columns == ["gid", HOSPITAL_SENSITIVE, "count"]


def test_gids_say_nothing_about_size_or_event(release: Release) -> None:
    sizes = release.sensitive.group_by("gid").agg(pl.col("count").sum()).sort("gid")
    assert sizes["gid"].to_list() == list(range(1, sizes.height + 1))
    with_event = release.sensitive.filter(pl.col(HOSPITAL_SENSITIVE) == "grave")["gid"].to_numpy()
    middle = with_event.mean() / sizes.height
    assert abs(middle - 0.5) < 4 * 0.29 / np.sqrt(len(with_event))
    assert abs(np.corrcoef(sizes["gid"], sizes["count"])[0, 1]) < 0.1


def test_gids_depend_on_what_is_published_alone() -> None:
    """Pooled values and ungeneralized people are hidden, and so do not move a gid."""
    frame = pl.DataFrame({"q": list("aabb") * 6, "v": ["x", "y", "z", "w"] * 6})
    spec = Spec(qi=("q",), sensitive="v", protect=(Event(("x",)),), r=2)
    table = Table.from_frame(frame, spec)
    swapped = frame.with_columns(v=pl.col("v").replace({"y": "z", "z": "y"}))
    other = Table.from_frame(swapped.with_columns(q=frame["q"]), spec)
    groups = np.repeat(np.arange(6), 4).astype(np.int32)
    made = []
    for each in (table, other):
        grouping = canonical(each, Grouping.of_rows(each, groups, pooled=np.ones(6, bool)))
        made.append(build_tables(each, grouping, deal(each, grouping)))
    assert made[0][0].frame().equals(made[1][0].frame())
    assert made[0][1].frame().equals(made[1][1].frame())


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda frame: frame, pl.DataFrame),
        (lambda frame: frame.to_pandas(), pd.DataFrame),
        (lambda frame: frame.to_arrow(), pa.Table),
    ],
)
def test_frames_come_back_as_the_callers_kind(make: Any, kind: type) -> None:
    found = shoal.anonymize(make(FRAME.head(800)), SPEC)
    assert isinstance(found.qi_table, kind)
    assert isinstance(found.sensitive_table, kind)
    assert found.row_groups is not None
    assert len(found.row_groups) == 800


def test_a_saved_release_is_what_was_made(release: Release, tmp_path: Path) -> None:
    for form in ("csv", "parquet"):
        folder = tmp_path / form
        release.save(folder, format=form)
        assert {Path(name.name).stem for name in folder.iterdir()} == {
            Path(name).stem for name in FOLDER
        }
        loaded = Release.load(folder)
        assert loaded.qi.rows() == release.qi.rows()
        assert loaded.sensitive.rows() == release.sensitive.rows()
        assert loaded.members.rows() == release.members.rows()
        assert loaded.spec == SPEC.with_(identifiers=(), min_support=SUPPORT)
        assert loaded.row_groups is None
        assert json.dumps(loaded.certificate) == json.dumps(release.certificate)


def test_texts_numbers_dates_and_gaps_survive_a_csv_file(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "zip": [f"{code:03d}" for code in rng.integers(0, 4, 300)],
            "weight": [(1.5, 2.25, None)[code] for code in rng.integers(0, 3, 300)],
            "smokes": rng.choice([True, False], 300),
            "since": pl.Series(rng.integers(0, 3, 300)).cast(pl.Date),
            "name": rng.choice(['=1+1"', "a,b", "é\nx"], 300),
            "code": rng.choice(["0250", "250.70", "250", "1.0"], 300, p=[0.05, 0.35, 0.3, 0.3]),
        }
    )
    qi = tuple(frame.columns[:5])
    spec = Spec(qi=qi, sensitive="code", protect=(Event(("0250",)),), r=2, min_support=50)
    made = shoal.anonymize(frame, spec)
    made.save(tmp_path / "out")
    loaded = Release.load(tmp_path / "out")
    assert loaded.qi.rows() == made.qi.rows()
    assert loaded.sensitive.rows() == made.sensitive.rows()
    assert loaded.members.height == 0
    checked = shoal.verify(tmp_path / "out", table=frame)
    assert checked.confirmed, checked


def test_a_secret_seed_stays_inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has the seed and the code can repeat the run; it is drawn anew each time."""
    monkeypatch.setattr("shoal.api.anonymize._secret_seed", lambda: 987_654_321)
    made = shoal.anonymize(FRAME, SPEC)
    assert made.certificate["seed"] == {"given": False}
    made.save(tmp_path / "out", private=tmp_path / "inside")
    assert "987654321" not in texts(tmp_path / "out")
    kept = json.loads((tmp_path / "inside" / "seed.json").read_text(encoding="utf-8"))
    assert kept == {"seed": 987_654_321}
    again = shoal.anonymize(FRAME, SPEC, seed=kept["seed"])
    assert again.qi.equals(made.qi)
    assert not again.qi.equals(shoal.anonymize(FRAME, SPEC, seed=5).qi)
    code = "from shoal.api.anonymize import _secret_seed; print(_secret_seed(), _secret_seed())"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert len(set(told.stdout.split())) == 2, "drawn anew each time"


def test_nothing_private_is_in_the_release_folder(release: Release, tmp_path: Path) -> None:
    frame = FRAME.with_columns(patient=pl.Series([f"PERSON{i}" for i in range(1500)]))
    made = shoal.anonymize(frame, SPEC)
    made.save(tmp_path / "out", private=tmp_path / "inside")
    public = texts(tmp_path / "out")
    for secret in ("PERSON", "patient", "ward", str(tmp_path)):
        assert secret not in public
    inside = {file.name for file in (tmp_path / "inside").iterdir()}
    tables, texts_ = (
        {"row_groups.parquet", "row_risks.parquet"},
        {"audit.json", "spec.toml", "people.json"},
    )
    assert inside == tables | texts_ | {"report.json", "release.json", "seed.json"}
    rows = pl.read_parquet(tmp_path / "inside" / "row_groups.parquet")
    assert made.row_groups is not None
    assert rows["gid"].to_list() == made.row_groups.tolist()
    assert Spec.from_toml(tmp_path / "inside" / "spec.toml") == SPEC.with_(min_support=SUPPORT)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_the_data_package_is_valid(
    release: Release, generalized: Release, tmp_path: Path, form: str
) -> None:
    for name, made in (("plain", release), ("general", generalized)):
        made.save(tmp_path / name, format=form)
        package = tmp_path / name / "datapackage.json"
        described = json.loads(package.read_text(encoding="utf-8"))
        assert described["resources"][0]["schema"]["foreignKeys"][0]["fields"] == ["gid"]
        if form == "csv":
            report = frictionless.validate(str(package))
            assert report.valid, report.flatten(["rowNumber", "fieldName", "message"])


def test_frictionless_notices_a_broken_key(release: Release, tmp_path: Path) -> None:
    release.save(tmp_path / "out")
    table = tmp_path / "out" / "qi.csv"
    head, first, *rest = table.read_text(encoding="utf-8").splitlines()
    broken = ",".join(["999999", *first.split(",")[1:]])
    table.write_text("\n".join([head, broken, *rest]) + "\n", encoding="utf-8")
    assert not frictionless.validate(str(tmp_path / "out" / "datapackage.json")).valid


def test_the_readme_counts_as_it_says(
    release: Release, generalized: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    duckdb = pytest.importorskip("duckdb")
    for name, made, first in (("plain", release, "lines"), ("general", generalized, "held")):
        made.save(tmp_path / name)
        page = (tmp_path / name / "README.txt").read_text(encoding="utf-8")
        assert f"{made.certificate['rows']['published']:,} people" in page
        assert "is 3-robust" in " ".join(page.split())
        monkeypatch.chdir(tmp_path / name)
        ((estimate, error),) = duckdb.sql(
            page[page.index(f"WITH {first} AS") :].split(";\n")[0]
        ).fetchall()
        assert error > 0
        assert 0 < estimate < made.certificate["rows"]["published"]


def _readme(folder: Path, **changes: Any) -> str:
    shoal.anonymize(FRAME, SPEC.with_(**changes)).save(folder)
    return " ".join((folder / "README.txt").read_text(encoding="utf-8").split())


def test_the_readme_says_what_the_adversary_knows(tmp_path: Path) -> None:
    page = _readme(tmp_path / "all")
    assert "publisher chose" not in page
    shared = "every combination of values in those views that at least {} rows share"
    assert shared.format(SUPPORT) in page
    assert shared.format(100) in _readme(tmp_path / "hundred", min_support=100)
    assert "of all other people they know the whole table's distribution" in page
    assert "1 view that the publisher chose" in _readme(tmp_path / "chosen", views=[["sex"]])
    assert "of at most 2 attributes" in _readme(tmp_path / "pairs", max_attributes=2)
    file = tmp_path / "study.csv"
    file.write_text("sex,value,probability\nMale,HIV,0.02\n", encoding="utf-8")
    page = _readme(tmp_path / "file", knowledge=str(file))
    assert "what a file of the publisher's says, in 1 view, and not its exact distribution" in page
    assert "knows the exact distribution" not in page


def test_the_readme_says_what_was_found(release: Release, tmp_path: Path) -> None:
    page = _readme(tmp_path / "out", protect=(Event(("HIV",), r=5), Event(("Depression",), r=2)))
    assert '"HIV" r = 5, the largest 0.' in page
    assert '"Depression" r = 2, the largest 0.' in page
    assert "3-robust" not in page
    found = release.judged.checks
    open_ = (replace(found[0], state="undecided", people=7), *found[1:])
    audit = release.certificate["audit"] | {"robust": None, "known_before": 1}
    audit["checks"] = plain(open_)
    certificate = release.certificate | {"audit": audit}
    names = {name: f"{name}.csv" for name in ("qi", "sensitive", "members")}
    page = " ".join(readme_text(replace(release, certificate=certificate), names).split())
    assert "is not shown to be 3-robust, with the limit 1/r" in page
    assert "NOT DECIDED One view at a time: 7 people could not be decided" in page
    assert "For 1 person public statistics alone exceed 1/r" in page


def test_a_generalized_release_publishes_ranges_that_cover_everybody(generalized: Release) -> None:
    assert generalized.form == "generalized"
    assert generalized.ranges is not None
    assert generalized.row_groups is not None
    covered = set(generalized.ranges.select("attribute", "label", "value").rows())
    labels = {gid: values for gid, *values in generalized.qi.unique("gid").rows()}
    for row, gid in enumerate(generalized.row_groups):
        for name, label in zip(SPEC.qi, labels.get(int(gid), ()), strict=False):
            assert (name, label, str(FRAME[name][row])) in covered
    per_group = generalized.qi.group_by("gid").n_unique()
    assert per_group.select(SPEC.qi).max().rows()[0] == (1,) * len(SPEC.qi)
    assert generalized.qi.columns == ["gid", *SPEC.qi, "weight"]


def test_an_existing_folder_is_refused_unless_forced(release: Release, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    release.save(folder)
    old = (folder / "certificate.json").stat().st_mtime_ns
    with pytest.raises(InputError) as raised:
        release.save(folder)
    assert raised.value.code == "output-exists"
    assert (folder / "certificate.json").stat().st_mtime_ns == old
    release.save(folder, force=True)
    assert {file.name for file in folder.iterdir()} == FOLDER
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def test_a_folder_of_somebody_elses_is_not_replaced(release: Release, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work", encoding="utf-8")
    with pytest.raises(InputError) as raised:
        release.save(tmp_path / "mine", force=True)
    assert raised.value.code == "output-foreign"
    assert (tmp_path / "mine" / "thesis.txt").exists()


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"format": "excel"}, "release-format"),
        ({"private": "inside"}, "private-inside"),
        ({"private": ""}, "private-inside"),
        ({"private": ".."}, "private-around"),
    ],
)
def test_bad_ways_to_save_write_nothing(
    release: Release, tmp_path: Path, options: dict[str, Any], code: str
) -> None:
    folder = tmp_path / "out"
    if "private" in options:
        options = {"private": folder / options["private"]}
    with pytest.raises(InputError) as raised:
        release.save(folder, **options)
    assert raised.value.code == code
    assert not any(tmp_path.iterdir())


def test_a_failure_half_way_leaves_nothing(
    release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> str:
        raise OSError(
            28, "No space left on device", str(tmp_path / ".out.shoal-new-0" / "README.txt")
        )

    monkeypatch.setattr("shoal.release.folder.readme_text", full)
    with pytest.raises(InputError) as raised:
        release.save(tmp_path / "out", private=tmp_path / "inside")
    assert raised.value.code == "output-failed"
    assert "No space left" in raised.value.problem
    assert not any(tmp_path.iterdir())


def test_a_loaded_release_has_no_private_records_to_save(release: Release, tmp_path: Path) -> None:
    release.save(tmp_path / "out")
    loaded = Release.load(tmp_path / "out")
    with pytest.raises(InputError) as raised:
        loaded.save(tmp_path / "again", private=tmp_path / "inside")
    assert raised.value.code == "release-loaded"
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def test_what_is_no_release_is_said(release: Release, tmp_path: Path) -> None:
    with pytest.raises(InputError) as raised:
        Release.load(tmp_path)
    assert raised.value.code == "release-not"
    release.save(tmp_path / "out")
    (tmp_path / "out" / "certificate.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError) as raised:
        Release.load(tmp_path / "out")
    assert raised.value.code == "certificate-format"


@pytest.mark.parametrize("name", ["gid", "count"])
def test_names_that_the_tables_need_are_refused(name: str) -> None:
    frame = pl.DataFrame({name: list("aabb"), "v": list("xyzy")})
    spec = Spec(qi=(name,), sensitive="v", protect=(Event(("x",)),), r=2)
    with pytest.raises(InputError) as raised:
        shoal.anonymize(frame, spec)
    assert raised.value.code == "column-name"
