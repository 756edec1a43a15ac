"""What a certificate says of counting per stratum, and of absence, is counted again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shoal
from shoal.auditing.adversaries.adversary import BOTH
from shoal.data.table import Table
from shoal.groups.lookup import readable_people
from shoal.release.verification.verify import Verification, verify
from tests.forging import edit, listed_anew, mend
from tests.release.fixed import CERTAIN, SEXES, SEXES_SPEC, WIDE, Fixed


def made(folder: Path, groups: tuple[int, ...], spec: shoal.Spec = SEXES_SPEC) -> Path:
    folder.mkdir(exist_ok=True)
    release = shoal.anonymize(SEXES, spec, method=Fixed(groups), adversary=BOTH)
    release.save(folder / "release", private=folder / "private")
    return folder / "release"


def edited(release: Path, *, anew: bool = False, **figures: Any) -> Path:
    """The release with other figures under `counter` or another part of the audit; `anew`: with the
    checks and the verdict that follow from them."""
    file = release / "certificate.json"
    certificate = json.loads(file.read_text(encoding="utf-8"))
    for part, changes in figures.items():
        if not isinstance(changes, dict):
            certificate["audit"][part] = changes
            continue
        assert any(certificate["audit"][part][key] != value for key, value in changes.items())
        certificate["audit"][part].update(changes)
    if anew:
        listed_anew(certificate)
    file.write_text(json.dumps(certificate), encoding="utf-8")
    mend(release)
    return release


def failures(found: Verification) -> list[str]:
    return [check.name for check in found.checks if not check.passed]


def test_honest_figures_are_confirmed(tmp_path: Path) -> None:
    release = made(tmp_path, CERTAIN)
    counter = shoal.Release.load(release).certificate["audit"]["counter"]
    assert counter == {
        "kept": False,
        "classes": 1,
        "certain_classes": 1,
        "carriers_in_worst_view": 2,
        "certain_in_worst_view": 2,
    }
    assert verify(release, table=SEXES).confirmed
    assert verify(made(tmp_path / "wide", WIDE), table=SEXES).confirmed


@pytest.mark.parametrize(
    "change",
    [
        {"kept": True},
        {"classes": 0},
        {"classes": 5},
        {"certain_classes": 0},
        {"certain_classes": 5},
        {"carriers_in_worst_view": 1},
        {"carriers_in_worst_view": 3},
        {"certain_in_worst_view": 0},
        {"certain_in_worst_view": 3},
    ],
)
def test_every_edited_figure_is_refuted(tmp_path: Path, change: dict[str, Any]) -> None:
    release = edited(made(tmp_path, CERTAIN), counter=change)
    assert "counting per stratum" in failures(verify(release, table=SEXES)) or (
        failures(verify(release)) == ["certificate"]
    )


def test_a_consistent_lie_is_refuted_by_the_table(tmp_path: Path) -> None:
    nothing = dict.fromkeys(
        ("classes", "certain_classes", "carriers_in_worst_view", "certain_in_worst_view"), 0
    )
    honest = made(tmp_path, CERTAIN)
    lie = {"counter": {"kept": True, **nothing}, "certain": 0}
    assert failures(verify(edited(honest, **lie))) == ["certificate"]  # its list says otherwise
    (tmp_path / "other").mkdir()
    release = edited(made(tmp_path / "other", CERTAIN), anew=True, **lie)
    assert failures(verify(release)) == ["certificate"]  # a share of 100 % is kept nowhere

    def no_worst(content: Any) -> None:
        for one in content["audit"]["checks"]:
            if one["name"] == "counting":
                one |= {"worst": None, "limit": None}

    edit(release, no_worst)
    assert verify(release).confirmed
    found = verify(release, table=SEXES)
    wrong = ["counting per stratum", "certain people", "verdict"]
    told = ["check certainty", "check counting", "worst of counting"]
    assert failures(found) == [*wrong, *told]
    assert "certain classes 1, claimed 0" in str(found.checks)


@pytest.mark.parametrize("check", ["one-view", "certainty", "counting", "suppression", "attack"])
@pytest.mark.parametrize(
    "change",
    [
        {"state": "kept"},
        {"state": "undecided"},
        {"state": "broken"},
        {"people": 7},
        {"worst": 0.01},
        {"limit": 0.9},
        {"name": "made up"},
        {},
    ],
)
def test_no_entry_of_the_list_can_be_forged(
    tmp_path: Path, check: str, change: dict[str, Any]
) -> None:
    """Whatever is changed of an entry; an empty change takes it out."""
    release = made(tmp_path, CERTAIN)

    def forge(content: Any) -> None:
        entries = content["audit"]["checks"]
        (place,) = [i for i, one in enumerate(entries) if one["name"] == check]
        if not change:
            del entries[place]
        elif entries[place] == entries[place] | change:
            entries[place]["people"] = 5
        else:
            entries[place] |= change

    edit(release, forge)
    assert failures(verify(release, table=SEXES))


def test_the_readme_says_it(tmp_path: Path) -> None:
    text = (made(tmp_path, CERTAIN) / "README.txt").read_text(encoding="utf-8")
    told = " ".join(text.split())
    assert "BROKEN Certain by counting: 2 people are certain to have a protected value" in told
    assert "BROKEN Counting, per stratum: 2 people with a protected value" in told
    assert "The release is not 3-robust" in told
    text = (made(tmp_path / "wide", WIDE) / "README.txt").read_text(encoding="utf-8")
    assert "kept Counting, per stratum: Nobody" in " ".join(text.split())


def test_who_can_be_read_is_said_and_counted_again(tmp_path: Path) -> None:
    """Four men and four women are alone; the release by itself tells it."""
    release = made(tmp_path, WIDE)
    found = shoal.Release.load(release)
    assert found.certificate["groups"]["readable"] == 8
    assert "shown_openly" not in found.certificate["groups"]
    assert shoal.audit(SEXES, SEXES_SPEC, groups=WIDE).readable == 8
    text = " ".join((release / "README.txt").read_text(encoding="utf-8").split())
    assert "8 people are published with their exact v." in text
    assert "never who has which" not in text

    def nobody(content: Any) -> None:
        content["groups"]["readable"] = content["audit"]["readable"] = 0

    edit(release, nobody)
    assert failures(verify(release)) == ["readable people", "certificate"]  # its list says 8
    edit(release, listed_anew)
    assert failures(verify(release)) == ["readable people"]


def test_who_is_readable_by_attributes_needs_the_table(tmp_path: Path) -> None:
    """It is nobody of the eight; nine of them are too many for anybody to believe."""
    release = made(tmp_path, WIDE)
    edit(release, lambda content: content["groups"].update(readable_by_attributes=5))
    alone = verify(release)
    assert alone.confirmed
    assert "who can be read by attributes" in alone.on_trust
    assert failures(verify(release, table=SEXES)) == ["people readable by attributes"]
    edit(release, lambda content: content["groups"].update(readable_by_attributes=9))
    assert failures(verify(release)) == ["certificate"]


def test_a_pooled_value_shows_nobody() -> None:
    table = Table.from_frame(SEXES, SEXES_SPEC)
    groups = Fixed(WIDE).anonymize(table)
    pooled = replace(groups, pooled=np.ones(len(groups.copies), bool))
    assert readable_people(table, groups) == (8, 0)
    assert readable_people(table, pooled) == (0, 0)


# --- Absence --------------------------------------------------------------------------------

ALONE = (WIDE[0], -1, *WIDE[2:])
"""A man with x is missing, and nobody else."""
HIDDEN = (WIDE[0], -1, *WIDE[2:4], -1, -1, *WIDE[6:])
"""Two other men are missing with him."""
GONE = (-1, -1, *WIDE[2:16], -1, -1, -1, -1)
"""Of the missing men all carry x, of all missing people two in six."""


@pytest.mark.parametrize(("groups", "robust"), [(ALONE, False), (HIDDEN, True), (GONE, False)])
def test_absence_is_confirmed(tmp_path: Path, groups: tuple[int, ...], robust: bool) -> None:
    release = made(tmp_path, groups)
    found = verify(release, table=SEXES, private=tmp_path / "private")
    assert found.confirmed, found
    assert found.robust is robust
    assert shoal.Release.load(release).certificate["audit"]["absence"]["kept"] is robust
    without = verify(release, table=SEXES)
    assert without.confirmed
    assert "not recomputed: who is missing is in the private folder" in str(without.checks)


def test_a_lie_about_absence_is_refuted(tmp_path: Path) -> None:
    """Without the private folder where the numbers give it away, with it always."""
    lie = {"kept": True, "carriers": 0}
    alone = edited(made(tmp_path / "alone", ALONE), anew=True, absence=lie)
    assert verify(alone).confirmed
    found = verify(alone, table=SEXES)
    assert failures(found) == ["absence"]
    assert [check.detail for check in found.checks if not check.passed] == [
        'of 1 missing people 1 have "x"'
    ]
    gone = edited(made(tmp_path / "gone", GONE), anew=True, absence=lie)
    assert verify(gone, table=SEXES).confirmed
    found = verify(gone, table=SEXES, private=tmp_path / "gone" / "private")
    assert failures(found) == ["private folder", "absence"]
    assert "kept False, claimed True" in str(found.checks)


@pytest.mark.parametrize(
    "change",
    [{"kept": True}, {"carriers": 0}, {"carriers": 5}, {"kept": True, "carriers": 0}],
)
def test_absence_and_the_verdict_fit_together(tmp_path: Path, change: dict[str, Any]) -> None:
    release = edited(made(tmp_path, ALONE), absence=change)
    assert failures(verify(release)) == ["certificate"]


def test_the_readme_says_what_absence_tells(tmp_path: Path) -> None:
    def told(name: str, groups: tuple[int, ...]) -> str:
        text = (made(tmp_path / name, groups) / "README.txt").read_text(encoding="utf-8")
        return " ".join(text.split())

    assert "BROKEN Left out: 1 person is linked above their limit by being" in told("alone", ALONE)
    assert "kept Left out: Nobody is linked above their limit" in told("hidden", HIDDEN)


@pytest.mark.parametrize("name", ["readable", "readable_by_attributes"])
def test_a_certificate_that_keeps_quiet_of_readable_people_is_refused(
    tmp_path: Path, name: str
) -> None:
    release = made(tmp_path, WIDE)
    file = release / "certificate.json"
    told = json.loads(file.read_text(encoding="utf-8"))
    del told["groups"][name]
    file.write_text(json.dumps(told), encoding="utf-8")
    with pytest.raises(shoal.InputError, match=r"in groups|something|another type"):
        verify(release)
