"""verify: an honest release is confirmed, and every kind of tampering is caught."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.data.datasets import HOSPITAL_EVENT, HOSPITAL_QI, HOSPITAL_SENSITIVE, hospital
from shoal.data.spec import Event, Spec
from shoal.errors import InputError
from shoal.release.verification.verify import Verification, verify
from tests.forging import edit, mend, refused

FRAME = hospital(1500, 3)
SPEC = Spec(
    qi=HOSPITAL_QI[:2],
    sensitive=HOSPITAL_SENSITIVE,
    protect=(Event(HOSPITAL_EVENT), Event(("Influenza",), r=2)),
    r=3,
    min_support=200,
)
TABLES = ("qi.csv", "sensitive.csv", "members.csv")


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("verify") / "release"
    shoal.anonymize(FRAME, SPEC).save(folder)
    return folder


@pytest.fixture
def folder(honest: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(honest, tmp_path / "release"))


def failures(found: Verification) -> list[str]:
    return [check.name for check in found.checks if not check.passed]


def edit_lines(file: Path, change: Callable[[list[str]], list[str]]) -> None:
    lines = file.read_text(encoding="utf-8").splitlines()
    file.write_text("\n".join(change(lines)) + "\n", encoding="utf-8")


def test_an_honest_release_is_confirmed(honest: Path) -> None:
    alone = verify(honest)
    assert alone.confirmed
    assert not alone.recomputed
    whole = verify(honest, table=FRAME)
    assert whole.confirmed
    assert whole.recomputed
    assert "worst posterior of Influenza" in [check.name for check in whole.checks]
    assert whole.to_dict()["confirmed"] is True
    assert verify(honest, table=FRAME.to_pandas()).confirmed


def test_a_parquet_release_is_confirmed(tmp_path: Path) -> None:
    shoal.anonymize(FRAME, SPEC).save(tmp_path / "release", format="parquet")
    assert verify(tmp_path / "release", table=FRAME).confirmed


@pytest.mark.parametrize("file", [*TABLES, "datapackage.json", "README.txt"])
def test_one_changed_character_in_any_file_is_caught(folder: Path, file: str) -> None:
    content = bytearray((folder / file).read_bytes())
    content[-2] ^= 1
    (folder / file).write_bytes(content)
    assert failures(verify(folder)) == [f"file {file}"]


@pytest.mark.parametrize("file", [*TABLES, "datapackage.json", "README.txt"])
def test_a_missing_file_is_caught(folder: Path, file: str) -> None:
    (folder / file).unlink()
    found = verify(folder)
    assert failures(found) == [f"file {file}"]
    assert "missing" in str(found.checks)


def swap_gids(lines: list[str]) -> list[str]:
    """The gids of the first line and of one in another group change places."""
    head, *rest = (line.split(",") for line in lines)
    other = next(
        i for i, line in enumerate(rest) if line[0] != rest[0][0] and line[1:] != rest[0][1:]
    )
    rest[0][0], rest[other][0] = rest[other][0], rest[0][0]
    return [",".join(line) for line in [head, *rest]]


def test_swapped_gids_and_dropped_rows_are_caught(folder: Path) -> None:
    edit_lines(folder / "qi.csv", swap_gids)
    assert failures(verify(folder)) == ["file qi.csv"]
    edit_lines(folder / "qi.csv", lambda lines: lines[:-1])
    assert failures(verify(folder)) == ["file qi.csv"]


@pytest.mark.parametrize(
    ("file", "change", "failed"),
    [
        ("qi.csv", lambda lines: lines[:-1], "group sizes"),
        ("qi.csv", lambda lines: [*lines, lines[-1]], "published rows"),
        ("qi.csv", lambda lines: [lines[0].replace("age", "Age"), *lines[1:]], "columns"),
        ("sensitive.csv", lambda lines: lines[:-1], "group sizes"),
        ("members.csv", lambda lines: lines[:-1], "members"),
    ],
    ids=["row dropped", "row added", "column renamed", "value dropped", "member dropped"],
)
def test_counts_give_a_forger_away_who_mends_the_hashes(
    folder: Path, file: str, change: Any, failed: str
) -> None:
    edit_lines(folder / file, change)
    mend(folder)
    assert failed in failures(verify(folder))


def test_an_event_that_fills_a_group_is_caught_without_the_table(folder: Path) -> None:
    label = "|".join(HOSPITAL_EVENT)
    data = pl.read_csv(folder / "sensitive.csv")
    gid = data.filter(pl.col(HOSPITAL_SENSITIVE) == label)["gid"][0]
    mine = (pl.col("gid") == gid) & (pl.col(HOSPITAL_SENSITIVE) != label)
    moved = data.with_columns(
        pl.when(mine).then(pl.lit(label)).otherwise(HOSPITAL_SENSITIVE).alias(HOSPITAL_SENSITIVE)
    )
    moved.write_csv(folder / "sensitive.csv")
    mend(folder)
    assert "shares" in failures(verify(folder))


def test_attributes_that_nobody_has_are_caught_with_the_table(folder: Path) -> None:
    def age(lines: list[str]) -> list[str]:
        gid, _, *rest = lines[1].split(",")
        return [lines[0], ",".join([gid, "17", *rest]), *lines[2:]]

    edit_lines(folder / "qi.csv", age)
    mend(folder)
    assert failures(verify(folder)) == ["people with rare combinations", "order"]
    assert "people" in failures(verify(folder, table=FRAME))


def test_a_value_that_does_not_occur_is_caught_with_the_table(folder: Path) -> None:
    edit_lines(
        folder / "sensitive.csv",
        lambda lines: [line.replace("Asthma", "Plague") for line in lines],
    )
    mend(folder)
    assert "people" in failures(verify(folder, table=FRAME))


def put(*path: Any, value: Any) -> Callable[[Any], None]:
    def change(content: Any) -> None:
        for key in path[:-1]:
            content = content[key]
        assert content[path[-1]] != value
        content[path[-1]] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        put("r", value=30),
        put("spec", "r", value=30),
        put("spec", "min_support", value=1000),
        put("knowledge", "min_support", value=1),
        put("knowledge", "views", value=[["age"]]),
        put("events", 0, "r", value=300),
        put("events", 0, "label", value="something else"),
        put("events", 0, "worst_posterior", value=0.01),
        put("events", 1, "worst_posterior", value=0.01),
        put("audit", "worst_posterior", value=0.01),
        put("audit", "robust", value=False),
        put("audit", "robust", value=None),
        put("audit", "problematic", value=5),
        put("audit", "undecided", value=5),
        put("audit", "known_before", value=7),
        put("events", 0, "values", value=["HIV"]),
        put("format", value="shoal-certificate/9"),
        put("form", value="generalized"),
        put("form", value="folded"),
        put("rows", "table", value=1501),
        put("rows", "published", value=3),
        put("rows", "suppressed", value=77),
        put("rows", "suppressed_with_event", value=77),
        put("groups", "count", value=3),
        put("groups", "with_event", value=3),
        put("groups", "pooled", value=3),
        put("groups", "smallest", value=9),
        put("groups", "largest", value=900),
        put("groups", "mean_with_event", value=1.5),
        put("groups", "readable", value=1),
    ],
)
def test_every_edited_figure_is_caught(folder: Path, change: Callable[[Any], None]) -> None:
    edit(folder, change)
    assert refused(folder, table=FRAME)


def test_a_file_that_nobody_named_is_told(folder: Path) -> None:
    (folder / "row_groups.csv").write_text("row,gid\n")
    found = verify(folder)
    assert failures(found) == ["folder"]
    assert 'holds "row_groups.csv"' in str(found.checks)


def test_a_certificate_that_says_no_is_confirmed_and_says_so(tmp_path: Path) -> None:
    shoal.anonymize(FRAME, SPEC, method="anatomy", l=2).save(tmp_path / "release")
    found = verify(tmp_path / "release", table=FRAME)
    assert found.confirmed
    assert found.robust is False
    assert found.worst_posterior > 1 / 3


def test_r_raised_everywhere_is_refuted_by_the_table(folder: Path) -> None:
    """A consistent lie: only the posteriors give it away."""

    def lie(content: Any) -> None:
        content["r"] = content["spec"]["r"] = 3.2
        content["events"][0]["r"] = 3.2
        for event in content["events"]:
            event["worst_posterior"] = min(event["worst_posterior"], 0.3)
        content["audit"]["worst_posterior"] = content["events"][0]["worst_posterior"]
        largest = max(event["worst_posterior"] for event in content["events"])
        for one in content["audit"]["adversaries"]:
            one["worst_posterior"] = largest

    edit(folder, lie)
    failed = failures(verify(folder, table=FRAME))
    assert any(name in ("shares", "verdict") or "worst posterior" in name for name in failed)


def test_another_table_is_not_the_original(folder: Path) -> None:
    other = verify(folder, table=hospital(1500, 4))
    assert not other.confirmed
    fewer = verify(folder, table=FRAME.head(1400))
    assert "rows of the table" in failures(fewer)


def test_a_release_that_is_not_robust_is_confirmed_as_such(tmp_path: Path) -> None:
    release = shoal.anonymize(FRAME, SPEC, method="anatomy")
    assert release.robust is False
    release.save(tmp_path / "anatomy")
    assert verify(tmp_path / "anatomy", table=FRAME).confirmed
    edit(tmp_path / "anatomy", put("audit", "robust", value=True))
    assert not verify(tmp_path / "anatomy", table=FRAME).confirmed


# --- Generalized releases -------------------------------------------------------------------


@pytest.fixture(scope="module")
def generalized(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    home = tmp_path_factory.mktemp("generalized")
    release = shoal.anonymize(FRAME, SPEC, form="generalized")
    release.save(home / "release", private=home / "private")
    return home / "release", home / "private"


def test_a_generalized_release_needs_the_private_folder(generalized: tuple[Path, Path]) -> None:
    release, private = generalized
    assert verify(release).confirmed
    with pytest.raises(InputError) as raised:
        verify(release, table=FRAME)
    assert raised.value.code == "verify-private"
    assert verify(release, table=FRAME, private=private).confirmed


def test_a_false_private_record_is_caught(generalized: tuple[Path, Path], tmp_path: Path) -> None:
    release, private = generalized
    copied = Path(shutil.copytree(private, tmp_path / "private"))
    rows = pl.read_parquet(copied / "row_groups.parquet")
    shuffled = rows["gid"].sample(fraction=1, shuffle=True, seed=1)
    rows.with_columns(gid=shuffled).write_parquet(copied / "row_groups.parquet")
    assert failures(verify(release, table=FRAME, private=copied)) == ["people"]
    rows.head(10).write_parquet(copied / "row_groups.parquet")
    with pytest.raises(InputError) as raised:
        verify(release, table=FRAME, private=copied)
    assert raised.value.code == "private-rows"


def test_ranges_that_do_not_overlap_need_nothing_private(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": np.repeat([20, 30, 40, 50], 10), "v": [*"xyyyyyyyyy"] * 4})
    spec = Spec(qi=("age",), sensitive="v", protect=(Event(("x",)),), r=2, min_support=1)
    shoal.anonymize(frame, spec, method="mondrian", k=5, l=1).save(tmp_path / "release")
    found = verify(tmp_path / "release", table=frame)
    assert found.confirmed, found


# --- What cannot be checked -----------------------------------------------------------------


def test_outside_knowledge_must_be_given_again(tmp_path: Path) -> None:
    said = tmp_path / "known.csv"
    sexes = FRAME["sex"].unique().sort().to_list()
    pl.DataFrame(
        {"sex": sexes, "value": ["HIV"] * len(sexes), "probability": [0.02] * len(sexes)}
    ).write_csv(said)
    spec = Spec(
        qi=("sex",),
        sensitive=HOSPITAL_SENSITIVE,
        protect=(Event(("HIV",)),),
        r=3,
        knowledge=str(said),
    )
    shoal.anonymize(FRAME, spec).save(tmp_path / "release")
    with pytest.raises(InputError) as raised:
        verify(tmp_path / "release", table=FRAME)
    assert raised.value.code == "verify-knowledge"
    assert verify(tmp_path / "release", table=FRAME, knowledge=str(said)).confirmed
    for file in (tmp_path / "release").iterdir():
        assert str(tmp_path) not in file.read_text(encoding="utf-8")


def test_a_folder_that_is_no_release_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError) as raised:
        verify(tmp_path)
    assert raised.value.code == "release-not"


@pytest.mark.parametrize("part", ["spec", "audit", "rows", "groups", "files", "events"])
def test_a_certificate_without_a_part_is_damaged(folder: Path, part: str) -> None:
    edit(folder, lambda content: content.pop(part))
    with pytest.raises(InputError) as raised:
        verify(folder)
    assert raised.value.code == "certificate-damaged"


def test_a_certificate_may_not_lead_out_of_the_folder(folder: Path) -> None:
    def outside(content: Any) -> None:
        content["files"]["../other.csv"] = {"sha256": "0" * 64, "bytes": 0}

    edit(folder, outside)
    assert failures(verify(folder)) == ["file ../other.csv", "folder"]
