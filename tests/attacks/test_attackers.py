"""Every attacker gets through a release that is weak against it, and not by luck."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from shoal.attacks import Attack, Scene, as_attackers, attacker_names, run
from shoal.data.spec import Spec
from shoal.data.table import Table
from shoal.groups import Grouping
from shoal.knowledge import Knowledge

Person = tuple[int, str, str, str]
"""Age, sex, town, value."""
WELL, ILL = "well", "ill"


def scene_of(groups: Sequence[Sequence[Person] | None], **asked: Any) -> Scene:
    """A release of these groups; the people of the last entry after a None are not published."""
    published = [group for group in groups if group is not None]
    missing = bool(groups) and None in groups
    rows = [
        (*person, -1 if missing and number == len(published) - 1 else number)
        for number, group in enumerate(published)
        for person in group
    ]
    names = ["age", "sex", "town", "value", "group"]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    spec = Spec(
        qi=asked.pop("qi", ("age", "sex", "town")),
        sensitive="value",
        protect=[[ILL]],  # type: ignore[arg-type]
        **{"r": 3, "min_support": 10} | asked,
    )
    table = Table.from_frame(frame, spec)
    grouping = Grouping.of_rows(table, frame["group"].to_numpy().astype(np.int32))
    return Scene(table, grouping, Knowledge.of(table))


def attacked(scene: Scene, *names: str) -> Attack:
    return run(scene, as_attackers(names))


def crowd(count: int, town: str = "B", value: str = WELL) -> list[list[Person]]:
    """People alone, of all ages."""
    return [[(30 + i % 7, "fm"[i % 2], town, value)] for i in range(count)]


def marked(count: int = 80) -> list[list[Person]]:
    """In each group the one from town A is ill; most others of the town are well."""
    groups: list[list[Person]] = [
        [
            (30 + i % 7, "fm"[i // 7 % 2], "A", ILL),
            *[(30 + (i + j) % 7, "fm"[(i + j) % 2], "B", WELL) for j in range(4)],
        ]
        for i in range(count)
    ]
    return groups + crowd(240, "A") + crowd(2_000)


@pytest.mark.parametrize(
    "name", ["likeliest", "counter-class", "counter-odds", "counter-all", "learner", "rarest"]
)
def test_somebody_who_stands_out_is_named(name: str) -> None:
    groups = marked()
    if name == "rarest":
        groups = [[(30, "f", "A", ILL), *[(31, "m", "A", WELL)] * 4] for _ in range(80)]
        groups += [[(31, "m", "A", WELL)]] * 400 + [[(30, "f", "A", WELL)]] * 300
    found = attacked(scene_of(groups), name)[name]
    assert found.everybody.tries == 80
    assert found.everybody.rate > 0.9
    assert found.beats
    assert found.control is not None
    assert found.control.rate > 0.9  # the views themselves give them away
    assert found.promised == pytest.approx(1 / 3)
    assert found.baseline is not None
    assert found.baseline < 0.5
    assert found.sentence.endswith("The limit is beaten.")


def test_the_one_in_the_middle_is_named() -> None:
    groups: list[list[Person]] = []
    for i in range(40):
        middle: Person = (30, "f", "middle", ILL)
        others: list[Person] = [(30, "f", t, WELL) for t in ("low", "lower", "high", "higher")]
        groups += [[middle, *others], *([[(30, "f", "middle", WELL)]] * 30)]
        for town, share in (("low", 60), ("lower", 120), ("high", 3), ("higher", 1)):
            groups += [[(30, "f", town, WELL)]] * share
            groups += [[(30, "f", town, ILL)]] * (i % 3 == 0)
    found = attacked(scene_of(groups, views=[("town",)]), "medoid")["medoid"]
    alone = 4 * 14  # people who are alone and ill are named in any case
    assert found.everybody.tries == 40 + alone
    assert (found.everybody.hits - alone) / 40 > 0.9


def test_a_model_combines_what_views_know_one_by_one() -> None:
    pytest.importorskip("sklearn")
    rng = np.random.default_rng(0)
    groups: list[list[Person]] = []
    for i in range(120):
        town = "AB"[i % 2]
        ill: Person = (int(rng.integers(20, 60)), "fm"[i % 2], town, ILL)
        groups.append([ill, *[(int(rng.integers(20, 60)), "mf"[i % 2], town, WELL)] * 4])
    groups += [[(int(rng.integers(20, 60)), "fm"[i % 2], "AB"[i % 2], WELL)] for i in range(600)]
    scene = scene_of(groups, views=[("sex",), ("town",)])
    found = attacked(scene, "likeliest", "modeller")
    assert found["modeller"].everybody.rate > 0.6
    assert found["modeller"].beats
    assert not found["likeliest"].beats


def by_town(table: Table, seed: int) -> Grouping:
    """Everybody who is ill, with four others of one other town: whoever knows that is told."""
    rng = np.random.default_rng(seed)
    everybody, towns = table.everybody, table.signatures[:, 2][table.everybody.signature]
    groups = np.full(table.rows, -1, np.int32)
    for number, carrier in enumerate(rng.permutation(np.flatnonzero(everybody.event == 0))):
        free = (groups < 0) & (everybody.event < 0) & (towns != towns[carrier])
        other = rng.permutation(np.unique(towns[free]))[0]
        chosen = rng.permutation(np.flatnonzero(free & (towns == other)))[:4]
        groups[[carrier, *chosen]] = number
    alone = np.flatnonzero(groups < 0)
    groups[alone] = groups.max() + 1 + np.arange(len(alone))
    return Grouping.of_rows(table, groups)


def test_whoever_knows_how_groups_are_made_learns_who_carries() -> None:
    rng = np.random.default_rng(1)
    people: list[list[Person]] = [
        [
            (
                int(rng.integers(30, 34)),
                str(rng.choice(["f", "m"])),
                str(rng.choice(["A", "B", "C"])),
                ILL if i < 150 else WELL,
            )
        ]
        for i in range(2_000)
    ]
    plain = scene_of(people)
    scene = Scene(plain.table, by_town(plain.table, 0), plain.knowledge, remake=by_town)
    found = attacked(scene, "insider", "informed", "likeliest")
    for name in ("insider", "informed"):
        assert found[name].everybody.rate > 0.8
        assert found[name].beats
        assert found[name].everybody.rate > found["likeliest"].everybody.rate
    unknown = attacked(plain, "insider")
    assert [(one.attacker, "how" in one.reason) for one in unknown.not_run] == [("insider", True)]


def test_where_only_carriers_are_missing_absence_tells() -> None:
    groups = [*crowd(200), None, [(30 + i % 7, "f", "B", ILL) for i in range(20)]]
    found = attacked(scene_of(groups), "absentee", "likeliest")
    assert (found["absentee"].everybody.tries, found["absentee"].everybody.hits) == (20, 20)
    assert found["absentee"].certain.tries == found["absentee"].certain.hits == 20
    assert found["absentee"].beats
    assert found["likeliest"].everybody.tries == 0
    assert found["likeliest"].sentence == "There was nobody to name."


def test_records_are_found_by_what_they_show() -> None:
    alone: list[list[Person]] = [[(20, "f", "A", WELL)]]
    twins: list[list[Person]] = [[(30, "m", "B", WELL), (30, "m", "B", ILL)]]
    others: list[list[Person]] = [[(30, "m", "C", WELL), (30, "m", "C", ILL)]]
    scene = scene_of(alone + twins + others)
    found = attacked(scene, "singling-out", "linkability")
    assert (found["singling-out"].everybody.tries, found["singling-out"].everybody.hits) == (5, 1)
    assert found["linkability"].everybody.hits == 1
    assert found.withstood is None, "nothing is promised to single records"
    one_qi = attacked(scene_of(alone + twins + others, qi=("age",)), "linkability")
    assert one_qi.not_run[0].attacker == "linkability"


def test_groups_drawn_at_random_withstand() -> None:
    rng = np.random.default_rng(3)
    groups: list[list[Person]] = []
    for _ in range(150):
        values = rng.permutation([ILL, WELL, WELL, WELL])
        groups.append(
            [
                (int(rng.integers(30, 33)), str(rng.choice(["f", "m"])), "A", str(value))
                for value in values
            ]
        )
    found = run(scene_of(groups + crowd(300, "A")), as_attackers(["likeliest", "rarest", "medoid"]))
    assert found.withstood
    for one in found.findings:
        assert one.control is not None
        low, high = one.everybody.interval
        assert low <= one.control.rate <= high


def together(table: Table, seed: int) -> Grouping:
    """Everybody in one group."""
    return Grouping.of_classes(table, np.zeros(len(table.signatures), np.int32))


@pytest.mark.parametrize("ill", [0, 1, 5])
def test_the_whole_team_on_next_to_nothing(ill: int) -> None:
    """Nobody is ill in a group, one is, or everybody in the only group."""
    group: list[Person] = [(30, "f", "A", ILL if i < ill else WELL) for i in range(5)]
    groups = [group, *crowd(40), None, [(31, "m", "B", ILL), (31, "m", "B", WELL)]]
    scene = scene_of(groups)
    found = run(replace(scene, remake=together), as_attackers(None))
    left = {one.attacker for one in found.not_run}
    assert left <= {"modeller", "insider", "weight"}
    assert {one.attacker for one in found.findings} == set(attacker_names()) - left
    assert found["likeliest"].everybody.tries == (ill > 0)
    assert found["likeliest"].everybody.hits <= (ill > 0)
    if ill == 5:
        assert found["likeliest"].everybody.hits == 1
        assert found["counter-class"].certain.hits == found["counter-class"].certain.tries > 0
    if not ill:
        assert found["counter-class"].sentence == "There was nobody to name."
