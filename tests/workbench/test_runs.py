"""From the table to a decision: runs are started, watched, stopped, judged and compared."""

from __future__ import annotations

import io
import json
import re
import time
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from shoal.auditing.attacked import AttackResult, PublicAttack, PublicAttacker
from shoal.auditing.check_words import words
from shoal.auditing.findings import Findings
from shoal.data.datasets import hospital
from shoal.release.facts import load_facts
from shoal.workbench.evidence.statements import proposals
from shoal.workbench.held import key_of
from shoal.workbench.pages.compare import LINES
from shoal.workbench.project import Run
from shoal.workbench.rendering import shown_number
from shoal.workbench.verdicts import of_findings
from tests.workbench.drafts import HOSPITAL
from tests.workbench.visitor import Answer, Visitor, workbench

ALL = [("readers", "joint"), ("readers", "binary"), ("readers", "all-views")]


def settle(visitor: Visitor) -> None:
    """A hospital's table with its roles."""
    assert visitor.send("hospital.csv", hospital(1_500, seed=5).write_csv().encode()).status == 303
    visitor.project.write_draft(HOSPITAL)


def ended(visitor: Visitor, answer: Answer) -> Run:
    """The run that an answer leads to, once it is over."""
    assert answer.status == 303, answer.words
    name = answer.headers["location"].rpartition("/")[2]
    run = visitor.project.runs()[-1] if name == "plan" else visitor.project.run(name)
    until = time.monotonic() + 120
    while run.state == "running":
        assert time.monotonic() < until
        time.sleep(0.1)
    return run


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visitor]:
    """A project with a plan, two releases (one attacked), an audit and a verification."""
    folder: Path = tmp_path_factory.mktemp("walked") / "project"
    with workbench(folder) as visitor:
        visitor.enter()
        settle(visitor)
        done = [
            ended(visitor, visitor.post("/plan", {"curve": "2, 4, 500"})),
            ended(visitor, visitor.post("/run", [*ALL, ("title", "<b>one</b>"), ("r", "3")])),
            ended(visitor, visitor.post("/run", [*ALL, ("method", "anatomy"), ("r", "3")])),
            ended(visitor, visitor.post("/audit", {"groups": "region", "models": "yes"})),
            ended(
                visitor,
                visitor.post("/verify", {"release": "runs/0002/release", "table": "yes"}),
            ),
        ]
        assert [run.state for run in done] == ["done"] * 5, [run.error for run in done]
        yield visitor


def test_the_plan_has_a_curve_to_choose_from(walked: Visitor) -> None:
    answer = walked.get("/plan")
    assert 'hx-get="/plan/curve"' in answer.text
    assert [walked.project.run("0001").exit_code(step) for step in (1, 2, 3)] == [3, 3, 2]
    assert "failed" not in answer.words
    assert "Use r = 500" in answer.words  # refused, and shown with what it would cost
    drawn = walked.get("/plan/curve")
    assert drawn.text.count('role="img" aria-label=') == drawn.text.count("<svg") == 2
    assert "style=" not in drawn.text
    told = walked.project.run("0001").result(2)
    assert told is not None
    assert f"{told['events'][0]['carriers']:,} people" in answer.words
    walked.follow("/plan/choose", {"r": "4"})
    assert walked.project.draft["r"] == 4
    assert "chosen" in walked.get("/plan").words
    marks = f"bound on r if nobody is left out: {shown_number(told['largest_r'])}", "chosen: r = 4"
    assert all(mark in walked.get("/plan/curve").words for mark in marks)
    walked.follow("/plan/choose", {"r": "3"})


def test_figures_are_those_of_the_command(walked: Visitor) -> None:
    run = walked.project.run("0002")
    found, answer = run.result("anonymize"), walked.get("/runs/0002")
    assert found is not None
    assert 'data-robust="true"' in answer.text
    words = answer.words
    assert found["published"] + found["suppressed"] == found["rows"]
    left = f"people published, {found['suppressed']:,} left out"
    assert f"{left} {found['published']:,}" in words
    assert "Verified. Every link of a person to an event was computed again" in words
    assert "<b>one</b>" in words
    assert "finds the record." in words
    assert "<b>one" not in answer.text
    assert 'href="/runs/0002/report.html"' in answer.text


def test_what_a_run_made_can_be_taken_away(walked: Visitor) -> None:
    folder = walked.project.folder / "runs/0002"
    for name in ("report.html", "report-public.html"):
        answer = walked.get(f"/runs/0002/{name}")
        assert answer.body == (folder / name).read_bytes()
        assert answer.headers["content-security-policy"].startswith("sandbox allow-scripts")
    certificate = walked.get("/runs/0002/certificate.json")
    assert json.loads(certificate.body)["format"].startswith("shoal")
    with zipfile.ZipFile(io.BytesIO(walked.get("/runs/0002/release.zip").body)) as archive:
        assert archive.testzip() is None
        held = {name.removeprefix("release/"): archive.read(name) for name in archive.namelist()}
    assert held == {path.name: path.read_bytes() for path in (folder / "release").iterdir()}
    (folder / "release" / "notes on people.txt").write_text("was never judged")
    try:
        answer = walked.get("/runs/0002/release.zip")
    finally:
        (folder / "release" / "notes on people.txt").unlink()
    with zipfile.ZipFile(io.BytesIO(answer.body)) as archive:
        assert {name.removeprefix("release/") for name in archive.namelist()} == set(held)


@pytest.mark.parametrize(
    "path",
    [
        "/runs/../project.toml", "/runs/%2e%2e", "/runs/..%2f..%2fetc", "/runs/0002/run.json",
        "/runs/0002/..%2f..%2fproject.toml", "/runs/0002/private", "/runs/9999", "/runs/0002%00",
        "/compare?runs=..", "/compare?runs=0002,../../x", "/runs/../../etc/passwd",
    ],
)  # fmt: skip
def test_nothing_else_is_given_out(walked: Visitor, path: str) -> None:
    assert walked.get(path).status == 404


@pytest.mark.parametrize("path", ["/runs/../stop", "/runs/9999/stop", "/runs/..%2f/start"])
def test_nor_can_anything_else_be_started(walked: Visitor, path: str) -> None:
    assert walked.post(path).status == 404


@pytest.mark.parametrize("path", ["../x", "/etc", "..", "runs/../../x", ""])
def test_folders_and_files_stay_inside(walked: Visitor, path: str) -> None:
    before = len(walked.project.runs())
    assert walked.post("/verify", {"release": path}).status == 422
    assert walked.post("/audit", {"released": path}).status == 422
    if path:
        form = {"release": "runs/0002/release", "private": path}
        assert walked.post("/verify", form).status == 422
    assert len(walked.project.runs()) == before


def test_audit_and_verify_have_the_same_verdict_page(walked: Visitor) -> None:
    judged, found = walked.get("/runs/0004"), walked.project.run("0004").result("audit")
    assert found is not None
    assert f'data-robust="{str(found["robust"]).lower()}"' in judged.text
    for *_, title, said in of_findings(Findings.of(found)).listed:
        assert title in judged.words
        assert said in judged.words
    assert "k-anonymity" in judged.words
    checked = walked.get("/runs/0005")
    assert 'data-confirmed="true"' in checked.text


def test_another_upload_of_the_same_name_refutes_no_release(walked: Visitor) -> None:
    before = walked.project.source
    assert before is not None
    walked.send("hospital.csv", hospital(900, seed=6).write_csv().encode())
    assert walked.project.source != before
    asked = {"release": "runs/0002/release", "table": "yes"}
    run = ended(walked, walked.post("/verify", asked))
    checked = run.result("verify")
    assert checked is not None
    assert (checked["confirmed"], checked["recomputed"]) == (True, True)
    walked.project.set_source(before)
    table = walked.project.folder / before.address
    content = table.read_bytes()
    table.write_bytes(content[:-1])
    answer = walked.post("/verify", asked)
    assert (answer.status, "[verify-table]" in answer.words) == (422, True)
    table.write_bytes(content)


def test_a_zip_that_was_taken_away_is_verified(walked: Visitor) -> None:
    packed = walked.get("/runs/0002/release.zip").body
    answer = walked.send("release-0002.zip", packed, to="verify")
    assert answer.headers["location"] == "/verify?release=uploads%2Frelease-0002%2Frelease"
    page = walked.get(answer.headers["location"]).text
    assert '<option value="uploads/release-0002/release" selected>' in page
    again = walked.send("release-0002.zip", packed, to="verify")
    assert again.headers["location"] == answer.headers["location"]
    run = ended(walked, walked.post("/verify", {"release": "uploads/release-0002/release"}))
    checked = run.result("verify")
    assert checked is not None
    assert checked["confirmed"] is True


def zip_of(**files: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        b"none",
        zip_of(**{"release/data.csv": b"x"}),
        zip_of(**{"../../certificate.json": b"{}", "certificate.json": b"{}"}),
        zip_of(**{"/tmp/certificate.json": b"{}"}),
        zip_of(**{"certificate.json": b"0" * 2 * 10**7}),
        zip_of(**{"certificate.json/x": b"{}", "certificate.json": b"{}"}),
    ],
)  # fmt: skip
def test_a_zip_that_holds_no_release_leaves_nothing(visitor: Visitor, content: bytes) -> None:
    answer = visitor.send("odd.zip", content, to="verify")
    assert answer.status == 422
    assert 'id="wrong-file"' in answer.text
    left = [path.name for path in visitor.project.folder.rglob("*")]
    assert sorted(left) == ["odd.zip", "project.toml", "runs", "uploads"] or sorted(left) == sorted(
        [".shoal-editing", ".shoal-journal", "000001.json", "head.json", "odd.zip", "project.toml",
         "runs", "uploads"]
    )  # fmt: skip


def test_runs_stand_side_by_side(walked: Visitor) -> None:
    answer = walked.get("/compare?runs=0002&runs=0003")
    assert "Method ≠ differs art anatomy" in answer.words
    assert "r 3 3" in answer.words
    assert walked.get("/compare").headers["location"] == "/runs"
    listed = walked.get("/runs").words
    assert "0003" in listed
    assert "0001" in listed


def test_a_decision_is_kept_with_its_run(walked: Visitor) -> None:
    typed = {"decision": "approved", "name": "", "reason": "R > 2 & enough"}
    answer = walked.post("/runs/0002/decide", typed)
    assert answer.status == 422
    assert 'id="wrong-name"' in answer.text
    assert "R &gt; 2 &amp; enough" in answer.text
    answer = walked.post("/runs/0002/decide", typed | {"name": "Ada", "review": "soon"})
    assert 'id="wrong-review"' in answer.text
    answer = walked.follow("/runs/0002/decide", typed | {"name": "Ada", "review": "2031-01-31"})
    assert "approved by Ada" in answer.words
    decision = walked.project.run("0002").decision
    assert decision is not None
    assert (decision["name"], decision["review"]) == ("Ada", "2031-01-31")
    home = walked.get("/")
    assert "Run 0002: approved" in home.words
    assert '<a class="button" href="/context">Next: Assessment</a>' in home.text
    assert "of 26 things that only people can say are stated" in home.words
    assert "Releases of these people that were approved" in walked.get("/run").words
    typed = [("follows", "alone"), *ALL]
    words = walked.post("/run/same", typed).words
    assert "--alone" in words
    assert "--releases runs/0002/release" in words
    assert "--ledger" in walked.post("/run/same", [("ledger", "yes"), *ALL]).words
    assert walked.post("/run", [("follows", "0099"), *ALL]).status == 422


def test_settings_that_are_wrong_are_told_beside_their_fields(walked: Visitor) -> None:
    before = len(walked.project.runs())
    for typed, field in (
        ([("r", "none"), *ALL], "r"),
        ([("r", "3")], "readers"),
        ([("method", "magic"), *ALL], "method"),
        ([("method", "anatomy"), ("p-anatomy-l", "half"), *ALL], "parameters"),
    ):
        answer = walked.post("/run", typed)
        assert answer.status == 422
        assert f'id="wrong-{field}"' in answer.text
    assert len(walked.project.runs()) == before
    walked.follow("/plan/choose", {"r": "3"})
    answer = walked.post("/plan", {"curve": "2, x"})
    assert 'id="wrong-curve"' in answer.text
    assert 'value="2, x"' in answer.text


def test_a_run_is_watched_and_stopped(visitor: Visitor) -> None:
    settle(visitor)
    answer = visitor.post("/run", [*ALL, ("attack", "yes")])
    place = answer.headers["location"]
    assert "is going on" in visitor.get(place).words
    part = visitor.get(f"{place}/progress")
    assert part.text.count("<section") == 1
    assert "<html" not in part.text
    visitor.follow(f"{place}/stop")
    run = ended(visitor, answer)
    assert run.state == "stopped"
    assert "was stopped" in visitor.get(place).words
    assert visitor.get(f"{place}/progress").headers["hx-refresh"] == "true"
    assert visitor.post(f"{place}/decide", {"decision": "approved"}).status == 422


def test_a_run_that_fails_says_why(visitor: Visitor) -> None:
    settle(visitor)
    visitor.project.write_draft(visitor.project.draft | {"protect": [["No such illness"]]})
    answer = visitor.post("/run", ALL)
    run = ended(visitor, answer)
    assert run.state == "failed"
    words = visitor.get(answer.headers["location"]).words
    assert "[value-missing]" in words
    assert "Start again" in words


def test_pages_lead_to_what_is_missing(visitor: Visitor) -> None:
    for path in ("/plan", "/run", "/audit"):
        assert "Choose a table first" in visitor.get(path).words
    settle(visitor)
    visitor.project.write_draft({"qi": ["age"]})
    for path in ("/plan", "/run", "/audit"):
        words = visitor.get(path).words
        assert "The roles are not settled yet" in words
        assert "[spec-missing]" in words


def test_the_evidence_file_follows_the_decision(walked: Visitor) -> None:
    assert walked.get("/evidence/0003").status == 404
    answer = walked.follow("/evidence/0003")
    assert "Write the evidence file again" in answer.words
    page = walked.get("/evidence/0003")
    assert page.body == (walked.project.folder / "runs/0003/evidence.html").read_bytes()
    assert page.headers["content-security-policy"].startswith("sandbox")
    typed = {"decision": "refused", "name": "A. Reviewer", "reason": "Too much is shown."}
    shown = walked.follow("/runs/0003/decide", typed)
    assert "Too much is shown." in walked.get("/evidence/0003").words
    assert "shoal decide runs/0003 --refuse --name 'A. Reviewer'" in shown.words
    assert walked.post("/evidence/0001").status == 422


def test_the_run_page_shows_the_command_of_what_is_chosen(walked: Visitor) -> None:
    typed = [("method", "anatomy"), ("p-anatomy-l", "4"), ("readers", "binary"), ("attack", "y")]
    words = walked.post("/run/same", typed).words
    assert "--method anatomy --adversary binary --l 4" in words
    assert "shoal attack" in words
    assert "shoal attack" not in walked.post("/run/same", typed[:-1]).words
    assert "--budget 300" in walked.get("/run").words  # everybody tries unless told otherwise
    assert "--budget 30" in walked.post("/run/same", [*typed, ("minutes", "0.5")]).words
    for minutes in ("0", "-1", "many", "nan", "99999"):
        answer = walked.post("/run", [*typed, ("minutes", minutes)])
        assert (answer.status, 'id="wrong-minutes"' in answer.text) == (422, True)


def test_a_limit_that_attackers_beat_is_nowhere_green(
    walked: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = walked.project.run("0002")
    assert run.robust is True
    assert "The red team did not try" in walked.get("/runs/0002").words
    assert load_facts(run.folder / "private").attack is None
    found = AttackResult(attackers=(), beaten_by=("likeliest",), withstood=False)
    told = replace(load_facts(run.folder / "private"), attack=found)
    monkeypatch.setattr(Run, "attacks", [found])
    monkeypatch.setattr("shoal.workbench.verdicts.load_facts", lambda _: told)
    page = walked.get("/runs/0002")
    assert 'data-robust="false"' in page.text
    assert "Attacks BROKEN" in page.words
    assert run.robust is False
    assert "not robust" in walked.get("/runs").words.partition("0002")[2].partition("0001")[0]
    assert "Verdict not robust" in walked.get("/compare?runs=0002").words


def test_attackers_with_too_few_tries_were_asked(
    walked: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = load_facts(walked.project.run("0002").folder / "private")
    tried = (PublicAttacker(attacker="likeliest"),)
    told = PublicAttack(attackers=tried, beaten_by=(), withstood=None, too_few_tries=("likeliest",))
    monkeypatch.setattr(
        "shoal.workbench.verdicts.load_facts", lambda _: replace(facts, attack=told)
    )
    page = walked.get("/runs/0002")
    assert "Attacks too few tries 1 attacker tried to name cases" in page.words
    assert "The red team did not try: nobody knows what attackers achieve." not in page.words


def test_what_is_not_robust_says_what_can_be_done(walked: Visitor) -> None:
    answer, kept = walked.get("/runs/0003"), walked.get("/runs/0002")
    assert "What can be done: Make the release with ART" in answer.words
    assert '<a href="/find">' in answer.text
    assert '<p class="note">Verified.' in answer.text
    assert "What can be done:" not in kept.words
    assert '<p class="good-line">Verified.' in kept.text
    facts = load_facts(walked.project.run("0003").folder / "private")
    broken = [f"{words(one)}." for one in facts.checks if one.state == "broken"]
    assert broken
    proposed = proposals(facts)["residual_risk"]
    assert all(said in proposed for said in broken)


def test_what_is_not_robust_is_approved_with_a_reason_of_its_own(walked: Visitor) -> None:
    run = walked.project.run("0003")
    typed = {"decision": "approved", "name": "Ada", "reason": "Needed now."}
    answer = walked.post("/runs/0003/decide", typed)
    assert (answer.status, 'id="wrong-despite"' in answer.text) == (422, True)
    assert run.decision is None or run.decision["decision"] == "refused"
    assert 'name="despite"' not in walked.get("/runs/0002").text
    shown = walked.follow("/runs/0003/decide", typed | {"despite": "Two doctors alone read it."})
    assert "Two doctors alone read it." in shown.words
    assert "--despite 'Two doctors alone read it.'" in shown.words
    (run.folder / "decision.json").unlink()


def test_a_page_names_no_option_of_the_command_line(walked: Visitor) -> None:
    for path in ("/", "/table", "/roles", "/plan", "/run", "/runs/0002", "/runs/0003"):
        text = walked.get(path).text
        words = unescape(re.sub(r"<[^>]*>", " ", re.sub(r"(?s)<pre.*?</pre>", "", text)))
        assert not re.findall(r"(?<!\w)--[a-z]+|shoal (?:attack|verify|plan|init)\b", words), path


def test_models_and_hierarchies_are_chosen_too(walked: Visitor) -> None:
    folder = walked.project.folder
    (folder / "region.csv").write_text(
        "".join(f"{name},anywhere\n" for name in hospital(2_000, seed=5)["region"].unique()),
        encoding="utf-8",
    )
    field = f"h-{key_of('region')}"
    assert f'name="{field}"' in walked.get("/run").text
    typed = [*ALL, ("method", "mondrian"), ("model", "kernel"), (field, "region.csv")]
    words = walked.post("/run/same", typed).words
    assert "--method mondrian --model kernel --hierarchy region=region.csv" in words
    for wrong, code in (
        ([("method", "anatomy"), (field, "region.csv")], "method-parameter"),
        ([("model", "oracle")], "model-name"),
        ([("method", "mondrian"), (field, "../region.csv")], "project-path"),
        ([("method", "mondrian"), (field, "spec.toml")], "hierarchy"),
    ):
        answer = walked.post("/run", [*ALL, *wrong])
        assert answer.status == 422, code
        assert code in answer.words


def test_a_comparison_tells_who_beat_the_limit_on_any_column() -> None:
    attacks = [AttackResult(attackers=(), beaten_by=one) for one in ((), ("likeliest",))]
    assert LINES["Limit beaten by"]({"attacks": attacks}) == "likeliest"
