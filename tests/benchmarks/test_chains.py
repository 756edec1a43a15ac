"""Chains: every month is kept as soon as it is done, and a whole chain is not made again."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks import chains
from benchmarks.chain_tables import attacked, months
from benchmarks.chain_tables import chains as kept
from benchmarks.chains import INTAKES, OUTBREAK, Chain, measure_chains
from benchmarks.settings import hospital_subject
from shoal.data.table import Table


def test_a_chain_is_made_month_by_month_attacked_and_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chains, "TABLES", {"hospital": lambda: hospital_subject(3_000)})
    monkeypatch.setattr(chains, "MONTHS", 2)
    wanted, file = [Chain("hospital", 3.0, "random", 2)], tmp_path / "chains.jsonl"
    measure_chains(lambda line: None, wanted=wanted, file=file)
    first, last = kept(file)
    assert (first["month"], last["month"], last["people"]) == (1, 2, 3_000)
    assert first["told"] == 0
    assert {"counter-all", "intersection", "arrivals"} <= set(last["attackers"])
    before = file.read_text()
    measure_chains(lambda line: pytest.fail("it is there"), wanted=wanted, file=file)
    assert file.read_text() == before
    file.write_text(json.dumps(first) + "\n")  # cut off
    measure_chains(lambda line: None, wanted=wanted, file=file)
    assert len(kept(file)) == 2
    for made in (months, attacked):
        (line,) = made({"chains": kept(file)}).splitlines()[2:]
        assert line.startswith("| hospital | 3 | random | 2 |")


def test_people_come_as_is_said() -> None:
    subject = hospital_subject(6_000)
    cases = Table.from_frame(subject.frame, subject.spec).row_event >= 0
    for name, come in INTAKES.items():
        month = np.floor(come(np.random.default_rng(1), subject)).astype(int)
        assert (month.min(), month.max()) == (0, chains.MONTHS - 1)
        share = np.bincount(month[cases], minlength=12) / np.bincount(month)
        assert (share[OUTBREAK] > 2 * np.median(share)) is np.True_ or "epidemic" not in name
        if name == "by the first QI":
            ages = subject.frame["age"].to_numpy()
            assert all(ages[month < one].max() <= ages[month >= one].min() for one in range(1, 12))
