"""The page on which a release is seen: figures are those of the table and of the audit."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from shoal.auditing.checks import largest_chance
from shoal.data.spec import Spec
from shoal.data.table import Table
from shoal.knowledge import Knowledge
from shoal.release import Release
from shoal.release.facts import load_facts
from shoal.wording import percent
from shoal.workbench import looking
from shoal.workbench.project import Run
from tests.workbench.visitor import Visitor, workbench

EVENT = "HIV|Schizophrenia"


@pytest.fixture(scope="module")
def release(assessed: Run) -> Release:
    return Release.load(assessed.folder / "release")


@pytest.fixture(scope="module")
def rows(assessed: Run) -> pl.DataFrame:
    return pl.read_csv(assessed.folder.parent.parent / "table.csv")


@pytest.fixture(scope="module")
def table(assessed: Run, rows: pl.DataFrame) -> Table:
    return Table.from_frame(rows, Spec.from_mapping(assessed.made["spec"]))


@pytest.fixture(scope="module")
def visitor(assessed: Run, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visitor]:
    folder = tmp_path_factory.mktemp("look") / "p"
    shutil.copytree(assessed.folder.parent.parent, folder)
    with workbench(folder) as opened:
        opened.enter()
        yield opened


def test_a_group_is_what_the_release_says(release: Release) -> None:
    gid = int(release.sensitive["gid"].max() or 0)  # type: ignore[arg-type]
    group = looking.group_of(release, gid)
    assert group is not None
    lines = release.qi.filter(pl.col("gid") == gid).select(pl.col(*release.spec.qi).cast(pl.String))
    people = Counter({shown: count for shown, count, _ in group.people})
    assert people == Counter(lines.rows())
    mine = release.sensitive.filter(pl.col("gid") == gid).select("diagnosis", "count")
    assert group.values == mine.rows()
    assert group.size == lines.height
    assert looking.group_of(release, 0) is looking.group_of(release, gid + 1) is None


def test_links_are_those_of_the_audit(assessed: Run, release: Release, table: Table) -> None:
    """Every view of the most exposed people, against what the audit kept of them."""
    knowledge = Knowledge.of(table)
    told = load_facts(assessed.folder / "private").people
    assert told
    for one in told:
        group = looking.group_of(release, int(one.group))
        assert group is not None
        who = tuple(one.person.values())
        place = next(n for n, (shown, *_) in enumerate(group.people) if shown == who)
        (moved,) = looking.moved(table, knowledge, group, place)
        first = moved.views[0]
        assert (moved.event, moved.limit) == (EVENT, pytest.approx(one.limit))
        assert first.posterior == pytest.approx(one.posterior, abs=1e-9)
        assert (first.attributes, first.prior) == (one.view, pytest.approx(one.before))
        known = [len(step.attributes.split(" + ")) for step in moved.steps[1:]]
        assert known == list(range(1, len(known) + 1))
        assert known
        share = sum(count for value, count in group.values if value == EVENT) / group.size
        assert moved.steps[0].posterior == pytest.approx(share)
        assert {step.attributes for step in moved.steps[1:]} <= {v.attributes for v in moved.views}


def test_a_group_without_a_protected_value_links_nobody(release: Release, table: Table) -> None:
    held = release.sensitive.filter(pl.col("diagnosis") == EVENT)["gid"].to_list()
    gid = next(one for one in release.sensitive["gid"].to_list() if one not in held)
    group = looking.group_of(release, gid)
    assert group is not None
    assert looking.moved(table, Knowledge.of(table), group, 0) == []


def test_what_is_said_of_somebody_is_counted(
    release: Release, table: Table, rows: pl.DataFrame
) -> None:
    mine = rows.filter(pl.col("sex") == "Female", pl.col("region") == "North")
    whole, said = looking.like(release, table, {"sex": "Female", "region": "North"}, "diagnosis")
    assert (whole.before, float(whole.after)) == (mine.height, mine.height)
    for one in said:
        true = mine.filter(pl.col("diagnosis").is_in(one.label.split("|"))).height
        if one.label != "(other)":
            assert one.before == true
        count = release.count({"sex": "Female", "region": "North", "diagnosis": one.label})
        assert (one.after, one.after.interval) == (count, count.interval)
        assert one.share == pytest.approx(min(1, count / mine.height))
    assert sum(one.share for one in said) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("qi", ["age", "sex", "region"])
def test_counts_by_attribute_are_the_tables(
    qi: str, release: Release, table: Table, rows: pl.DataFrame
) -> None:
    lines = looking.crossed(release, table, [qi], "diagnosis", EVENT)
    assert len(lines) <= looking.FEW_BINS
    cases = rows.filter(pl.col("diagnosis").is_in(EVENT.split("|")))
    assert sum(one.before or 0 for one in lines) == cases.height
    for one in lines:
        values = one.label.split(" to ")
        low, high = (values[0], values[-1])
        mine = cases if qi != "age" else cases.filter(pl.col("age").is_between(int(low), int(high)))
        mine = mine if qi == "age" else cases.filter(pl.col(qi) == one.label)
        assert one.before == mine.height
        assert one.after.interval[0] <= one.after <= one.after.interval[1]
    within = [one.after.interval[0] <= (one.before or 0) <= one.after.interval[1] for one in lines]
    assert sum(within) >= len(within) / 2


def test_ranges_of_numbers_leave_the_missing_apart() -> None:
    ages = [*range(20, 50), *[None] * 5, *[90] * 12]
    frame = pl.DataFrame({"age": ages, "ill": ["x", *["y"] * (len(ages) - 1)]})
    spec = Spec(qi=["age"], sensitive="ill", protect=["x"], r=2, min_support=10)
    table = Table.from_frame(frame, spec)
    rows = np.bincount(table.signatures[table.cells.signature, 0], table.cells.rows)
    *bins, (last, codes) = looking._bins(table.qi[0], rows.astype(int))
    assert (last, rows[codes].sum()) == ("(missing)", 5)
    assert [label for label, _ in bins][-1] == "90"
    assert sum(rows[one].sum() for _, one in bins) == 42


def test_counts_by_two_attributes_are_the_tables(
    release: Release, table: Table, rows: pl.DataFrame
) -> None:
    lines = looking.crossed(release, table, ["sex", "region"], "diagnosis", EVENT)
    cases = rows.filter(pl.col("diagnosis").is_in(EVENT.split("|")))
    assert sum(one.before or 0 for one in lines) == cases.height
    for one in lines:
        sex, region = one.label.split(", ")
        mine = cases.filter(pl.col("sex") == sex, pl.col("region") == region)
        assert one.before == mine.height
        count = release.count({"sex": sex, "region": region, "diagnosis": EVENT})
        assert (one.after, one.after.interval) == (count, count.interval)


def test_the_page_and_its_parts(visitor: Visitor, assessed: Run) -> None:
    page = visitor.get("/look")
    assert page.status == 200
    assert f"See the data: run {assessed.name}" in page.words
    assert "/look/groups" in page.text
    parts = visitor.get(f"/look/groups?run={assessed.name}")
    most = load_facts(assessed.folder / "private").people[0]
    assert f"Group {most.group}" in parts.words
    opened = visitor.get(f"/look/group?run={assessed.name}&gid={most.group}")
    assert f"How each attribute moves the link of {', '.join(most.person.values())}" in (
        opened.words
    )
    for wrong in ("0", "999999999", "x", ""):
        answer = visitor.get(f"/look/group?run={assessed.name}&gid={wrong}")
        assert "There is no such group" in answer.words
    run = {"run": assessed.name}
    asked = {**run, "q-sex": "Female", "q-age": "30"}
    assert "people by the release" in visitor.post("/look/like", asked).words
    answer = visitor.post("/look/like", {**run, "q-sex": "<b>"})
    assert "Nobody in the release has" in answer.words
    assert "<b>" not in answer.text
    by_region = visitor.post(
        "/look/crossed", {**run, "by": "region", "also": "sex", "value": EVENT}
    )
    assert "North-East, Female" in by_region.words
    assert 'hx-get="/look/like"' not in visitor.get(f"/look/like?run={assessed.name}").text
    assert visitor.get("/look/like?run=0999").status == 404


def test_the_picture_of_all_runs_leads_to_each(visitor: Visitor, assessed: Run) -> None:
    found, facts = assessed.result("anonymize"), load_facts(assessed.folder / "private")
    assert found is not None
    assert facts.queries is not None
    assert "/runs/picture" in visitor.get("/runs").text
    picture = visitor.get("/runs/picture").text
    place = f"http://127.0.0.1:{visitor.port}/runs/{assessed.name}"
    assert picture.count(f'<a xlink:href="{place}"') == 2, "drawn for two widths"
    assert picture.count('role="group"') == 2, "what holds links is no image"
    error = facts.queries.lines[-1].mean
    largest = largest_chance(facts.checks, found["worst_posterior"])
    assert largest >= max(one.worst or 0.0 for one in facts.checks)
    said = f"{percent(largest)}, error {percent(error)}"
    assert picture.count(f'aria-label="{assessed.name} art, r = {found["r"]:g}: {said}"') == 2


def test_a_table_that_is_another_now_is_not_shown_as_this_one(
    visitor: Visitor, assessed: Run, rows: pl.DataFrame
) -> None:
    path = Path(visitor.project.folder) / "table.csv"
    kept = path.read_bytes()
    try:
        rows.head(1_000).write_csv(path)
        parts = visitor.get(f"/look/groups?run={assessed.name}")
        assert "the table is another now" in parts.words
        assert "in the table" not in visitor.get(f"/look/like?run={assessed.name}").words
    finally:
        path.write_bytes(kept)
