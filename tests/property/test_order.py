"""The order of the rows, and columns that are not used, reach no published byte."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.data.table import Table

METHODS = {
    "art": {"max_suppression": 1},
    "art, a model": {"max_suppression": 1, "model": "kernel"},
    "art, generalized": {"max_suppression": 1, "form": "generalized"},
    "art, bound": {"max_suppression": 1, "condition": "bound"},
    "anatomy": {},
    "mask": {},
    "injector": {},
    "t-closeness": {"t": 0.5, "max_suppression": 0.5},
    "mondrian": {"k": 3},
}
Made = tuple[pl.DataFrame, shoal.Spec]


def people(seed: int) -> pl.DataFrame:
    """Zeros of both signs, categories, and values that those of one letter have more often."""
    rng = np.random.default_rng(seed)
    letter = rng.choice([*"abc"], 150)
    often = rng.choice([*"abcde"], 150, p=[0.25, 0.2, 0.15, 0.1, 0.3])
    seldom = rng.choice([*"abcde"], 150, p=[0.02, 0.03, 0.05, 0.3, 0.6])
    return pl.DataFrame(
        {
            "number": rng.choice([0.0, -0.0, 1.5], 150),
            "letter": pl.Series(letter, dtype=pl.Categorical),
            "x": np.where(letter == "a", often, seldom),
            "y": rng.choice([*"hij"], 150, p=[0.1, 0.3, 0.6]),
        }
    )


def one_column(seed: int) -> Made:
    event = shoal.Event(("a", "b"), label="ab")
    qi = ["number", "letter"]
    return people(seed), shoal.Spec(qi=qi, sensitive="x", protect=[event], r=3, min_support=5)


def several_columns(seed: int, *, apart: bool) -> Made:
    spec = shoal.Spec(
        qi=["number", "letter"],
        sensitive=["x", "y"],
        protect=[shoal.Event(("a", "b"), label="ab", column="x"), shoal.Event(("h",), column="y")],
        r=3,
        min_support=5,
        publish_apart=apart,
    )
    return people(seed), spec


def shuffled(frame: pl.DataFrame, seed: int) -> tuple[pl.DataFrame, pl.Series]:
    """The same people in another order, the columns too; and where each of them stood."""
    names = np.random.default_rng(seed).permutation(frame.columns).tolist()
    mixed = frame.with_row_index("place").sample(fraction=1, shuffle=True, seed=seed)
    texts = mixed.with_columns(pl.col(pl.Categorical).cast(pl.String))
    again = texts.select(pl.col(name).cast(frame.schema[name]) for name in names)
    return again.with_columns(unused=pl.int_range(pl.len())), mixed["place"]


def written(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.mark.parametrize("method", METHODS)
def test_the_same_people_in_any_order_give_the_same_bytes(method: str, tmp_path: Path) -> None:
    check_order(one_column(0), method, 0, tmp_path)


@pytest.mark.parametrize("apart", [True, False])
def test_so_they_do_with_several_sensitive_columns(apart: bool, tmp_path: Path) -> None:
    check_order(several_columns(3, apart=apart), "art", 3, tmp_path)


def check_order(made: Made, method: str, seed: int, folder: Path) -> None:
    frame, spec = made
    parameters = {"method": method.split(",")[0], **METHODS[method]}
    other, place = shuffled(frame, seed)
    first, second = (shoal.anonymize(one, spec, seed=seed, **parameters) for one in (frame, other))
    first.save(folder / "first", private=folder / "private")
    second.save(folder / "second", private=folder / "private-2")
    assert written(folder / "first") == written(folder / "second")

    # The private records differ in who of those that are alike is where, and in nothing else.
    for record, one in (("private", frame), ("private-2", other)):
        assert shoal.verify(folder / "first", table=one, private=folder / record).confirmed
    table = Table.from_frame(frame, spec)
    back = np.empty(len(place), np.int32)
    back[place.to_numpy()] = second.row_groups
    kinds = [
        sorted(zip(groups >= 0, table.row_signature, table.row_member, strict=True))
        for groups in (first.row_groups, back)
    ]
    assert kinds[0] == kinds[1]


def test_what_is_lost_is_drawn_by_the_seed() -> None:
    """Somebody with a value behind a label is lost, and chance decides who it is."""
    frame, spec = one_column(0)
    lost = set()
    for seed in range(6):
        release = shoal.anonymize(frame, spec, seed=seed, max_suppression=1)
        assert release.certificate["rows"]["suppressed_with_event"] > 0
        lost.add(tuple(release.members["count"].to_list()))
    assert len(lost) > 1
