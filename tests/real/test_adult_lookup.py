"""At least k people share every combination: Adult beside ARX's file of the same k."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from scipy import sparse

import shoal
from shoal.data.datasets import ADULT_EVENT, ADULT_QI, ADULT_SENSITIVE
from shoal.data.sources import read_table
from shoal.data.spec import Event, Spec
from shoal.data.table import Table
from shoal.groups.lookup import lookup_of
from shoal.planning.comparison.comparison import released_trial
from shoal.release import Release
from shoal.release.utility.summary import ErrorSummary
from shoal.release.utility.workload import Queries, Workload, exact_counts

pytestmark = pytest.mark.data

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "look-a-person-up.md"
WORKLOAD = Workload(queries=2_000)


def _errors(release: Release, table: Table) -> list[float]:
    """Mean errors of all queries and of those for the event, over the values before recoding: a
    label counts as any of the values that bear it, each as likely (as ARX's are counted)."""
    made, published = release.made.table, release.coded
    assert made is not None
    covers = []
    for place, (mine, own) in enumerate(zip(made.qi, table.qi, strict=True)):
        bears = np.zeros((len(mine), len(own)), bool)
        bears[
            made.signatures[made.row_signature, place], table.signatures[table.row_signature, place]
        ] = True
        order = [mine.labels.index(label) for label in published.columns[place].labels]
        covers.append(bears[order].astype(float))
    held = published.cells
    shape = (len(published.coded), len(published.values))
    cells = sparse.csr_array((held.count, held.code, held.start), shape=shape)
    found = []
    for queries in (WORKLOAD.draw(table), WORKLOAD.draw_protected(table)):
        match = _matching(published.coded, covers, queries)
        shares = published.value_shares(queries.sensitive_labels)
        rows = cells @ (shares @ queries.sensitive_allowed.astype(float))
        average = ErrorSummary.of(exact_counts(table, queries), (match * rows).sum(axis=0)).average
        assert average is not None
        found.append(average)
    return found


def _matching(
    coded: NDArray[np.int32], covers: Sequence[NDArray[np.float64]], queries: Queries
) -> NDArray[np.float64]:
    match = np.ones((len(coded), len(queries)))
    for place, (covered, allowed) in enumerate(zip(covers, queries.allowed, strict=True)):
        share = covered @ allowed.astype(float) / covered.sum(axis=1, keepdims=True)
        match *= share[coded[:, place]]
    return match


def test_the_same_k_as_arx_answers_queries_better(data_root: Path, adult_path: Path) -> None:
    file = data_root / "third_party" / "arx_ldiversity10_local.csv.gz"
    if not file.is_file():
        pytest.skip(f"no release of another tool at {file}")
    adult, other, qi = read_table(adult_path), read_table(file), list(ADULT_QI[:5])
    k = int(other.group_by(qi).len()["len"].min())  # type: ignore[arg-type]
    spec = Spec(qi=qi, sensitive=ADULT_SENSITIVE, protect=(Event(ADULT_EVENT),), r=5)
    table = Table.from_frame(adult, spec)
    arx = released_trial(table, other, None)
    judged = lookup_of(arx.table, arx.grouping, k=k, exact=False)
    assert (judged.fewer_than.people, judged.unique) == (0, 0)
    assert lookup_of(arx.table, arx.grouping, k=k + 1, exact=False).fewer_than.people == k
    release = shoal.anonymize(adult, spec.with_(k=k), seed=1)
    assert release.robust
    assert release.qi_runs.height == table.rows
    counted = release.qi.group_by(qi).len()["len"]
    assert counted.min() >= k  # type: ignore[operator]
    of_arx = arx.errors(WORKLOAD)
    theirs = [of_arx["relative_error"], of_arx["relative_error_protected"]]
    ours = _errors(release, table)
    assert all(mine < their for mine, their in zip(ours, theirs, strict=True))
    cost = release.certificate["audit"]["lookup"]["cost"]
    told = [f"k = {k}", f"{cost['blanked']:,} people", *(f"{100 * one:.1f} %" for one in ours)]
    told += [f"{100 * one:.1f} %" for one in theirs]
    page = PAGE.read_text(encoding="utf-8")
    assert [text for text in told if text not in page] == []


def test_what_adult_shows_as_it_is(adult_path: Path) -> None:
    spec = Spec(qi=ADULT_QI[:5], sensitive=ADULT_SENSITIVE, protect=(Event(ADULT_EVENT),), r=5)
    adult = read_table(adult_path)
    found = shoal.audit(adult, spec, groups=["all"] * adult.height, adversary="binary").lookup
    rows = adult.group_by(ADULT_QI[:5]).len()["len"]
    assert (found.unique, found.fewer_than.people) == (
        (rows == 1).sum(),
        rows.filter(rows < 5).sum(),
    )
    page = PAGE.read_text(encoding="utf-8")
    assert f"{found.unique:,}" in page
    assert f"{found.fewer_than.people:,}" in page
    assert isinstance(rows, pl.Series)
