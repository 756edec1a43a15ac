"""What reports are made of: an audit's facts, and a release."""

from __future__ import annotations

import pytest

import shoal
from shoal.data.datasets import HOSPITAL_EVENT, HOSPITAL_QI, hospital
from shoal.data.table import Table
from shoal.release import facts as recorded
from shoal.release.facts.contents import Facts
from tests.report.marked import ROWS, marked_table


@pytest.fixture(scope="session")
def facts() -> Facts:
    table = marked_table()
    labels = [f"GROUP-MARK-{n // 6}" for n in range(ROWS)]
    return recorded.audit_facts(
        shoal.audit(table, labels),
        table,
        repeat=recorded.Repeat(command="shoal audit SECRET-PLACE.csv", seed=3),
    )


@pytest.fixture(scope="session")
def made() -> tuple[shoal.Release, Table]:
    spec = shoal.Spec(
        qi=HOSPITAL_QI, sensitive="diagnosis", protect=[HOSPITAL_EVENT], r=3, min_support=100
    )
    table = Table.from_frame(hospital(2_000, seed=4), spec)
    return shoal.anonymize(table, spec, method="anatomy", l=4, seed=9), table
