"""`shoal anonymize`, `verify`, `plan` and `demo` as a user runs them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from shoal.auditing.check_words import lines as check_lines
from shoal.auditing.findings import Judged
from shoal.data.datasets import HOSPITAL_EVENT
from shoal.wording import percent
from tests.cli.program import RELEASE_FILES, SPEC, refused, shoal_, shoal_process


def test_anonymize_writes_a_release_that_verify_confirms(home: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = shoal_process("anonymize", home / "table.csv", "--out", out, *SPEC, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert {"rows", "groups", "suppressed", "pooled", "r", "worst_posterior"} <= set(found)
    assert found["robust"] is True
    assert {"guess_rate", "problematic_share", "problematic", "undecided", "known_before"} <= set(
        found
    )
    assert {"read", "knowledge", "search", "audit"} <= set(found["seconds"])
    assert {file.name for file in out.iterdir()} == RELEASE_FILES
    assert {entry.name for entry in tmp_path.iterdir()} == {"out", "out-private"}

    alone = shoal_("verify", out)
    assert alone.returncode == 0
    confirmed, says, *checks, judged, trust, signed = alone.stdout.splitlines()[:-1]
    assert checks == check_lines(Judged.of(found).checks)
    assert re.fullmatch(r"CONFIRMED \(from the release alone\): all \d+ checks passed\.", confirmed)
    detailed = shoal_("verify", out, "--details").stdout.splitlines()
    passed = [line for line in detailed if line.startswith("ok     ")]
    assert [line for line in detailed if line not in passed] == alone.stdout.splitlines()
    assert f" all {len(passed)} checks passed." in confirmed
    assert says.startswith(
        "The certificate says: ROBUST to the joint, binary and all-views adversaries"
    )
    assert judged.startswith("Judged: r = ")
    assert "min_support" in judged
    assert trust.startswith("Taken on trust: that people and values are the table's, ")
    assert signed == "Not signed: nobody vouches for it."
    whole = shoal_("verify", out, "--table", home / "table.csv", "--json")
    assert whole.returncode == 0
    assert json.loads(whole.stdout)["recomputed"] is True

    table = out / "qi.csv"
    table.write_text(table.read_text(encoding="utf-8").replace("1", "2", 1), encoding="utf-8")
    tampered = shoal_process("verify", out)
    assert tampered.returncode == 1
    assert "WRONG  file qi.csv" in tampered.stdout
    assert "REFUTED" in tampered.stdout
    refused(shoal_process("verify", tmp_path), "release-not")


def test_columns_are_recoded_and_verified(home: Path, tmp_path: Path) -> None:
    table, out = home / "table.csv", tmp_path / "out"
    options = ["--recode", "age:bands=20", "--recode", "region:rare=100", "--protect", "Fract*"]
    done = shoal_("anonymize", table, "--out", out, *SPEC, *options)
    assert done.returncode == 0, done.stderr
    certificate = json.loads((out / "certificate.json").read_text(encoding="utf-8"))
    assert certificate["recoded"]["age"] == "numbers in bands of 20"
    assert certificate["events"][-1]["values"] == ["Fracture"]
    assert shoal_("verify", out, "--table", table).returncode == 0


def test_a_hierarchy_that_recoded_is_named_to_verify(home: Path, tmp_path: Path) -> None:
    table, out, tree = home / "table.csv", tmp_path / "out", tmp_path / "sex.toml"
    tree.write_text('values = ["Female", "Male"]\nany = "person"\n')
    done = shoal_("anonymize", table, "--out", out, *SPEC, "--recode", f"sex:hierarchy={tree}")
    assert done.returncode == 0, done.stderr
    refused(shoal_("verify", out, "--table", table), "hierarchy-file")
    named = shoal_("verify", out, "--table", table, "--hierarchy", f"sex={tree}")
    assert named.returncode == 0, named.stdout


def test_a_known_band_stands_where_quantile_bands_would(home: Path) -> None:
    spec = [*SPEC, "--json", "--min-support", "100"]
    plan = shoal_("plan", home / "table.csv", *spec)
    known = shoal_("plan", home / "table.csv", *spec, "--known-band", "age=10")
    usual, asked = (_forms_of_age(json.loads(done.stdout)) for done in (plan, known))
    assert asked == {"age/10"}
    assert len(usual) == 1
    assert re.fullmatch(r"age/q\d+", *usual)


def _forms_of_age(plan: dict[str, Any]) -> set[str]:
    """As what the views of a plan know of age."""
    limits = plan["events"][0]["limits"]
    assert len(limits) == plan["views"]
    return {name for one in limits for name in one["view"] if name.startswith("age")}


def test_a_spec_file_does_what_options_do(home: Path, tmp_path: Path) -> None:
    spec = tmp_path / "release.toml"
    spec.write_text(
        'qi = ["age", "sex", "region"]\nsensitive = "diagnosis"\nr = 3\n'
        f"protect = [{list(HOSPITAL_EVENT)}]\n",
        encoding="utf-8",
    )
    same = ["--seed", "1"]
    one = shoal_("anonymize", home / "table.csv", "--out", tmp_path / "a", "--spec", spec, *same)
    assert one.returncode == 0, one.stderr
    assert one.stdout.startswith("ROBUST at r = 3: ")
    again = [*SPEC, *same, "--alone"]
    two = shoal_("anonymize", home / "table.csv", "--out", tmp_path / "b", *again)
    assert two.returncode == 0, two.stderr
    for name in RELEASE_FILES:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_events_with_limits_of_their_own_are_told_apart(home: Path, tmp_path: Path) -> None:
    own = ["--protect", "HIV@r=5", "--protect", "Depression@r=2"]
    spec = [*SPEC[:4], *own, "-r", "3"]
    done = shoal_("anonymize", home / "table.csv", "--out", tmp_path / "own", *spec)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(
        "ROBUST: every event has a limit of its own, and every check is kept."
    )
    assert '"HIV": the limit is 20 %, r = 5; the largest link is' in done.stdout
    assert '"Depression": the limit is 50 %, r = 2; the largest link is' in done.stdout
    assert "r = 3" not in done.stdout
    one = [*SPEC[:4], "--protect", "HIV@r=5", "-r", "3", "--alone"]
    done = shoal_("anonymize", home / "table.csv", "--out", tmp_path / "one", *one)
    assert done.stdout.startswith("ROBUST at r = 5: the limit is 20 %, and every check is kept.")
    said = " ".join(done.stdout.split())
    assert "Public statistics alone exceed 1/r for nobody, taken one at a time." in said


@pytest.mark.parametrize("limit", ["absolute", "prior"])
def test_the_same_figure_stands_everywhere(home: Path, tmp_path: Path, limit: str) -> None:
    """The link nearest to its limit: of terminal, JSON, certificate, README, report and verify."""
    out, page = tmp_path / "out", tmp_path / "r.html"
    given = ["anonymize", home / "table.csv", "--out", out, *SPEC, "-r", "4", "--seed", "1"]
    given += ["--min-support", "30", "--limit", limit, "--report", page, "--force"]
    text = shoal_(*given).stdout
    found = json.loads(shoal_(*given, "--json").stdout)
    (check,) = (one for one in found["checks"] if one["name"] == "one-view")
    share = percent(check["worst"]).replace("\u00a0", " ")
    said = f"nearest to its limit is {share}, where "
    certificate = json.loads((out / "certificate.json").read_text("utf-8"))
    assert certificate["audit"]["checks"] == found["checks"]
    assert said in text
    assert said in " ".join((out / "README.txt").read_text("utf-8").split())
    assert said in shoal_("verify", out).stdout
    told = page.read_text("utf-8").replace("\u00a0", " ")
    assert said in told
    assert f" with {share}, through " in told
    assert "Counts are off by" in text
    assert found["errors"]


def test_an_existing_release_is_replaced_only_by_force(home: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run = ["anonymize", home / "table.csv", "--out", out, *SPEC]
    assert shoal_(*run).returncode == 0
    before = (out / "certificate.json").stat().st_mtime_ns
    refused(shoal_(*run), "output-exists")
    assert (out / "certificate.json").stat().st_mtime_ns == before
    assert shoal_(*run, "--force").returncode == 0
    assert (out / "certificate.json").stat().st_mtime_ns > before


def test_past_the_suppression_limit_nothing_is_written(home: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    spec = [*SPEC[:-1], "500"]
    refused(
        shoal_("anonymize", home / "table.csv", "--out", out, *spec),
        "r-impossible",
    )
    assert not any(tmp_path.iterdir())


def test_the_output_may_not_hold_the_input(home: Path, tmp_path: Path) -> None:
    table = tmp_path / "data" / "table.csv"
    table.parent.mkdir()
    table.write_bytes((home / "table.csv").read_bytes())
    done = shoal_("anonymize", table, "--out", tmp_path / "data", *SPEC, "--force")
    refused(done, "output-input")
    assert table.is_file()


def test_plan_says_what_is_possible(home: Path) -> None:
    fine = shoal_("plan", home / "table.csv", *SPEC, "--json")
    assert fine.returncode == 0, fine.stderr
    assert json.loads(fine.stdout)["feasible"] is True
    done = shoal_("plan", home / "table.csv", *[*SPEC[:-1], "900"])
    assert done.returncode == 2
    assert "what stands most in the way: " in done.stdout
    assert "What would allow a larger r, not tried:" in done.stdout
    assert "`shoal find TABLE --spec S` tries what would work." in done.stdout


def test_demo_says_in_ten_lines_what_happened(tmp_path: Path) -> None:
    done = shoal_("demo", "--rows", 3000, "--out", tmp_path / "demo")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) <= 11
    assert "confirms the certificate" in done.stdout
    kept = tmp_path / "demo"
    again = shoal_("verify", kept / "release", "--table", kept / "hospital.csv")
    assert again.returncode == 0
