"""A release beside another one of the same people is noticed; other people are left in peace."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.data.datasets import HOSPITAL_EVENT, HOSPITAL_QI, HOSPITAL_SENSITIVE, hospital
from shoal.release import people
from shoal.release.people import PEOPLE, People, _of_values

ROWS = 3000
SPEC = shoal.Spec(qi=HOSPITAL_QI[:3], sensitive=HOSPITAL_SENSITIVE, protect=[HOSPITAL_EVENT], r=2)
NAMED = SPEC.with_(identifiers=["patient"])


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    return hospital(ROWS, 4)


def part(one: pl.DataFrame, other: pl.DataFrame, spec: shoal.Spec = SPEC) -> float:
    """The part that is found in both, nought where they are taken for other people."""
    found = People.of([one], spec).shared(People.of([other], spec))
    return 0.0 if found is None else found[0]


def test_the_same_people_in_whatever_table(frame: pl.DataFrame) -> None:
    rng = np.random.default_rng(1)
    mended = frame.with_columns(
        age=pl.when(pl.Series(rng.random(ROWS) < 0.1)).then(pl.col("age") + 1).otherwise("age")
    )
    newcomers = hospital(2 * ROWS, 9).tail(ROWS)
    for other in (
        frame.sample(fraction=1, shuffle=True, seed=1),
        frame.sample(300, seed=1),
        pl.concat([frame, newcomers]),
        pl.concat([frame.tail(ROWS // 2), newcomers]),
        frame.select(sorted(frame.columns)),
        mended,
    ):
        assert part(frame, other) > 0.4
        assert part(other, frame) > 0.4
    assert part(frame, frame.drop("ward", "occupation")) == 1, "known by the columns of the spec"
    coarse = frame.with_columns(age=pl.col("age") // 10, ward=pl.lit("-"))
    assert part(frame, coarse) == 0
    assert part(frame, coarse, NAMED) == 1


def test_other_people_are_left_in_peace(frame: pl.DataFrame) -> None:
    for seed in (5, 6, 7):
        other = hospital(ROWS, seed).with_columns(patient=pl.lit("Q") + pl.col("patient"))
        assert part(frame, other) == 0
        assert part(frame, other, NAMED) == 0
        narrow = frame.select(*SPEC.qi, *SPEC.sensitive_columns)
        assert part(narrow, other.select(narrow.columns)) == 0
    # Numbers that begin anew are the same people, as far as anybody can tell.
    assert part(frame, hospital(ROWS, 5), NAMED) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([1, 2, None], ["1", "2.0", None]),
        ([1.0, 2.5], ["1", "2.50"]),
        ([10**17 + 1, 10**17], [str(10**17 + 1), str(10**17)]),
        (["a", "b", "a"], pl.Series(["a", "b", "a"], dtype=pl.Categorical)),
        ([True, False], ["true", "false"]),
    ],
)
def test_a_value_has_one_hash_however_it_is_written(one: object, other: object) -> None:
    made = [_of_values(pl.Series("x", each)) for each in (one, other)]
    assert np.array_equal(*made)
    assert len(np.unique(made[0])) == pl.Series(one).n_unique()


def test_rows_that_come_some_after_the_other_have_the_same_record(
    frame: pl.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = People.of([frame], NAMED)
    monkeypatch.setattr(people, "HELD", 2 * people.SAMPLE)
    parts = People.of(frame.iter_slices(700), NAMED)
    assert parts.table == whole.table
    for one, other in zip(parts.sketches, whole.sketches, strict=True):
        assert np.array_equal(one.hashes, other.hashes)
        assert np.array_equal(one.often, other.often)


def test_saving_beside_is_refused_and_nothing_public_tells_of_it(
    frame: pl.DataFrame, tmp_path: Path
) -> None:
    for name, seed in (("a", 3), ("b", 4)):
        made = shoal.anonymize(frame, SPEC, seed=seed)
        if name == "b":
            with pytest.raises(shoal.InputError, match="has no ledger"):
                made.save(tmp_path / name, private=tmp_path / "b-private")
            assert not (tmp_path / "b").exists()
        made.save(tmp_path / name, private=tmp_path / f"{name}-private", alone=name == "b")
        assert (tmp_path / f"{name}-private" / PEOPLE).is_file()
    own = People.read(tmp_path / "a-private")
    assert own is not None
    marks = {str(one) for sketch in own.sketches for one in sketch.hashes} | {own.table}
    public = "".join(one.read_text() for one in (tmp_path / "a").iterdir())
    assert not any(one in public for one in marks)
    # What is replaced counts as never published; a record that cannot be read tells nothing.
    (tmp_path / "b-private" / PEOPLE).write_text("{")
    again = shoal.anonymize(frame, SPEC, seed=5)
    again.save(tmp_path / "a", private=tmp_path / "a-private", force=True)


def test_a_text_that_many_cells_hold_is_hashed_as_if_it_stood_alone() -> None:
    texts = ["HIV", None, "", " 7", "1e3", "7.0", "ü" * 20, "NaN"]
    column = pl.Series("seen", texts * 40).sample(fraction=1, shuffle=True, seed=2)
    often = people._of_column(column)
    alone = [people._of_column(pl.Series("seen", [text], pl.String))[0] for text in column]
    assert people.OFTEN * len(texts) < len(column)
    np.testing.assert_array_equal(often, alone)
