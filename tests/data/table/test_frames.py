"""Frames: any kind in, Polars inside, the same kind out."""

from __future__ import annotations

from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

from shoal.data.table.frames import like, to_polars
from shoal.errors import InputError

CONTENT: dict[str, list[Any]] = {"name": ["a", None, "c"], "size": [1.5, 2.0, None], "n": [1, 2, 3]}
POLARS = pl.DataFrame(CONTENT)
KINDS = [POLARS, pd.DataFrame(CONTENT), pa.table(CONTENT)]
IDS = ["polars", "pandas", "pyarrow"]


@pytest.mark.parametrize("frame", [*KINDS, POLARS.lazy()], ids=[*IDS, "lazy"])
def test_every_kind_of_frame_is_read(frame: Any) -> None:
    copy = to_polars(frame)
    assert isinstance(copy, pl.DataFrame)
    assert_frame_equal(copy, POLARS)


@pytest.mark.parametrize("original", KINDS, ids=IDS)
def test_the_caller_gets_the_kind_that_they_gave(original: Any) -> None:
    result = pl.DataFrame({"row": [3, 1], "who": ["x", "ü"], "worst": [0.25, None]})
    returned = like(result, original)
    assert type(returned) is type(original)
    assert_frame_equal(to_polars(returned), result)


def test_a_lazy_frame_gets_an_eager_answer() -> None:
    assert_frame_equal(like(POLARS, POLARS.lazy()), POLARS)


def test_an_index_is_no_column() -> None:
    frame = pd.DataFrame({"a": [1, 2]}, index=["x", "y"])
    assert to_polars(frame).columns == ["a"]


@pytest.mark.parametrize("thing", [None, {"a": [1]}, [1, 2], "table.csv", pd.Series([1]), 7])
def test_what_is_no_frame_is_refused(thing: Any) -> None:
    with pytest.raises(InputError) as raised:
        to_polars(thing)
    assert raised.value.code == "frame"
    assert raised.value.problem == (f"A {type(thing).__name__} is no data frame that shoal knows.")


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "unique column names"),
        (pa.table([[1], [2]], names=["a", "a"]), "unique column names"),
        (pd.DataFrame({"a": [1, "x"]}), "Could not convert 'x'"),
        (pd.DataFrame({"a": ["x", 1]}), "'int' object"),
    ],
    ids=["pandas twice", "pyarrow twice", "number then text", "text then number"],
)
def test_frames_whose_content_cannot_be_read(frame: Any, reason: str) -> None:
    with pytest.raises(InputError, match=reason) as raised:
        to_polars(frame)
    assert raised.value.code == "frame"
    assert raised.value.problem.startswith("The data frame cannot be read: ")
    assert "\n" not in str(raised.value)
    assert raised.value.remedy == "Give every column a name of its own and one type of value."
