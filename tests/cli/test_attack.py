"""`shoal attack`: what it takes, what it says, and what it leaves behind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.attacks import attacker_names
from shoal.data.datasets import HOSPITAL_EVENT, hospital
from shoal.engines import engine_named
from shoal.errors import InputError
from shoal.names import ATTACKERS
from shoal.release.pair import CELL_GROUPS
from shoal.release.regroup import regroup
from tests.cli.program import EVENT, SPEC, shoal_

QUICK = [word for name in ("likeliest", "medoid", "absentee") for word in ("--attacker", name)]
FIGURES = {
    "attacker",
    "reasoning",
    "through",
    "everybody",
    "unknown_before",
    "known_before",
    "promised",
    "allowed",
    "baseline",
    "control",
    "release_doing",
    "certain",
    "surest",
    "verdict",
    "beats_limit",
    "seconds",
    "sentence",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table, a release of it, and groups of four rows as a column."""
    folder = tmp_path_factory.mktemp("attack")
    frame = hospital(2_000, seed=0)
    sick = pl.col("diagnosis").is_in(EVENT.split("|"))
    grouped = frame.sort(sick, "patient").with_columns(group=pl.int_range(pl.len()) // 4)
    grouped.write_csv(folder / "grouped.csv")
    frame.write_csv(folder / "table.csv")
    done = shoal_("anonymize", "table.csv", *SPEC, "--out", "release", "--seed", "1", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_a_release_is_attacked(made: Path) -> None:
    done = shoal_("attack", "release", "--table", "table.csv", *QUICK, cwd=made)
    assert done.returncode == 0, done.stderr
    assert "NOT BEATEN" in done.stdout
    assert "likeliest" in done.stdout
    told = json.loads(
        shoal_("attack", "release", "--table", "table.csv", *QUICK, "--json", cwd=made).stdout
    )
    assert told["withstood"]
    assert [set(one) for one in told["attackers"]] == [FIGURES] * 3
    likeliest, medoid, absentee = (one["everybody"] for one in told["attackers"])
    assert likeliest["low"] <= likeliest["rate"] <= likeliest["high"]
    assert likeliest["tries"] == medoid["tries"] > 0
    assert absentee["tries"] == 0
    chosen = told["attackers"][0]["surest"]
    assert {one["among"] for one in chosen} >= {"everybody", "unknown"}
    for one in chosen:
        assert one["low"] <= one["rate"] <= one["high"]
        assert 0 <= one["without"] <= 1
        assert 0 <= one["control"] <= 1
    twenty = chosen[0]
    assert (twenty["among"], twenty["people"]) == ("everybody", 20)
    shown = [f"{100 * twenty[name]:.0f}" for name in ("rate", "without", "control")]
    lines = done.stdout.splitlines()
    head = next(number for number, line in enumerate(lines) if "surest 20" in line)
    assert f"{' / '.join(shown)} %" in lines[head + 1]
    assert "have the protected value; without the release" in told["attackers"][0]["sentence"]
    private = shoal_("attack", "release", "--table", "table.csv", "--private", "no", cwd=made)
    assert private.returncode == 2
    assert "attack-private" in private.stderr


def test_weak_groups_are_beaten(made: Path) -> None:
    given = ["attack", "grouped.csv", "--groups", "group", *SPEC, *QUICK]
    done = shoal_(*given, "--json", cwd=made)
    assert done.returncode == 1, done.stderr
    assert "likeliest" in json.loads(done.stdout)["beaten_by"]
    assert "BEATEN: the limit falls to" in shoal_(*given, cwd=made).stdout
    banded = pl.read_csv(made / "grouped.csv").with_columns(age=pl.lit("*"), sex=pl.lit("*"))
    banded.write_csv(made / "banded.csv")
    given = ["attack", "grouped.csv", "--released", "banded.csv", "--key", "patient", *SPEC]
    done = shoal_(*given, *QUICK, "--attacker", "singling-out", "--json", cwd=made)
    told = json.loads(done.stdout)
    expected = 1 if told["beaten_by"] else 3 if told["too_few_tries"] else 0
    assert done.returncode == expected, done.stderr
    assert told["attackers"][-1]["everybody"]["hits"] == 0


def test_whoever_has_no_time_is_named(made: Path) -> None:
    given = ["attack", "release", "--table", "table.csv", "--budget", "1e-9", "--json"]
    done = shoal_(*given, cwd=made)
    told = json.loads(done.stdout)
    assert done.returncode == 3
    assert told["withstood"] is None
    assert told["attackers"] == []
    assert (*attacker_names(), *attacker_names(together=True)) == ATTACKERS
    assert [one["attacker"] for one in told["not_run"]] == list(attacker_names())
    assert {one["reason"] for one in told["not_run"]} == {"The time budget was spent."}


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["release"], "attack-table"),
        (["release", "--table", "table.csv", "-r", "3"], "attack-spec"),
        (["release", "--table", "table.csv", "--key", "patient"], "attack-argument"),
        (["release", "--table", "table.csv", "--budget", "0"], "budget"),
        (["release", "--table", "table.csv", "--attacker", "medoids"], "attacker"),
        (["table.csv", "--groups", "a", "--released", "b", *SPEC], "audit-what"),
        (["table.csv", "--groups", "a", "--table", "b", *SPEC], "attack-argument"),
        (["release", "--table", "grouped.csv", *QUICK], "private-other"),
    ],
)
def test_what_is_refused(made: Path, arguments: list[str], code: str) -> None:
    done = shoal_("attack", *arguments, cwd=made)
    assert done.returncode == 2
    assert f"[{code}]" in done.stderr


@pytest.mark.parametrize("method", ["art", "anatomy", "mask", "mondrian"])
def test_a_release_is_the_groups_it_was_made_of(method: str) -> None:
    spec = shoal.Spec(
        qi=["age", "sex"], sensitive="diagnosis", protect=[EVENT.split("|")], r=3, min_support=50
    )
    release = shoal.anonymize(hospital(1_000, seed=0), spec, method=method)
    assert release.row_groups is not None
    grouping = regroup(release, release.made.table, release.row_groups)
    values = [*release.made.table.values, "(other)"]
    shown = grouping.published_values(release.made.table)
    counted: dict[tuple[int, str], int] = {}
    for group, value, people in zip(grouping.group, shown, grouping.people, strict=True):
        key = (int(group) + 1, values[value])
        counted[key] = counted.get(key, 0) + int(people)
    assert counted == {(gid, value): n for gid, value, n in release.sensitive.iter_rows()}
    found = shoal.attack(release, attackers=["likeliest", "insider"])
    assert [one.attacker for one in found.findings] == ["likeliest", "insider"], found.not_run
    labels = [row // 4 for row in range(1_000)]
    weak = shoal.attack(hospital(1_000, seed=0), spec, groups=labels, attackers=["likeliest"])
    sick = hospital(1_000, seed=0)["diagnosis"].is_in(list(HOSPITAL_EVENT)).to_list()
    held = {label for label, ill in zip(labels, sick, strict=True) if ill}
    assert weak["likeliest"].everybody.tries == len(held)
    with pytest.raises(shoal.InputError) as refused:
        shoal.attack(hospital(10, seed=0))
    assert refused.value.code == "attack-what"


def test_what_came_out_is_kept_for_the_report(made: Path) -> None:
    files = ["--report", "inside.html", "--public-report", "outside.html"]
    done = shoal_("attack", "release", "--table", "table.csv", *QUICK, *files, cwd=made)
    assert done.returncode == 0, done.stderr
    for name in ("inside.html", "outside.html"):
        assert "What attackers achieve" in (made / name).read_text(encoding="utf-8")
    again = shoal_("report", "release", "--report", "again.html", cwd=made)
    assert again.returncode == 0, again.stderr
    assert (made / "again.html").read_bytes() == (made / "inside.html").read_bytes()
    verified = shoal_("verify", "release", "--table", "table.csv", cwd=made)
    assert verified.returncode == 0, verified.stdout


def test_a_report_needs_a_release_and_its_facts(made: Path, tmp_path: Path) -> None:
    given = ["attack", "grouped.csv", "--groups", "group", *SPEC, *QUICK]
    foreign = shoal_(*given, "--report", "x.html", cwd=made)
    assert foreign.returncode == 2
    assert "attack-report" in foreign.stderr
    private = tmp_path / "private"
    private.mkdir()
    records = (made / "release-private" / "row_groups.parquet").read_bytes()
    (private / "row_groups.parquet").write_bytes(records)
    given = ["attack", "release", "--table", "table.csv", *QUICK, "--private", str(private)]
    assert shoal_(*given, cwd=made).returncode == 0
    without = shoal_(*given, "--report", "x.html", cwd=made)
    assert without.returncode == 2
    assert "report-facts" in without.stderr
    assert not (made / "x.html").exists()


def test_compare_has_a_line_per_attacker(made: Path) -> None:
    hospital(600, seed=0).write_csv(made / "few.csv")
    given = ["compare", "few.csv", *SPEC, "--methods", "art,anatomy", "--queries", "50"]
    done = shoal_(*given, "--attack", cwd=made)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    head = next(number for number, line in enumerate(lines) if line.startswith("attacker  "))
    assert lines[head].split() == ["attacker", "art", "anatomy"]
    end = next(number for number, line in enumerate(lines) if line.startswith("attacker: how"))
    shown = [line.split()[0] for line in lines[head + 1 : end]]
    assert shown == [name for name in attacker_names() if name in shown]
    # Without scikit-learn, and where nobody is told how people lean.
    assert set(attacker_names()) - set(shown) <= {"modeller", "weight"}
    told = json.loads(shoal_(*given, "--attack", "--json", cwd=made).stdout)
    assert [set(one) for one in told["methods"][0]["attack"]["attackers"]] == [FIGURES] * len(shown)
    plain = json.loads(shoal_(*given, "--json", cwd=made).stdout)
    assert "attack" not in plain["methods"][0]


def test_a_loaded_release_is_attacked_with_its_private_folder(made: Path) -> None:
    table = pl.read_csv(made / "table.csv")
    loaded = shoal.Release.load(made / "release")
    found = shoal.attack(
        loaded, table=table, private=made / "release-private", attackers=["likeliest"]
    )
    again = shoal.attack(made / "release", table=table, attackers=["likeliest"])
    assert found["likeliest"].everybody == again["likeliest"].everybody
    with pytest.raises(shoal.InputError) as refused:
        shoal.attack(loaded, table=table)
    assert refused.value.code == "attack-private"


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"spec": shoal.Spec(qi=("sex",), sensitive="diagnosis", r=3)}, "attack-argument"),
        ({"key": "patient"}, "attack-argument"),
        ({"groups": "group", "table": "table.csv"}, "attack-argument"),
        ({"groups": "group", "private": "release-private"}, "attack-argument"),
        ({"groups": "group", "key": "patient"}, "key-alone"),
        ({"groups": "group", "released": "table.csv"}, "audit-what"),
    ],
)
def test_what_has_no_use_is_refused(made: Path, given: dict[str, object], code: str) -> None:
    with pytest.raises(shoal.InputError) as refused:
        shoal.attack(made / "release", **given)  # type: ignore[arg-type]
    assert refused.value.code == code


def test_a_release_that_was_judged_with_a_model_is_attacked_with_it(tmp_path: Path) -> None:
    frame = hospital(1_500, seed=2)
    spec = shoal.Spec(
        qi=("sex", "region"), sensitive="diagnosis", protect=(HOSPITAL_EVENT,), r=3, limit="prior"
    )
    release = shoal.anonymize(frame, spec, model="kernel", max_suppression=0.3)
    release.save(tmp_path / "release", private=tmp_path / "private")
    team = ["likeliest", "counter-class", "counter-all"]
    found = shoal.attack(
        tmp_path / "release", table=frame, private=tmp_path / "private", attackers=team
    )
    assert [one.attacker for one in found.findings] == team
    with pytest.raises(shoal.InputError) as refused:
        shoal.attack(release, attackers=team)
    assert refused.value.code == "attack-model"


def test_reports_tell_of_every_column_that_was_attacked(tmp_path: Path) -> None:
    hospital(600, seed=0).write_csv(tmp_path / "table.csv")
    spec = {
        "qi": ["sex"],
        "sensitive": ["diagnosis", "region"],
        "r": 3,
        "protect": [
            {"values": ["HIV"], "column": ["diagnosis"]},
            {"values": [hospital(600, seed=0)["region"][0]], "column": ["region"], "r": 2},
        ],
    }
    (tmp_path / "spec.toml").write_text(shoal.Spec.from_mapping(spec).to_toml(), "utf-8")
    made = ["anonymize", "table.csv", "--spec", "spec.toml", "--out", "release"]
    assert shoal_(*made, "--private", "private", cwd=tmp_path).returncode == 0
    attack = ["attack", "release", "--table", "table.csv", "--private", "private", *QUICK]
    reports = ["--report", "own.html", "--public-report", "public.html"]
    for column in ("diagnosis", "region", "region"):
        done = shoal_(*attack, "--column", column, *reports, "--json", cwd=tmp_path)
        assert json.loads(done.stdout)["column"] == column
    for report in ("own.html", "public.html"):
        text = (tmp_path / report).read_text("utf-8")
        for column in ("diagnosis", "region"):
            assert text.count(f"a protected value of “{column}”: likeliest") == 1, report


def figures(told: Any) -> Any:
    """What was found, but for the time it took."""
    if isinstance(told, dict):
        return {name: figures(one) for name, one in told.items() if name != "seconds"}
    return [figures(one) for one in told] if isinstance(told, list) else told


def test_a_record_by_cells_is_enough(made: Path, tmp_path: Path) -> None:
    """The same is found from the rows, from a file of cells, and on another engine."""
    table = str(made / "table.csv")
    for command in (
        ("anonymize", table, *SPEC, "--out", "release", "--seed", "1", "--private", "cells"),
        ("count", table, *SPEC, "--out", "cells.parquet"),
    ):
        done = shoal_(*command, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    quick = [*QUICK, "--attacker", "linkability", "--attacker", "insider", "--json"]
    by_rows = shoal_("attack", "release", "--table", table, *quick, cwd=made).stdout
    assert (tmp_path / "release-private" / CELL_GROUPS).is_file()
    for ways in ([table], ["cells.parquet"], [table, "--engine", "duckdb"]):
        done = shoal_("attack", "release", "--table", *ways, *quick, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert figures(json.loads(done.stdout)) == figures(json.loads(by_rows))


def test_an_engine_is_refused_where_rows_are_told_of(made: Path) -> None:
    done = shoal_("attack", "release", "--table", "table.csv", "--engine", "duckdb", cwd=made)
    assert (done.returncode, "[engine-attack]" in done.stderr) == (2, True)
    done = shoal_(
        "attack", "grouped.csv", *SPEC, "--groups", "group", "--engine", "duckdb", cwd=made
    )
    assert (done.returncode, "[attack-argument]" in done.stderr) == (2, True)


def test_a_release_of_counted_cells_is_attacked_as_it_is(tmp_path: Path) -> None:
    """Who is in which group is still known, and there is nothing for an engine to count."""
    frame, spec = (
        hospital(2_000, seed=0),
        shoal.Spec(qi=("age", "sex"), sensitive="diagnosis", protect=[[*HOSPITAL_EVENT]], r=5),
    )
    shoal.count(frame, spec, tmp_path / "cells.parquet")
    team = ["likeliest", "medoid", "linkability"]
    by_rows, by_cells = (
        figures(shoal.attack(shoal.anonymize(one, spec, seed=1), attackers=team).to_dict())
        for one in (frame, tmp_path / "cells.parquet")
    )
    assert by_cells == by_rows
    for one in (frame, tmp_path / "cells.parquet"):
        with pytest.raises(InputError) as caught:
            shoal.attack(shoal.anonymize(one, spec), engine=engine_named("duckdb"))
        assert caught.value.code == "engine-attack"


EDITS: dict[str, pl.Expr] = {
    "a person more": pl.when(pl.int_range(pl.len()) == 0)
    .then(pl.col("count") + 1)
    .otherwise("count"),
    "a person of another kind": pl.col("age").shift(1, fill_value=pl.col("age").last()),
    "a copy more": (pl.col("(copies)") + (pl.int_range(pl.len()) == 0)).alias("(copies)"),
    "another group": (pl.col("gid") + 1).alias("gid"),
    "another value": pl.col("diagnosis").reverse(),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_record_by_cells_is_refused(tmp_path: Path, edit: str) -> None:
    frame = hospital(2_000, seed=0)
    spec = shoal.Spec(qi=("age", "sex"), sensitive="diagnosis", protect=[[*HOSPITAL_EVENT]], r=5)
    release = shoal.anonymize(frame, spec, seed=1)
    release.save(tmp_path / "release", private=tmp_path / "private", record="cells")
    file = tmp_path / "private" / CELL_GROUPS
    ways = {"table": frame, "private": tmp_path / "private", "attackers": ["likeliest"]}
    assert shoal.attack(tmp_path / "release", **ways)["likeliest"].everybody.tries > 0
    kept = pl.read_parquet(file)
    kept.with_columns(EDITS[edit]).write_parquet(file)
    with pytest.raises(InputError) as caught:
        shoal.attack(tmp_path / "release", **ways)
    assert caught.value.code in ("private-other", "private-cells")
