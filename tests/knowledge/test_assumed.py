"""How much the adversary is assumed to know: min_support by the table's size, strata, hollow
promises."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from shoal import Spec, anonymize
from shoal.api.plan import plan
from shoal.data.spec import support_for
from shoal.data.table import Table
from shoal.knowledge import Assumed, Knowledge
from shoal.release.facts import release_facts
from shoal.release.verification.verify import verify
from shoal.report.sentences import assumptions
from tests.cli.program import shoal_


def people(rows: int, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 80, rows),
            "sex": rng.choice(["f", "m"], rows),
            "region": rng.choice(list("abcdef"), rows),
            "job": rng.choice(list("stuvwxyz"), rows),
            "illness": rng.choice(["flu", "cold", "HIV"], rows, p=[0.55, 0.4, 0.05]),
        }
    )


def asked(**changes: Any) -> Spec:
    given = {"qi": ["age", "sex", "region", "job"], "sensitive": "illness", "protect": ["HIV"]}
    return Spec(**{"r": 3, **given, **changes})


@pytest.mark.parametrize(
    ("rows", "support"),
    [(2, 10), (60, 10), (549, 10), (550, 11), (2_000, 40), (4_999, 99), (5_000, 100), (10**7, 100)],
)
def test_min_support_follows_from_the_rows(rows: int, support: int) -> None:
    assert support_for(rows) == support


def test_a_table_states_the_number_and_whoever_gives_one_gets_it() -> None:
    frame = people(1_000)
    assert Table.from_frame(frame, asked()).spec.min_support == 20
    assert Table.from_frame(frame, asked(min_support=7)).min_support == 7
    counted = frame.group_by(frame.columns).len("rows").with_columns(pl.col("rows").cast(pl.Int64))
    cells = Table.from_cells(counted.with_columns(pl.col("rows") * 3), asked())
    assert cells.min_support == 60, "cells count for as many people as they hold"


def test_a_table_answers_the_spec_that_left_it_open_and_no_other_number() -> None:
    table = Table.from_frame(people(1_000), asked())
    assert table.answers(asked())
    assert table.answers(asked(min_support=20))
    assert not table.answers(asked(min_support=100))
    assert plan(table, asked()).views == len(Knowledge.of(table).views)


def test_of_several_columns_all_follow_from_the_rows() -> None:
    frame = people(1_000).with_columns(pl.Series("debt", ["yes", "no", "no", "no"] * 250))
    protect = [{"values": ["HIV"], "column": "illness"}, {"values": ["yes"], "column": "debt"}]
    table = Table.from_frame(frame, asked(sensitive=["illness", "debt"], protect=protect))
    assert table.several is not None
    assert {table.min_support, *(one.min_support for one in table.several.columns)} == {20}


def slow_strata(frame: pl.DataFrame, qi: list[str], support: int) -> tuple[int, int, set[str]]:
    """By the definition: strata of all sets of QIs, people in any, QIs with two that hold half."""
    rows = frame.select(qi).rows()
    strata, inside, known = 0, set[int](), set[str]()
    for size in range(1, len(qi) + 1):
        for places in combinations(range(len(qi)), size):
            keys = [tuple(row[place] for place in places) for row in rows]
            enough = {key for key, count in Counter(keys).items() if count >= support}
            held = {number for number, key in enumerate(keys) if key in enough}
            strata, inside = strata + len(enough), inside | held
            if size == 1 and len(enough) > 1 and 2 * len(held) >= len(rows):
                known.add(qi[places[0]])
    return strata, len(inside), set(qi) - known


@pytest.mark.parametrize("support", [2, 10, 20, 40, 100, 120])
@pytest.mark.parametrize("seed", range(3))
def test_what_is_known_is_counted_as_by_the_definition(support: int, seed: int) -> None:
    qi = ["sex", "region", "job"]
    frame = people(200, seed)
    table = Table.from_frame(frame, asked(qi=qi, min_support=support))
    found = Assumed.of(table, Knowledge.of(table))
    strata, inside, unknown = slow_strata(frame, qi, support)
    assert (found.strata, found.people, set(found.unknown)) == (strata, inside, unknown)
    assert found.hollow is (2 * len(unknown) >= len(qi))


def test_two_hundred_rows_at_a_hundred_are_hollow_and_by_their_size_are_not() -> None:
    frame = people(200)
    hollow = anonymize(frame, asked(min_support=100), seed=1)
    assert hollow.robust, "nearly nothing is known, so nearly anything is robust"
    assert hollow.audit is not None
    sentence = hollow.audit.assumed.hollow_words
    assert sentence == (
        "This verdict says little: the adversary is assumed to know nearly nothing by sex, region "
        "and job (3 of 4 QIs), since strata of at least 100 people (min_support) are too few; for "
        "200 rows it is usually 10."
    )
    assert sentence in repr(hollow.audit)
    table = Table.from_frame(frame, asked())
    found = Assumed.of(table, Knowledge.of(table))
    assert not found.hollow_words
    assert found.words == (
        f"The adversary has statistics on {found.strata} strata of at least 10 people "
        f"(min_support), in {found.views} views; 100 % of the people are in one. Of 4 more sets of "
        "attributes no combination of values has 10 people."
    )


@pytest.mark.parametrize("support", [2, 10, 30, 60])
def test_sets_of_attributes_that_are_no_views_are_counted(support: int) -> None:
    frame, spec = people(200), asked(qi=["sex", "region", "job"], min_support=support)
    table = Table.from_frame(frame, spec)
    found = Assumed.of(table, Knowledge.of(table))
    sets = [some for size in (1, 2, 3) for some in combinations(spec.qi, size)]
    largest = [frame.group_by(some).len()["len"].max() for some in sets]
    assert found.empty == sum(people < support for people in largest)
    assert (f"Of {found.empty} more set" in found.words) is (found.empty > 0)


def test_a_model_knows_by_all_qis_and_a_single_view_by_its_own() -> None:
    table = Table.from_frame(people(600), asked(views=[["sex", "region"]]))
    known = Knowledge.of(table)
    assert Assumed.of(table, known).unknown == ("age", "job")
    assert Assumed.of(table, known).hollow
    chances = np.tile(table.value_rows / table.rows, (len(table.signatures), 1))
    assert not Assumed.of(table, known + Knowledge.model(table, "mine", chances)).unknown


def test_certificate_report_and_verify_say_it(tmp_path: Path) -> None:
    frame = people(200)
    release = anonymize(frame, asked(min_support=100), seed=1)
    assert release.audit is not None
    assert release.certificate["knowledge"]["assumed"] == release.audit.assumed.public()
    assert release.certificate["spec"]["min_support"] == 100
    told = dict(assumptions(release_facts(release, release.made.table)))
    assert release.audit.assumed.hollow_words in told["What they know besides"]
    release.save(tmp_path / "made", private=tmp_path / "private")
    page = (tmp_path / "made" / "README.txt").read_text(encoding="utf-8")
    assert "This verdict says little" in " ".join(page.split())
    checks = {one.name: one.passed for one in verify(tmp_path / "made", table=frame).checks}
    assert checks["what is assumed known"]
    release.certificate["knowledge"]["assumed"]["hollow"] = False
    release.save(tmp_path / "forged", private=tmp_path / "other", alone=True)
    found = verify(tmp_path / "forged")
    assert [one.name for one in found.checks if not one.passed] == ["certificate"]  # 3 of 4 QIs
    release.certificate["knowledge"]["assumed"]["unknown"] = []
    release.save(tmp_path / "lie", private=tmp_path / "another", alone=True)
    checks = {one.name: one.passed for one in verify(tmp_path / "lie", table=frame).checks}
    assert checks["certificate"]
    assert not checks["what is assumed known"]


def test_the_command_line_says_the_number_used(tmp_path: Path) -> None:
    people(1_000).write_csv(tmp_path / "t.csv")
    said = shoal_(
        *("anonymize", tmp_path / "t.csv", "--qi", "sex,region", "--sensitive", "illness"),
        *("--protect", "HIV", "-r", "3", "--out", tmp_path / "out", "--seed", "1"),
    )
    assert "of at least 20 people (min_support)" in said.stdout
