"""Attackers who hold several releases: against all worlds, on fresh releases, and on a chain."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings

import shoal
from shoal.attacks import Scene, as_attackers
from shoal.attacks.rate import CERTAIN
from shoal.attacks.together import Arrivals, Differencer, Intersector
from shoal.groups import Grouping
from shoal.knowledge import Knowledge
from tests.auditing.releases.test_oracle import PROTECTED, chances, published, shown
from tests.cli.program import refused, shoal_
from tests.oracle.releases import posteriors

NAMES = ("intersection", "difference", "arrivals")
SPEC = shoal.Spec(
    qi=["age", "sex", "region"],
    sensitive="diagnosis",
    protect=[["HIV", "Schizophrenia"]],
    identifiers=["patient"],
    r=5,
)


@given(published())
@settings(max_examples=200, deadline=None)
def test_whoever_is_named_with_certainty_has_it_in_every_world(case):
    values, places, releases, r = case
    releases = [one for one in releases if any(group is not None for group in one.groups)]
    frame = pl.DataFrame({"place": places, "ill": values})
    protect = [[one] for one in PROTECTED if one in values]
    spec = shoal.Spec(qi=["place"], sensitive="ill", protect=protect, r=r, min_support=1)
    table = shoal.Table.from_frame(frame, spec)
    told = tuple(shown(table, one) for one in releases)
    pooled = np.array(
        [
            (told[0].value == len(table.values))[told[0].group == one].any()
            for one in range(told[0].group.max() + 1)
        ]
    )
    grouping = Grouping.of_rows(table, told[0].group, pooled=pooled)
    scene = Scene(table, grouping, Knowledge.of(table), shown=told)
    known = chances(values, places)
    sure = {
        event: {
            table.row_signature[j]
            for j, chance in enumerate(
                posteriors(known, values, releases, PROTECTED, event, joint=True)
            )
            if chance == 1
        }
        for event in PROTECTED
        if event in values
    }
    for attacker in (Intersector(), Differencer(), Arrivals()):
        for guess in attacker.attack(scene):
            lineup = guess.lineup
            assert guess.chance is not None
            assert lineup.people.sum() >= lineup.carrying.sum()
            for suspect in np.flatnonzero(guess.chance >= CERTAIN):
                event = table.events[lineup.event[lineup.question[suspect]]].label
                signature = lineup.signature[suspect]
                if not isinstance(attacker, Arrivals):  # who knows more than chances: counts
                    assert signature in sure[event], attacker.name
                assert lineup.carrying[suspect] == lineup.people[suspect]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two fresh releases of the same people, and two of a chain."""
    folder = tmp_path_factory.mktemp("together")
    frame = shoal.datasets.hospital(12_000, seed=3)
    frame.write_csv(folder / "table.csv")
    for number in range(2):
        made = shoal.anonymize(frame, SPEC, seed=number)
        made.save(
            folder / f"fresh-{number}", private=folder / f"fresh-{number}-private", alone=True
        )
    first = shoal.anonymize(frame.head(8_000), SPEC, seed=4, ledger=True, key="patient")
    first.save(folder / "first", private=folder / "first-private", alone=True)
    then = shoal.anonymize(frame, SPEC, seed=5, after=folder / "first-private")
    then.save(folder / "then", private=folder / "then-private", alone=True)
    return folder


def test_fresh_releases_fall(home: Path) -> None:
    frame = pl.read_csv(home / "table.csv", schema_overrides={"patient": pl.String})
    found = shoal.attack(home / "fresh-0", table=frame, others=[home / "fresh-1"])
    assert [one.attacker for one in found.findings] == list(NAMES)
    assert found.withstood is False
    one = found["intersection"]
    assert one.everybody.rate > 0.8
    both = shoal.audit_releases(frame, [home / "fresh-0", home / "fresh-1"])
    assert one.certain.tries == one.certain.hits
    assert 0.9 * both.certain <= one.certain.hits <= both.certain
    assert one.baseline is not None
    assert one.control is not None
    assert max(one.baseline, one.control.rate) < 0.3


def test_a_chain_does_not(home: Path) -> None:
    frame = pl.read_csv(home / "table.csv", schema_overrides={"patient": pl.String})
    for one, other in (("then", "first"), ("first", "then")):
        found = shoal.attack(home / one, table=frame, others=[home / other])
        assert not found.beaten, found
        assert all(finding.certain.tries == 0 for finding in found.findings)


def test_the_command_line(home: Path) -> None:
    table = home / "table.csv"
    done = shoal_(
        *("attack", home / "fresh-0", "--table", table, "--with", home / "fresh-1"),
        *("--attacker", "intersection"),
    )
    assert done.returncode == 1, done.stderr
    assert "BEATEN: the limit falls to intersection." in done.stdout
    refused(
        shoal_("attack", home / "fresh-0", "--table", table, "--attacker", "intersection"),
        "attacker",
    )
    refused(
        shoal_(
            *("attack", home / "fresh-0", "--table", table, "--with", home / "fresh-1"),
            *("--report", home / "report.html"),
        ),
        "attack-report",
    )


def test_what_says_nothing_here_is_refused(home: Path) -> None:
    frame = pl.read_csv(home / "table.csv", schema_overrides={"patient": pl.String})
    with pytest.raises(shoal.InputError, match="compared as files"):
        shoal.attack(home / "then", table=frame, others=[home / "first"], column="diagnosis")
    with pytest.raises(shoal.InputError, match='no attacker "likeliest"'):
        as_attackers(["likeliest"], together=True)
    assert [one.name for one in as_attackers(None, together=True)] == list(NAMES)
    assert not set(NAMES) & {one.name for one in as_attackers(None)}
