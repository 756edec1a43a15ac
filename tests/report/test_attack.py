"""What attackers achieved stands in the report: figures inside, no more than a verdict outside."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import shoal
from shoal.attacks import NotRun
from shoal.auditing.attacked import AttackResult
from shoal.data.datasets import HOSPITAL_EVENT, hospital
from shoal.release import facts as recorded
from shoal.release.facts.contents import Facts
from shoal.report import page as report
from shoal.report.measured import surest_table
from shoal.wording import percent
from tests.report.page import Page

TEAM = ["likeliest", "medoid", "rarest", "singling-out", "absentee"]


@pytest.fixture(scope="module")
def attacked() -> Facts:
    spec = shoal.Spec(
        qi=("age", "sex", "region"), sensitive="diagnosis", protect=(HOSPITAL_EVENT,), r=3
    )
    release = shoal.anonymize(hospital(8_000, seed=1), spec, method="anatomy", l=3)
    found = shoal.attack(release, attackers=TEAM)
    found = replace(found, not_run=(NotRun("sleeper", "The time budget was spent."),))
    return replace(recorded.release_facts(release, release.made.table), attack=found.result)


def test_the_internal_edition_draws_and_tells_all_of_it(attacked: Facts) -> None:
    page = Page(report.render(attacked))
    assert isinstance(attacked.attack, AttackResult)
    beaten = attacked.attack.beaten_by
    assert beaten
    assert f"beaten beyond chance by {beaten[0]}" in page.text
    for one in attacked.attack.attackers:
        assert f"This attacker {one.reasoning}. {one.sentence}" in page.text
    heads, lines = surest_table(attacked.attack)
    chosen = next(one for one in attacked.attack.attackers if one.surest)
    one = chosen.surest[0]
    assert (heads[0], lines[0][0]) == (f"Surest {one.people}", chosen.attacker)
    cell = f"{percent(one.rate)} ({percent(one.without)}, {percent(one.control)})"
    assert lines[0][1][0] == cell
    assert heads[0] in page.text
    assert " ".join(cell.split()) in page.text
    assert "Did not try. The time budget was spent." in page.text
    charts = json.loads(page.scripts[0])
    drawn = charts["attack"]["data"]["values"]
    guessed = [one for one in attacked.attack.attackers if one.control]
    assert [one["label"] for one in drawn] == [one.attacker for one in guessed]
    for mark, one in zip(drawn, guessed, strict=True):
        assert mark["low"] <= mark["rate"] == one.everybody.rate <= mark["high"]
        assert mark["limit"] == pytest.approx(1 / 3)
        assert mark["beats"] is one.beats_limit


def test_the_public_edition_says_who_tried_and_whether_they_won(attacked: Facts) -> None:
    html = report.render(attacked, edition="public")
    text = Page(html).text
    assert isinstance(attacked.attack, AttackResult)
    assert "Attackers tried to name people with a protected value: likeliest, medoid" in text
    assert "The limit is beaten beyond chance by likeliest" in text
    for one in attacked.attack.attackers:
        assert one.sentence not in text
        assert one.reasoning not in text
    section = html[html.index('<section id="attack">') :]
    section = section[: section.index("</section>")]
    assert not any(sign.isdigit() for sign in section.partition("</h2>")[2])
    assert '"attack":' not in html


def test_a_report_without_an_attack_says_nothing_of_one(attacked: Facts) -> None:
    assert "What attackers achieve" not in report.render(replace(attacked, attack=None))
