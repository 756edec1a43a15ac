"""What would not fit into memory is refused before the search, with the columns to blame."""

from __future__ import annotations

import tracemalloc

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.data.table import Table
from shoal.knowledge import Knowledge, as_readers
from shoal.methods.art import Art
from shoal.methods.art.asked import Asked
from shoal.methods.art.outset import needed_memory


def wide_table(rows: int = 20_000) -> Table:
    """Six QIs; the first has most values."""
    rng = np.random.default_rng(0)
    columns = {f"q{k}": rng.integers(0, size, rows) for k, size in enumerate((500, 4, 3, 3, 2, 2))}
    values = rng.choice(["x", "y", "z"], rows, p=[0.01, 0.5, 0.49])
    spec = shoal.Spec(qi=tuple(columns), sensitive="v", protect=("x",), r=3, min_support=50)  # type: ignore[arg-type]
    return Table.from_frame(pl.DataFrame({**columns, "v": values}), spec)


def test_the_columns_that_bring_most_are_named() -> None:
    table = wide_table()
    with (
        shoal.memory_limit("10MB"),
        pytest.raises(shoal.InputError, match=r"may be taken") as refused,
    ):
        Art().anonymize(table)
    left = table.signatures[:, 1:]
    told = f"{len(np.unique(left, axis=0)):,} without q0 (500)"
    assert refused.value.remedy.startswith(
        f"Of {len(table.signatures):,} combinations there would be (values of the QI): {told};"
    )


@pytest.mark.parametrize("rows", [5_000, 40_000])
def test_what_is_said_to_be_taken_is_taken(rows: int) -> None:
    """By all of NumPy's arrays; what kernels take for themselves is not counted here."""
    table = wide_table(rows)
    Art(max_suppression=1).anonymize(wide_table(2_000))
    tracemalloc.start()
    known = Knowledge.of(table)
    Art(max_suppression=1, knowledge=known).anonymize(table)
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    asked = Asked.of(table, known, as_readers(("joint", "binary")))
    kinds = int(np.bincount(table.cells.value)[1:].max())
    assert taken <= needed_memory(asked, kinds) <= 1.5 * taken


def test_what_fits_is_not_refused() -> None:
    with shoal.memory_limit("1GB"):
        assert Art(max_suppression=1).anonymize(wide_table()).published
