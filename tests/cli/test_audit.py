"""`shoal audit` as a user runs it: exit codes, JSON, released files."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.auditing import audit as auditing
from shoal.release.stated import read_certificate
from shoal.wording import WHOLE
from tests.cli.program import EVENT, SPEC, refused, shoal_
from tests.release.fixed import CERTAIN, SEXES


def test_audit_of_a_safe_grouping_ends_with_0(home: Path) -> None:
    done = shoal_("audit", home / "grouped.csv", "--groups", "safe", *SPEC)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("ROBUST at r = 3: ")
    own = shoal_("audit", home / "grouped.csv", "--groups", "safe", *SPEC, "--adversary", WHOLE)
    assert own.returncode == 0, own.stderr
    assert "\njoint, binary and all-views adversaries, " in done.stdout
    assert "kept         All views at once: Nobody is linked above their limit" in done.stdout
    assert "\nall-views adversary, " in own.stdout
    assert "not asked    One view at a time: " in own.stdout
    assert re.search(r"^Above it by public statistics +nobody$", done.stdout, re.MULTILINE)
    for term in ("Average delta", "Posteriors"):
        assert term not in done.stdout


def test_audit_of_an_unsafe_grouping_ends_with_1_and_names_the_worst(
    home: Path, tmp_path: Path
) -> None:
    rows = tmp_path / "rows.parquet"
    spec = [*SPEC[:-1], "80"]
    done = shoal_("audit", home / "grouped.csv", "--groups", "same", *spec, "--rows", rows)
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("NOT ROBUST at r = 80: ")
    assert "Worst case: row" in done.stdout
    assert "in group one" in done.stdout
    people = done.stdout.split("the last one shown):")[1].strip().splitlines()
    assert len(people) == 12
    assert people[-1].startswith("before: by public statistics alone; after: with the release.")
    assert pl.read_parquet(rows).height == 2000


def test_audit_gives_each_event_its_own_limit(home: Path) -> None:
    own = ["--protect", "HIV@r=50", "--protect", "Depression@r=2"]
    done = shoal_("audit", home / "grouped.csv", "--groups", "same", *SPEC[:4], *own, "-r", "3")
    first, hiv, depression = done.stdout.splitlines()[:3]
    assert first.endswith(": every event has a limit of its own, and 1 check is broken.")
    assert hiv.startswith('  "HIV": the limit is 2 %, r = 50; the largest')
    assert depression.startswith('  "Depression": the limit is 50 %, r = 2;')


@pytest.mark.parametrize("adversary", ["joint", "binary"])
def test_audit_speaks_to_machines(home: Path, adversary: str) -> None:
    done = shoal_(
        "audit", home / "grouped.csv", "--groups", "safe", *SPEC, "--json", "--adversary", adversary
    )
    found = json.loads(done.stdout)
    promised = "robust r adversaries worst_posterior problematic problematic_share average_delta"
    assert {*promised.split(), "guess_rate", "exact_share"} <= set(found)
    assert (found["robust"], found["r"], found["adversaries"]) == (True, 3, [adversary])
    assert done.stderr == ""
    assert done.returncode == 0


def test_audit_of_a_released_file_by_order_and_by_key(home: Path, tmp_path: Path) -> None:
    frame = pl.read_csv(home / "table.csv")
    decade = (pl.col("age") // 10 * 10).cast(pl.String) + "s"
    released = frame.select("patient", decade, "sex", region=pl.lit("*"))
    released.write_csv(tmp_path / "released.csv")
    by_order = shoal_(
        "audit", home / "table.csv", "--released", tmp_path / "released.csv", *SPEC, "--json"
    )
    shuffled = released.sample(fraction=1, shuffle=True, seed=1)
    shuffled.write_csv(tmp_path / "shuffled.csv")
    options = ["--released", tmp_path / "shuffled.csv", "--key", "patient", *SPEC, "--json"]
    by_key = shoal_("audit", home / "table.csv", *options)
    one, other = json.loads(by_order.stdout), json.loads(by_key.stdout)
    assert one["groups"] == other["groups"] == released.select("age", "sex").unique().height
    assert one["worst_posterior"] == pytest.approx(other["worst_posterior"])
    assert by_order.returncode == by_key.returncode == (0 if one["robust"] else 1)


def test_the_folder_of_a_release_is_audited_with_its_own_spec(home: Path, tmp_path: Path) -> None:
    made = ["anonymize", home / "table.csv", *SPEC, "--out", tmp_path / "made"]
    assert shoal_(*made).returncode == 0
    given = ["audit", home / "table.csv", "--released", tmp_path / "made"]
    own, other = shoal_(*given, "--json"), shoal_(*given, "-r", "80", "--json")
    found, certificate = json.loads(own.stdout), read_certificate(tmp_path / "made")
    assert (own.returncode, other.returncode) == (0, 1)
    assert found["groups"] == certificate["groups"]["count"]
    assert found["worst_posterior"] == pytest.approx(certificate["audit"]["worst_posterior"])
    assert shoal.audit(home / "table.csv", released=tmp_path / "made").robust is True
    attack = ["attack", home / "table.csv", "--released", tmp_path / "made", "--attacker", "medoid"]
    assert shoal_(*attack).returncode == 0
    refused(shoal_(*given, "--key", "patient"), "key-alone")
    refused(shoal_("audit", home / "table.csv", "--released", home / "release"), "attack-private")


def test_an_audit_without_a_verdict_ends_with_3(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no group may be judged exactly and bounds say nothing, estimates are left."""
    monkeypatch.setattr("shoal.auditing.audit.audit", partial(auditing.audit, budget=1))
    monkeypatch.setattr(
        "shoal.auditing.adversaries.judging.event_bounds",
        lambda weights, *others: (np.zeros((len(weights), 1)), np.ones((len(weights), 1))),
    )
    given = ["--groups", "same", *SPEC[:-1], "12", "--adversary", "joint"]
    done = shoal_("audit", home / "grouped.csv", *given)
    assert done.stdout.startswith("NOT SHOWN TO BE ROBUST")
    assert done.returncode == 3


def test_an_audit_that_is_asked_wrongly_ends_with_2(home: Path) -> None:
    refused(shoal_("audit", home / "table.csv", *SPEC), "audit-what")
    both = ["--groups", "a", "--released", "b"]
    refused(shoal_("audit", home / "table.csv", *both, *SPEC), "audit-what")
    alone = ["--groups", "same", "--key", "patient"]
    refused(shoal_("audit", home / "grouped.csv", *alone, *SPEC), "key-alone")
    refused(shoal_("audit", home / "grouped.csv", "--groups", "saef", *SPEC), "groups-column")


def test_counting_absence_and_who_can_be_read_are_told(tmp_path: Path) -> None:
    """A man with x is missing, and the other is among two women: one line each, and exit code 1.
    The two people in the group of the missing one can be read, as can eight who are alone."""
    groups = pl.Series("g", [None if one < 0 else one for one in (CERTAIN[0], -1, *CERTAIN[2:])])
    SEXES.with_columns(groups).write_csv(tmp_path / "table.csv")
    asked = ["--qi", "sex", "--sensitive", "v", "--protect", "x", "-r", "3", "--min-support", "5"]
    done = shoal_("audit", tmp_path / "table.csv", "--groups", "g", *asked)
    assert done.returncode == 1
    told = [line for line in done.stdout.splitlines() if "The worst stratum" in line]
    assert told == [
        'The worst stratum of 1, by counting: 2 cases of "x" among 10 people (sex m): 2 of them '
        "could have it, 6 are needed.",
        'The worst stratum of 2, by suppression: 1 case of "x" among 20 people (everybody): 1 of '
        "them could have it, 3 are needed.",
    ]
    for line in ("Certain by counting: 2 people", "Counting, per stratum: 2", "Left out: 1 person"):
        assert f"BROKEN       {line}" in done.stdout
    assert "Exact values: 10 people are published with their exact v." in done.stdout
    plain = shoal_("audit", tmp_path / "table.csv", "--groups", "g", *asked, "--json")
    told = json.loads(plain.stdout)
    assert (told["robust"], told["readable"]) == (False, 10)
    assert told["absence"]["carriers"] == told["absence"]["certain"] == 1
    assert told["counter"]["worst"][0]["described"] == "sex m"
    honest = shoal_("audit", tmp_path / "table.csv", "--groups", "g", *asked, "--limit", "prior")
    assert "at r = 3: the limit is 33.3 % (or what was known" in honest.stdout


def test_audit_says_which_other_models_hold(home: Path) -> None:
    asked = ["audit", home / "grouped.csv", "--groups", "safe", *SPEC, "--models"]
    told = shoal_(*asked).stdout.split("Other models of privacy")[1]
    assert re.search(r"^k-anonymity +k = [\d,]+ +people in the smallest group$", told, re.MULTILINE)
    plain = json.loads(shoal_(*asked, "--json").stdout)["models"]
    assert {one["name"] for one in plain["models"]} >= {"k-anonymity", "(B,t)-privacy"}
    assert "published in a group of one" in plain["remarks"][0]
    assert plain["remarks"][0] in told


def test_audit_with_a_model_has_one_more_view(home: Path) -> None:
    asked = ["audit", home / "grouped.csv", "--groups", "safe", *SPEC, "--min-support", "100"]
    assert ", 5 views, " in shoal_(*asked).stdout  # age is known in quantile bands, too
    told = shoal_(*asked, "--model", "kernel")
    assert ", 6 views, " in told.stdout
    assert "model kernel, cross-fitted in 5 folds" in told.stdout
    found = json.loads(shoal_(*asked, "--model", "kernel", "--json").stdout)
    assert found["fitted"][0]["quality"][0]["carriers"] > 0
    assert shoal_(*asked, "--model", "forest").returncode == 2


def test_what_another_tool_made_is_held_against_k_and_not_recoded_for_it(home: Path) -> None:
    """As in Python: recoding the table first would say of any file that it keeps k."""
    table = home / "table.csv"
    done = shoal_("audit", table, "--released", table, *SPEC, "--k", "5", "--json")
    asked = shoal.Spec(
        qi=["age", "sex", "region"], sensitive="diagnosis", protect=[EVENT.split("|")], r=3, k=5
    )
    lookup = shoal.audit(table, asked, released=table).to_dict()["lookup"]
    assert lookup["fewer_than"]["people"] > 0
    assert json.loads(done.stdout)["lookup"] == lookup
