"""The attacker who reads leanings: told apart where they stand out, within limits where fitted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import shoal
from shoal.utility.leaning import shares_of
from tests.attacks.test_attackers import attacked, marked, scene_of
from tests.release.test_leanings import people, spec_of


def test_whoever_counts_as_most_is_named() -> None:
    scene = scene_of(marked())
    carries = scene.carriers[scene.grouping.signature].max(axis=1) > 0
    found = attacked(replace(scene, leaning=np.where(carries, 0.3, 0.01)), "leaning")["leaning"]
    assert found.everybody.rate > 0.9
    none = attacked(scene, "leaning")
    assert [(one.attacker, one.reason) for one in none.not_run] == [
        ("leaning", "The release does not tell how people lean.")
    ]


@pytest.mark.parametrize("r", [4, 6])
def test_fitted_leanings_name_nobody_above_the_limit(r: int) -> None:
    release = shoal.anonymize(people(5, rows=12_000), spec_of(r=r), seed=1)
    assert release.share is not None
    found = shoal.attack(release, attackers=["leaning"])
    assert found.withstood
    (one,) = found.findings
    assert one.everybody.tries > 200
    assert one.everybody.hits / one.everybody.tries < 1.2 / r


@pytest.mark.parametrize("record", ["rows", "cells"])
def test_shares_are_found_again_in_a_folder(record: str, tmp_path: Path) -> None:
    frame = people(5)
    release = shoal.anonymize(frame, spec_of(), seed=1)
    assert release.original is not None
    assert release.grouping is not None
    mine = shares_of(release, release.original, release.grouping)
    people_of = zip(release.grouping.group, release.grouping.signature, strict=True)
    assert mine is not None
    shown = {
        (one["gid"], one["place"], one["age"], one["sex"]): one["share"]
        for one in release.qi.iter_rows(named=True)
    }
    first = np.cumsum(release.grouping.copies) - release.grouping.copies + 1
    for (group, signature), share in zip(people_of, mine, strict=True):
        codes = release.original.signatures[signature]
        domains = [column.values for column in release.original.qi]
        named = [values[int(code)] for values, code in zip(domains, codes, strict=True)]
        told = shown[(first[group], *named)]
        assert np.isnan(share) if told is None else share == told
    release.save(tmp_path / "out", private=tmp_path / "private", record=record)  # type: ignore[arg-type]
    again = shoal.attack(
        tmp_path / "out", table=frame, private=tmp_path / "private", attackers=["leaning"], seed=0
    )
    here = shoal.attack(release, attackers=["leaning"], seed=0)
    assert again.findings[0].everybody == here.findings[0].everybody
