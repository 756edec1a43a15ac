"""Leanings that were edited, with everything else made to fit: verify refuses."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.errors import InputError
from shoal.file_names import CERTIFICATE
from shoal.release import leaning_fit
from tests.forging import mend, refused
from tests.release.test_leanings import people, spec_of

FRAME = people(1)
Edit = Callable[[pl.DataFrame], pl.DataFrame]
SHARE = pl.col("share")
KIND = ("place", "age", "sex")


@pytest.fixture(scope="module", params=["absolute", "prior"])
def honest(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("honest")
    release = shoal.anonymize(FRAME, spec_of(r=5, limit=request.param), seed=5)
    assert release.share == "share"
    release.save(home / "release", private=home / "private")
    assert shoal.verify(home / "release", FRAME, private=home / "private").confirmed
    return home


def to_the_ends(told: pl.DataFrame) -> pl.DataFrame:
    """In each group of two kinds of people as much as may be taken from one, for the other."""
    size = pl.len().over("gid")
    first = pl.struct("place", "age", "sex").rank("dense").over("gid") == 1
    many = first.sum().over("gid")
    least = 0.15 * SHARE.sum().over("gid") / size
    rest = (SHARE.sum().over("gid") - many * least) / (size - many)
    return told.with_columns(
        share=pl.when(many < size).then(pl.when(first).then(least).otherwise(rest)).otherwise(SHARE)
    )


def equal(told: pl.DataFrame) -> pl.DataFrame:
    return told.with_columns(share=SHARE.mean().over("gid"))


def other_way(told: pl.DataFrame) -> pl.DataFrame:
    """Who counts as more counts as less, as far as that is allowed."""
    mean = SHARE.mean().over("gid")
    room = pl.max_horizontal(SHARE.max().over("gid") - mean, mean - SHARE.min().over("gid"))
    turned = mean - (SHARE - mean) * (0.5 * (mean - 0.11 * mean) / room).clip(0, 1)
    return told.with_columns(share=pl.when(room > 0).then(turned).otherwise(SHARE))


def nudged(who: pl.Expr, part: float = 0.01) -> Edit:
    """Shares of some people a little larger, and of all others of their groups smaller."""
    total = SHARE.sum().over("gid")

    def edit(told: pl.DataFrame) -> pl.DataFrame:
        before = told.select(total)["share"]
        less = told.with_columns(share=pl.when(who).then(SHARE * (1 - part)).otherwise(SHARE))
        return less.with_columns(share=SHARE / total * before)

    return edit


def marked(told: pl.DataFrame) -> pl.DataFrame:
    """Not a number in place of nothing, for some."""
    some = pl.int_range(pl.len()) % 2 == 0
    return told.with_columns(
        share=pl.when(SHARE.is_null() & some).then(float("nan")).otherwise(SHARE)
    )


CHANGES: dict[str, tuple[Edit, bool]] = {
    "marks in place of nothing": (marked, False),
    "more digits": (lambda told: told.with_columns(share=SHARE + 1e-9), False),
    "one group nudged": (nudged((pl.col("gid") < 2_000) & (pl.col("sex") == "f")), False),
    "a kind of people nudged everywhere": (
        nudged((pl.col("sex") == "f") & (pl.col("age") == 1) & (pl.col("place") == "east"), 0.05),
        True,
    ),
    "all the other way": (other_way, True),
    "all equal": (equal, True),
    "to the ends": (to_the_ends, True),
    "not a number": (lambda told: told.with_columns(share=pl.lit(float("nan"))), False),
    "below nothing": (lambda told: told.with_columns(share=-SHARE), False),
    "without end": (lambda told: told.with_columns(share=SHARE * float("inf")), False),
    "twice as much": (lambda told: told.with_columns(share=SHARE * 2), False),
    "next to nothing": (
        lambda told: told.with_columns(
            share=pl.when(pl.int_range(pl.len()).over("gid") == 0).then(SHARE / 50).otherwise(SHARE)
        ),
        False,
    ),
    "some not told": (
        lambda told: told.with_columns(share=pl.when(pl.col("sex") == "f").then(SHARE)),
        False,
    ),
    "a group not told": (
        lambda told: told.with_columns(
            share=pl.when(pl.col("gid") != told.drop_nulls()["gid"][0]).then(SHARE)
        ),
        False,
    ),
    "all told": (lambda told: told.with_columns(share=SHARE.fill_null(0.1)), False),
    "one of those who are alike marked": (
        lambda told: told.with_columns(
            share=SHARE
            + pl.when(pl.len().over("gid", "place", "age", "sex") == 2)
            .then(
                pl.when(pl.int_range(pl.len()).over("gid", "place", "age", "sex") == 0)
                .then(1e-4)
                .otherwise(-1e-4)
            )
            .otherwise(0)
        ),
        False,
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_no_share_can_be_changed(honest: Path, tmp_path: Path, change: str) -> None:
    folder = Path(shutil.copytree(honest / "release", tmp_path / "release"))
    edit, needs_table = CHANGES[change]
    table = pl.read_csv(folder / "qi.csv")
    edited = edit(table)
    assert not edited.equals(table)
    if change != "more digits":
        edited = edited.with_columns(SHARE.round_sig_figs(6))
    edited.write_csv(folder / "qi.csv")
    mend(folder)
    assert refused(folder, table=FRAME)
    assert needs_table or refused(folder)


def test_shares_above_the_paper_s_limit_need_no_table(tmp_path: Path) -> None:
    """Everything of a group to one kind of people, as far as others are left their least."""
    release = shoal.anonymize(FRAME, spec_of(r=5), seed=5)
    release.save(tmp_path / "release")
    folder = tmp_path / "release"
    forged = to_the_ends(pl.read_csv(folder / "qi.csv"))
    forged.with_columns(SHARE.round_sig_figs(6)).write_csv(folder / "qi.csv")
    mend(folder)
    (fault,) = [one for one in shoal.verify(folder).checks if not one.passed]
    assert fault.name == "leanings"
    assert "people above 1/r" in fault.detail


@pytest.mark.parametrize("part", ["column", "words"])
def test_leanings_that_were_left_out_are_missed(honest: Path, tmp_path: Path, part: str) -> None:
    folder = Path(shutil.copytree(honest / "release", tmp_path / "release"))
    if part == "column":
        pl.read_csv(folder / "qi.csv").drop("share").write_csv(folder / "qi.csv")
    else:
        told = json.loads((folder / CERTIFICATE).read_text("utf-8"))
        del told["leanings"]
        (folder / CERTIFICATE).write_text(json.dumps(told), "utf-8")
    mend(folder)
    assert refused(folder)


@pytest.mark.parametrize(
    "edit",
    [
        lambda told: {**told, "told": {"ill": told["told"]["ill"] + 1}},
        lambda told: {**told, "told": {**told["told"], "flu": 3}},
        lambda told: {**told, "told": {}},
        lambda told: {**told, "column": "age"},
        lambda told: {**told, "column": "gid"},
    ],
    ids=["more people", "another event", "nobody", "an attribute", "the group"],
)
def test_the_certificate_cannot_say_otherwise(
    honest: Path, tmp_path: Path, edit: Callable[[Any], Any]
) -> None:
    folder = Path(shutil.copytree(honest / "release", tmp_path / "release"))
    told = json.loads((folder / CERTIFICATE).read_text("utf-8"))
    told["leanings"] = edit(told["leanings"])
    (folder / CERTIFICATE).write_text(json.dumps(told), "utf-8")
    mend(folder)
    assert refused(folder)


def test_the_column_cannot_be_called_something_else(honest: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(honest / "release", tmp_path / "release"))
    pl.read_csv(folder / "qi.csv").rename({"share": "chance"}).write_csv(folder / "qi.csv")
    for name in (CERTIFICATE, "datapackage.json"):
        text = (folder / name).read_text("utf-8")
        (folder / name).write_text(text.replace('"share"', '"chance"'), "utf-8")
    mend(folder)
    assert refused(folder)


def test_a_class_cannot_be_counted_wrong_on_purpose(honest: Path, tmp_path: Path) -> None:
    """Shares that are right on average, with one class of people made to carry far less."""
    folder = Path(shutil.copytree(honest / "release", tmp_path / "release"))
    hidden, equally = pl.col("place") == "south", SHARE.sum().over("gid") / pl.len().over("gid")
    cut = pl.when(hidden).then(pl.min_horizontal(SHARE, 0.11 * equally)).otherwise(SHARE)
    more = (SHARE.sum() - pl.col("cut").sum()).over("gid") / (~hidden).sum().over("gid")
    forged = (
        pl.read_csv(folder / "qi.csv")
        .with_columns(cut=cut)
        .with_columns(
            share=pl.when((~hidden).sum().over("gid") == 0)
            .then(SHARE)
            .otherwise(pl.when(hidden).then("cut").otherwise(SHARE + more))
        )
        .drop("cut")
    )
    forged.with_columns(SHARE.round_sig_figs(6)).write_csv(folder / "qi.csv")
    mend(folder)
    assert refused(folder, table=FRAME)


@pytest.mark.parametrize(
    "views",
    [
        [("age", "place"), ("sex", "place"), ("place",), ("age",)],
        [("place", "age"), ("age", "place"), ("place",)],
        [(), ("place",), ("age", "place")],
    ],
    ids=["another order", "the same twice", "of nothing"],
)
def test_views_may_name_attributes_in_any_order(tmp_path: Path, views: list[Any]) -> None:
    made = shoal.anonymize(FRAME, spec_of(r=5, views=views), seed=5)
    assert made.share is not None
    made.save(tmp_path / "release")
    assert shoal.verify(tmp_path / "release", FRAME).confirmed


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_decimal_numbers_keep_their_shares(tmp_path: Path, format: str) -> None:
    """1.10 in the table is 1.1 in the release."""
    dose = (people(1)["age"].cast(pl.Decimal(10, 2)) * Decimal("1.10")).cast(pl.Decimal(10, 2))
    frame = FRAME.with_columns(age=dose)
    made = shoal.anonymize(frame, spec_of(r=5), seed=5)
    made.save(tmp_path / "release", format=format)
    assert shoal.verify(tmp_path / "release", frame).confirmed
    loaded = shoal.Release.load(tmp_path / "release")
    where = {"age": [Decimal("1.10")], "state": "ill"}
    assert made.count(where) != made.count(where, shares="equal")
    assert loaded.count({"age": 1.1, "state": "ill"}) == pytest.approx(made.count(where))


@pytest.mark.parametrize(
    "edit",
    [
        lambda told: told.drop("share"),
        lambda told: told.with_columns(share=SHARE.cast(pl.String)),
        lambda told: told.with_columns(share=SHARE * 20),
    ],
    ids=["no column", "texts", "too much"],
)
def test_what_cannot_be_read_is_said_in_a_sentence(edit: Edit) -> None:
    made = shoal.anonymize(FRAME, spec_of(r=5), seed=5)
    broken = replace(made, qi_held=edit(made.qi))
    with pytest.raises(InputError, match="cannot be read"):
        broken.count({"state": "ill"})
    assert broken.count({"state": "ill"}, shares="equal") > 0


def test_what_is_only_written_again_is_confirmed(honest: Path, tmp_path: Path) -> None:
    """So that what is refused elsewhere is refused for what was changed."""
    folder = Path(shutil.copytree(honest / "release", tmp_path / "release"))
    table = pl.read_csv(folder / "qi.csv").with_columns(SHARE.round_sig_figs(6))
    table.write_csv(folder / "qi.csv")
    mend(folder)
    assert shoal.verify(folder, FRAME).confirmed


def test_one_person_s_attributes_cannot_have_a_weight_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Made as shoal makes shares, but for one weight: by the files alone nothing is wrong."""
    fitted = leaning_fit._logarithms

    def marked(*given: Any) -> Any:
        logarithms = fitted(*given)
        assert logarithms is not None
        logarithms[5] += 0.2
        return logarithms

    monkeypatch.setattr(leaning_fit, "_logarithms", marked)
    houses = np.random.default_rng(1).integers(0, 9, FRAME.height)
    frame = FRAME.with_columns(house=pl.Series(houses).cast(pl.String))
    spec = spec_of(r=5).with_(qi=(*KIND, "house"))
    shoal.anonymize(frame, spec, seed=5).save(tmp_path / "release")
    assert shoal.verify(tmp_path / "release").confirmed
    (fault,) = [one for one in shoal.verify(tmp_path / "release", frame).checks if not one.passed]
    assert fault.detail == "weights are not those of known classes"


def test_people_of_one_group_cannot_be_marked(tmp_path: Path) -> None:
    """Two kinds of people of a group who are not at a bound, the one a little more, the other
    less."""
    shoal.anonymize(FRAME, spec_of(r=5), seed=5).save(tmp_path / "release")
    folder = tmp_path / "release"
    table = pl.read_csv(folder / "qi.csv")
    equal = SHARE.sum().over("gid") / pl.len().over("gid")
    inside = table.filter((0.2 * equal < SHARE) & (SHARE < 0.18), SHARE.is_not_null())
    kinds = inside.group_by("gid", "place", "age", "sex", maintain_order=True).agg(
        pl.len(), SHARE.first()
    )
    one, other = next(
        group.rows(named=True)[:2]
        for _, group in kinds.group_by("gid", maintain_order=True)
        if group.height > 1
    )
    moved = 0.02 * min(person["len"] * person["share"] for person in (one, other))
    for person, more in ((one, moved / one["len"]), (other, -moved / other["len"])):
        mine = pl.all_horizontal(pl.col(name) == person[name] for name in ("gid", *KIND))
        table = table.with_columns(share=pl.when(mine).then(SHARE + more).otherwise(SHARE))
    table.with_columns(SHARE.round_sig_figs(6)).write_csv(folder / "qi.csv")
    mend(folder)
    (fault,) = [check for check in shoal.verify(folder).checks if not check.passed]
    assert "not by weight as the others are" in fault.detail
