"""The evidence file: figures as the commands print them, nothing claimed that was not computed."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from shoal.errors import InputError
from shoal.wording import percent as gapped
from shoal.workbench.evidence import evidence_page, gather
from shoal.workbench.project import Project, Run
from tests.cli.program import refused, shoal_
from tests.report.page import Page
from tests.workbench.project.making import DRAFT, make_project, new_release, work_off


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return make_project(tmp_path_factory.mktemp("evidence") / "p")


@pytest.fixture(scope="module")
def plain(project: Project) -> Run:
    """A run without an attack, and a project in which nobody stated anything."""
    return work_off(new_release(project, seed=5))


@pytest.fixture(scope="module")
def attacked(project: Project, plain: Run) -> Run:
    """A later run of the same table, with an attack."""
    del plain  # it comes first
    few = ("likeliest", "singling-out", "linkability", "insider")
    return work_off(new_release(project, seed=6, attack=True, attackers=few))


def percent(share: float) -> str:
    """A share as a page's text has it."""
    return " ".join(gapped(share).split())


def page_of(run: Run) -> Page:
    return Page(evidence_page(gather(run.folder)))


def test_figures_are_those_of_the_commands(attacked: Run) -> None:
    text = page_of(attacked).text
    made, checked, found = (attacked.result(n) for n in ("anonymize", "verify", "attack"))
    assert made is not None
    assert checked is not None
    assert found is not None
    evidence = gather(attacked.folder)
    assert evidence.after.largest == made["worst_posterior"]
    assert percent(made["worst_posterior"]) in text
    risks = pl.read_parquet(attacked.folder / "private" / "row_risks.parquet")
    assert evidence.after.average == pytest.approx(risks["posterior"].mean(), rel=1e-12)
    assert evidence.before.average == pytest.approx(risks["known_before"].mean(), rel=1e-12)
    assert evidence.before.largest == risks["known_before"].max()
    assert percent(evidence.after.average) in text
    assert f"{made['groups']:,} groups were published" in text
    assert f"{len(checked['checks'])} checks, 0 of them failed" in text
    for one in found["attackers"]:
        rate = one["everybody"]
        if rate["tries"]:
            cells = [f"{rate['tries']:,}", percent(rate["rate"])]
            interval = f"{percent(rate['low'])} to {percent(rate['high'])}"
            assert re.search(r"\s*".join(map(re.escape, [*cells, interval])), text), one
    single = next(one for one in found["attackers"] if one["attacker"] == "singling-out")
    assert f"finds {single['everybody']['hits']:,} of 2,000 people for sure" in text
    for hash_ in re.findall("[0-9a-f]{64}", json.dumps(evidence.certificate["files"])):
        assert hash_ in text


def test_what_was_not_computed_or_stated_is_said_to_be_so(plain: Run) -> None:
    page = page_of(plain)
    assert "Not run: no attacker tried" in page.text
    assert page.text.count("Not computed: how") == 3
    assert "none beat" not in page.text
    assert page.text.count("not stated") >= 4 + len(DRAFT["qi"])  # type: ignore[arg-type]
    assert "Not decided" in page.text
    assert "None is known in this project" in page.text
    assert "What does not fit together" not in page.text
    assert "script" not in [tag for tag, _ in page.tags]


def test_a_record_by_cells_gives_no_average_and_says_so(plain: Run, tmp_path: Path) -> None:
    evidence = gather(plain.folder)
    unknown = replace(evidence.after, average=None)
    text = Page(evidence_page(replace(evidence, after=unknown, before=unknown))).text
    assert "It was not computed: the private record is not by row." in text


def test_statements_reasons_and_decisions_are_shown_whole(project: Project, attacked: Run) -> None:
    long = "For research on health. " * 20
    project.state(purpose=long, recipient="Everybody", release_model="public")
    project.set_reasons({"age": "Known to neighbours", "patient": "Names people"})
    try:
        done = shoal_(
            *("decide", attacked.folder, "--approve", "--name", "A. Officer"),
            *("--reason", "Fine\nby me", "--review", "2031-01-31"),
        )
        assert done.returncode == 0, done.stderr
        listed = shoal_("runs", project.folder).stdout.split()
        text = page_of(attacked).text
    finally:
        project.state(purpose="", recipient="", release_model="")
        project.set_reasons({})
        (attacked.folder / "decision.json").unlink()
    assert long.strip() in text
    assert "Known to neighbours" in text
    assert "Names people" in text
    for said in (attacked.name, "anonymize", "done", "art", "robust,", "verified", "approved"):
        assert said in listed
    for said in ("APPROVED", "A. Officer", "Fine by me", "2031-01-31"):
        assert said in text


def test_earlier_releases_of_the_table_are_listed(plain: Run, attacked: Run) -> None:
    (earlier,) = gather(attacked.folder).earlier
    assert tuple(earlier[name] for name in ("run", "r", "robust")) == (plain.name, 3.0, True)
    text = page_of(attacked).text
    assert "Not computed: what somebody learns who has several of them" in text
    assert "the same address" in text


def test_an_edited_certificate_is_noticed(project: Project, plain: Run) -> None:
    path = plain.folder / "release" / "certificate.json"
    honest = path.read_bytes()
    plain.decide("approved", name="A", reason="B")
    try:
        told = json.loads(honest)
        told["audit"]["worst_posterior"] = 0.01
        path.write_text(json.dumps(told))
        page = page_of(plain)
        assert "certificate.json is not the one that this run made" in page.text
        assert "made on another certificate" in page.text
        assert percent(json.loads(honest)["audit"]["worst_posterior"]) in page.text
        path.write_bytes(honest + b"\n")
        assert "was changed after the run" in page_of(plain).text
        path.write_bytes(honest)
        assert "What does not fit together" not in page_of(plain).text
    finally:
        path.write_bytes(honest)
        (plain.folder / "decision.json").unlink()


def test_an_edited_file_of_the_release_is_noticed(plain: Run) -> None:
    path = plain.folder / "release" / "README.txt"
    honest = path.read_bytes()
    try:
        path.write_bytes(honest + b"!")
        page = page_of(plain)
        assert "README.txt of the release is not what the certificate says" in page.text
        assert "DIFFERS" in page.text
        path.unlink()
        assert "README.txt of the release is missing" in page_of(plain).text
    finally:
        path.write_bytes(honest)


def test_the_command_writes_the_page(plain: Run, tmp_path: Path) -> None:
    done = shoal_("evidence", plain.folder)
    assert done.returncode == 0, done.stderr
    assert (plain.folder / "evidence.html").is_file()
    assert shoal_("evidence", plain.folder, "--out", tmp_path / "e.html").returncode == 0
    assert "Assessment of a release" in (tmp_path / "e.html").read_text()
    refused(shoal_("evidence", tmp_path), "run-none")
    refused(shoal_("decide", plain.folder, "--name", "A", "--reason", "B"), "decision-word")
    refused(shoal_("decide", plain.folder, "--approve", "--name", "A"), "decision-missing")


def test_there_is_no_evidence_of_a_run_without_a_release(project: Project) -> None:
    waiting = new_release(project)
    with pytest.raises(InputError) as early:
        gather(waiting.folder)
    assert early.value.code == "evidence-early"
    other = project.new_run("plan", lambda _: [["plan", "table.csv"]])
    with pytest.raises(InputError) as kind:
        gather(other.folder)
    assert kind.value.code == "evidence-kind"


def test_an_interval_above_the_limit_is_told_of_even_if_chance_explains_it(attacked: Run) -> None:
    evidence = gather(attacked.folder)
    (attack,) = evidence.attacks
    likeliest = next(one for one in attack.attackers if one.attacker == "likeliest")
    assert likeliest.allowed is not None
    above = replace(likeliest.everybody, low=likeliest.allowed + 0.01)

    def told(beats: bool) -> str:
        one = replace(likeliest, everybody=above, beats_limit=beats)
        others = (other for other in attack.attackers if other.attacker != "likeliest")
        found = replace(attack, attackers=(one, *others), beaten_by=("likeliest",) if beats else ())
        return Page(evidence_page(replace(evidence, attacks=(found,)))).text

    assert "the interval of “likeliest” lies above it" in told(beats=False)
    text = told(beats=True)
    assert "these beat the limit beyond chance: “likeliest”" in text
    assert "BEATEN" in text
    assert "Taken alone" not in text
