"""The report: what it says, what its public edition keeps to itself, and hostile values."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
from dataclasses import asdict, replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import shoal
from shoal import report
from shoal.cli import app
from shoal.cli.report import check_reports
from shoal.datasets import HOSPITAL_EVENT, HOSPITAL_QI, hospital
from shoal.errors import InputError
from shoal.report import charts
from shoal.report.bins import count_within, merge_small, probability_edges, size_edges
from shoal.report.facts import Facts
from shoal.report.page import script_json
from shoal.report.public import public_facts, public_risk
from shoal.report.sentences import story, verdict_sentence
from shoal.report.words import command_line, isolated, judged, percent, visible
from shoal.table import Table

ROWS = 240
HOSTILE = (
    "</script><script>alert(1)</script>",
    '<img src=x onerror="alert(1)">',
    '=HYPERLINK("http://example.org","x")',
    "a\u202eb\u2066c\u200f",
    "line\u2028break\u2029\x00",
    "{{ 7 * 7 }}",
    "-->]]>&amp;",
)


def marked() -> pl.DataFrame:
    """A table whose QI cells, identifier and one sensitive value each belong to one person."""
    rng = np.random.default_rng(5)
    sick = rng.choice(["flu", "cold", "cough", "HIV"], ROWS, p=[0.4, 0.3, 0.2, 0.1])
    return pl.DataFrame(
        {
            "town": [f"TOWN-MARK-{n:03d}-X" for n in range(ROWS)],
            "salary": [71_300_000 + 137 * n for n in range(ROWS)],
            "sex": rng.choice(["SEX-MARK-F", "SEX-MARK-M"], ROWS),
            "name": [f"NAME-MARK-{n}" for n in range(ROWS)],
            "sick": ["RARE-DIAGNOSIS", *sick[1:].tolist()],
        }
    )


def marks() -> list[str]:
    """Every text that belongs to rows of that table."""
    frame = marked()
    numbers = [str(n) for n in frame["salary"]] + [f"{n:,}" for n in frame["salary"]]
    return [*frame["town"], *frame["sex"].unique(), *frame["name"], *numbers, "RARE-DIAGNOSIS"]


def marked_table(**changes: Any) -> Table:
    spec = shoal.Spec(
        qi=("town", "salary", "sex"),
        sensitive="sick",
        protect=("HIV",),
        r=3,
        min_support=40,
        identifiers=("name",),
    )
    return Table.from_frame(marked(), spec.with_(**changes))


@pytest.fixture(scope="module")
def facts() -> Facts:
    table = marked_table()
    labels = [f"GROUP-MARK-{n // 6}" for n in range(ROWS)]
    return report.audit_facts(
        shoal.audit(table, labels),
        table,
        repeat=report.Repeat(command="shoal audit SECRET-PLACE.csv", seed=3),
    )


@pytest.fixture(scope="module")
def made() -> tuple[shoal.Release, Table]:
    spec = shoal.Spec(
        qi=HOSPITAL_QI, sensitive="diagnosis", protect=[HOSPITAL_EVENT], r=3, min_support=100
    )
    table = Table.from_frame(hospital(2_000, seed=4), spec)
    return shoal.anonymize(table, spec, method="anatomy", l=4, seed=9), table


class Page(HTMLParser):
    """The text of a page, its tags, and the contents of its scripts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self._inside = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            self.scripts[-1] += data
        elif self._inside != "style":
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.texts).split())


# --- The public edition --------------------------------------------------------------------


def assert_nothing_of_one_person(html: str) -> None:
    for mark in marks():
        assert mark not in html
    assert "MARK" not in html[: html.index("<script>")]
    assert not re.search(r"71[,.]?3", Page(html).text)


def test_public_edition_of_an_audit_has_no_row_level_value(facts: Facts) -> None:
    html = report.render(facts, edition="public")
    assert_nothing_of_one_person(html)
    assert "SECRET-PLACE" not in html


def test_internal_edition_has_them(facts: Facts) -> None:
    html = report.render(facts)
    for mark in ("TOWN-MARK", "SEX-MARK", "GROUP-MARK", "SECRET-PLACE", "7130"):
        assert mark in html


@pytest.mark.parametrize("method", ["anatomy", "mondrian"])
def test_public_edition_of_a_release_has_no_row_level_value(method: str) -> None:
    table = marked_table()
    given = {"k": 6} if method == "mondrian" else {"l": 4}
    release = shoal.anonymize(table, table.spec, method=method, seed=2, **given)
    assert_nothing_of_one_person(report.render_release(release, table, edition="public"))
    assert "TOWN-MARK" in report.render_release(release, table)


def test_public_edition_when_every_value_is_protected() -> None:
    table = marked_table(protect=None)
    audit = shoal.audit(table, [0, *(1 + np.arange(1, ROWS) // 8)])
    assert audit.worst is not None
    assert audit.worst.event == "RARE-DIAGNOSIS"
    html = report.render_audit(audit, table, edition="public")
    assert_nothing_of_one_person(html)
    assert "a rare protected value" in Page(html).text
    assert "RARE-DIAGNOSIS" in report.render_audit(audit, table)


def test_public_facts_have_no_place_for_a_person(facts: Facts) -> None:
    def keys(value: Any) -> set[str]:
        if isinstance(value, dict):
            return set(value) | {key for part in value.values() for key in keys(part)}
        return {key for part in value for key in keys(part)} if isinstance(value, list) else set()

    assert {"row", "person", "group"} <= keys(asdict(facts))
    assert not {"row", "person", "group"} & keys(asdict(public_facts(facts)))


def test_public_edition_names_no_file_of_outside_knowledge(tmp_path: Path) -> None:
    file = tmp_path / "secret-study.csv"
    file.write_text("sex,value,probability\nSEX-MARK-F,HIV,0.2\n", encoding="utf-8")
    table = marked_table(knowledge=str(file))
    audit = shoal.audit(table, np.arange(ROWS) // 6)
    assert "secret-study" in report.render_audit(audit, table)
    assert "secret-study" not in report.render_audit(audit, table, edition="public")


def test_small_counts_are_called_small(facts: Facts) -> None:
    found = {**facts.verdict, "robust": False, "problematic": 3}
    few = replace(facts, verdict=found)
    assert "fewer than 5 of 240 people" in verdict_sentence(few, public=True)
    assert ": 3 of 240 people" in verdict_sentence(few, public=False)


@given(st.lists(st.integers(0, 12), min_size=1, max_size=30))
def test_merged_bins_hold_everybody_and_no_small_count(counts: list[int]) -> None:
    bins = [
        {"low": n / 10, "high": (n + 1) / 10, "people": count, "parts": 1}
        for n, count in enumerate(counts)
    ]
    merged = merge_small(bins, counts=("people",), fewest=5)
    assert not [one for one in merged if 0 < one["people"] < 5]
    if sum(counts) >= 5:
        assert sum(one["people"] for one in merged) == sum(counts)
        assert sum(one["parts"] for one in merged) == len(counts)
        assert merged[0]["low"] == 0
        assert merged[-1]["high"] == bins[-1]["high"]
        assert all(a["high"] == b["low"] for a, b in pairwise(merged))


def test_the_limit_stays_an_edge_unless_a_side_is_too_small() -> None:
    def bins(counts: list[int]) -> list[dict[str, Any]]:
        return [
            {"low": n / 10, "high": (n + 1) / 10, "people": count, "parts": 1}
            for n, count in enumerate(counts)
        ]

    kept = public_risk(bins([9, 2, 3, 4]), 0.2)
    assert [(one["high"], one["people"]) for one in kept] == [(0.2, 11), (0.4, 7)]
    crossed = public_risk(bins([9, 6, 3, 0]), 0.2)
    assert sum(one["people"] for one in crossed) == 18
    assert not [one for one in crossed if 0 < one["people"] < 5]


# --- Hostile values ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hostile() -> str:
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "<b>QI</b>": rng.choice(HOSTILE, 300),
            "x": rng.integers(0, 3, 300),
            "</style>": rng.choice(HOSTILE, 300, p=[0.1, 0.3, 0.2, 0.1, 0.1, 0.1, 0.1]),
        }
    )
    spec = shoal.Spec(qi=("<b>QI</b>", "x"), sensitive="</style>", r=4, min_support=20)
    table = Table.from_frame(frame, spec)
    audit = shoal.audit(table, [HOSTILE[n % 7] + str(n // 7) for n in range(300)])
    command = command_line(["audit", "</pre><script>alert(2)</script>"])
    return report.render_audit(audit, table, repeat=report.Repeat(command=command))


def test_hostile_values_are_text(hostile: str) -> None:
    page = Page(hostile)
    assert [tag for tag, _ in page.tags].count("script") == 2
    assert "img" not in [tag for tag, _ in page.tags]
    assert [tag for tag, _ in page.tags].count("style") == 1
    for _, attributes in page.tags:
        assert not [name for name in attributes if name.startswith("on")]
    assert "<img src=x onerror=" in page.text
    assert "</script><script>alert(1)</script>" in page.text
    assert '=HYPERLINK("http://example.org","x")' in page.text
    assert "{{ 7 * 7 }}" in page.text
    assert "a⟨U+202E⟩b⟨U+2066⟩c⟨U+200F⟩" in page.text
    assert not re.search("[\x00\u202a-\u202e\u2066\u2067\u200f\u2028\u2029]", hostile)


def test_hostile_chart_data_is_json_that_ends_nothing(hostile: str) -> None:
    page = Page(hostile)
    data = next(text for text in page.scripts if text.startswith("{"))
    assert not re.search("[<>&\u2028\u2029]", data)
    labels = {line["label"] for line in json.loads(data)["column-0"]["data"]["values"]}
    assert '<img src=x onerror="ale…' in labels


def test_script_json_survives_a_round_trip() -> None:
    data = {"a": list(HOSTILE)}
    text = script_json(data)
    assert json.loads(text) == data
    assert not set("<>&\u2028\u2029") & set(text)


def test_the_policy_admits_one_script_and_no_address(facts: Facts) -> None:
    page = Page(report.render(facts))
    policy = next(a["content"] for t, a in page.tags if a.get("http-equiv")) or ""
    code = next(text for text in page.scripts if not text.startswith("{"))
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe-eval" not in policy
    assert not re.search("https?:", policy)
    for _, attributes in page.tags:
        assert not {"src", "href", "srcset", "action", "data"} & set(attributes)
    style = re.search("<style>(.*?)</style>", report.render(facts), re.S)
    assert style is not None
    assert "url(" not in style[1]
    assert "@import" not in style[1]


# --- What it says --------------------------------------------------------------------------


def test_the_story_of_a_witness() -> None:
    witness = {
        "person": {"age": "61", "sex": "Male", "occupation": "Farming"},
        "event": "ill",
        "view": ["age/10", "occupation"],
        "before": 0.2237,
        "posterior": 0.0979,
        "kind": "bound",
        "limit": 0.1,
        "shared": 1,
    }
    told = story(witness, public=False).replace("\u00a0", " ")
    assert told == (
        "The worst case, a person with age 61 and occupation Farming: linked to “ill” with 22.4 % "
        "before, at most 9.8 % after; reached through age/10 and occupation."
    )
    del witness["person"]
    told = story({**witness, "kind": "estimate", "shared": 3}, public=True).replace("\u00a0", " ")
    assert told == (
        "The worst case, someone whom this edition does not describe: linked to “ill” with 22.4 % "
        "before, about 9.8 % after; reached through age/10 and occupation. fewer than 5 people "
        "have the same figure."
    ).replace("fewer", "Fewer")
    assert "nobody to link" in story(None, public=True)


def test_the_verdict_is_the_audits(made: tuple[shoal.Release, Table]) -> None:
    release, table = made
    audit = release.audit
    assert audit is not None
    text = Page(report.render_release(release, table)).text
    assert audit.robust is False
    assert f"Not robust at r = 3: {audit.problematic:,} of {audit.published:,} people" in text
    loose = shoal.audit(table, np.zeros(table.rows, int), r=1.5)
    assert loose.robust
    text = Page(report.render_audit(loose, table)).text
    assert (
        "Robust at r = 1.5: nobody can be linked to “HIV|Schizophrenia” with a probability" in text
    )


def test_an_open_verdict_gives_its_reasons(facts: Facts) -> None:
    found = {**facts.verdict, "robust": None, "undecided": 7, "contradictory": 2}
    sentence = verdict_sentence(replace(facts, verdict=found), public=False)
    assert sentence.startswith("Could not be judged at r = 3: for 7 of 240 people neither")
    assert "2 groups publish values that contradict" in sentence


def test_sections_come_in_order(made: tuple[shoal.Release, Table]) -> None:
    html = report.render_release(*made)
    ids = ["verdict", "risk", "views", "groups", "loss", "assumed", "repeat"]
    places = [html.index(f'id="{name}"') for name in ids]
    assert places == sorted(places)
    text = Page(html).text
    for part in ("Seed 9.", "min_support", "2,000 random questions", 'sensitive = "diagnosis"'):
        assert part in text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0, "0 %"),
        (0.2237, "22.4 %"),
        (0.1, "10 %"),
        (1, "100 %"),
        (0.000312, "0.031 %"),
        (1e-9, "under 0.001 %"),
    ],
)
def test_percent(share: float, text: str) -> None:
    assert percent(share) == text.replace(" %", "\u00a0%")


def test_a_breach_never_looks_like_the_limit() -> None:
    assert judged(0.10004, "exact", limit=0.1) == "10.004\u00a0%"
    assert judged(0.1, "exact", limit=0.1) == "10\u00a0%"
    assert judged(0.09811, "bound", limit=0.1) == "at most 9.9\u00a0%"
    assert judged(0.0984, "estimate", limit=0.1) == "about 9.8\u00a0%"


def test_foreign_text() -> None:
    assert isolated("plain") == "plain"
    assert isolated("שלום") == "\u2068שלום\u2069"
    assert visible("a\tb") == "a⟨U+0009⟩b"
    assert visible("x" * 10_000).endswith("… (10,000 characters)")


def test_a_command_shows_no_password() -> None:
    line = command_line(["audit", "postgresql://ann:hunter2@host/db?table=t", "-r", "3"])
    assert "hunter2" not in line
    assert line.startswith("shoal audit ")


# --- Records and charts --------------------------------------------------------------------


def test_risk_bins_count_every_published_person_once(made: tuple[shoal.Release, Table]) -> None:
    release, table = made
    audit = release.audit
    assert audit is not None
    facts = report.release_facts(release, table)
    for when, over in (("before", audit.known_before), ("after", audit.problematic)):
        bins = facts.risk[when]
        assert sum(one["people"] for one in bins) == audit.published
        above = [one["people"] for one in bins if one["low"] >= facts.limits[0] - 1e-9]
        assert sum(above) == over


def test_a_value_at_the_limit_lies_below_it() -> None:
    edges = probability_edges(0.1, 0.35)
    counts = count_within(np.array([0.0, 0.1, 0.1 + 1e-6, 0.35]), edges)
    limit = int(np.searchsorted(edges, 0.1 - 1e-12))
    assert sum(counts[:limit]) == 2
    assert sum(counts) == 4
    assert len(probability_edges(0.0001, 1.0)) <= 62


def test_view_records_are_the_audits(facts: Facts) -> None:
    audit = shoal.audit(marked_table(), np.arange(ROWS) // 6)
    assert max(one["worst"] for one in facts.views) == audit.worst_posterior
    assert [one["worst"] for one in facts.views] == sorted(
        (risk.worst for risk in audit.by_view.values()), reverse=True
    )
    assert max(risk.problematic for risk in audit.by_view.values()) <= audit.problematic
    deltas = [risk.delta for risk in audit.by_view.values()]
    assert np.mean(deltas) == pytest.approx(audit.average_delta_carrying)
    chart = charts.view_chart(
        [{**one, "text": "", "people": ""} for one in facts.views], limit=1 / 3
    )
    drawn = chart["data"]["values"]
    assert [one["label"] for one in drawn] == [one["name"] for one in facts.views]
    assert [one["over"] for one in drawn] == [one["worst"] > 1 / 3 for one in facts.views]


def test_group_sizes(facts: Facts) -> None:
    filled = [one for one in facts.sizes if one["people"]]
    assert [(one["low"], one["high"], one["people"]) for one in filled] == [(6, 6, ROWS)]
    assert filled[0]["with_event"] + filled[0]["without"] == ROWS // 6
    starts = size_edges(1_000_000)
    assert starts == sorted(set(starts))
    assert starts[-1] > 1_000_000


def test_distances_agree_with_the_utility(made: tuple[shoal.Release, Table]) -> None:
    from shoal.report import loss

    release, table = made
    facts = report.release_facts(release, table)
    own = {one["name"]: one["distance"] for one in loss.released(table, release)}
    for column in facts.loss:
        if column["role"] == "QI":
            assert column["distance"] == pytest.approx(own[column["name"]], abs=1e-12)


def test_distances_of_a_generalized_release_agree_with_the_utility() -> None:
    from shoal.report import loss

    table = marked_table()
    release = shoal.anonymize(table, table.spec, method="mondrian", k=6, seed=2)
    own = {one["name"]: one["distance"] for one in loss.released(table, release)}
    for column in report.release_facts(release, table).loss:
        assert column["distance"] == pytest.approx(own[column["name"]], abs=1e-9)


def test_suppressed_rows_move_the_distribution() -> None:
    table = marked_table()
    labels = pl.Series([None if n < 60 else n // 6 for n in range(ROWS)])
    facts = report.audit_facts(shoal.audit(table, labels), table)
    town = next(one for one in facts.loss if one["name"] == "town")
    assert town["distance"] == pytest.approx(60 / ROWS)
    assert town["gone"] == 60
    assert facts.verdict["suppressed"] == 60


# --- Files and commands --------------------------------------------------------------------


def test_the_same_facts_give_the_same_bytes_and_survive_a_file(
    made: tuple[shoal.Release, Table], tmp_path: Path
) -> None:
    facts = report.release_facts(*made)
    report.keep_facts(facts, tmp_path)
    again = report.load_facts(tmp_path)
    for edition in ("internal", "public"):
        assert report.render(again, edition=edition) == report.render(facts, edition=edition)


def test_files_that_are_no_facts(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no report\.json"):
        report.load_facts(tmp_path)
    (tmp_path / "report.json").write_text('{"format": "shoal-report/1"}', encoding="utf-8")
    with pytest.raises(InputError, match="no report that this version"):
        report.load_facts(tmp_path)


def test_wrong_arguments(made: tuple[shoal.Release, Table], facts: Facts) -> None:
    release, table = made
    with pytest.raises(InputError, match='no edition "secret"'):
        report.render(facts, edition="secret")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no audit to report"):
        report.render_release(replace(release, audit=None), table)
    with pytest.raises(InputError, match="The audit is of"):
        report.render_audit(release.audit, marked_table())  # type: ignore[arg-type]


def test_a_missing_package_is_named(facts: Facts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(InputError, match=r"shoal\[report\]"):
        report.render(facts)


def test_reports_are_checked_before_a_long_run(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("a\n1\n", encoding="utf-8")
    with pytest.raises(InputError, match="is the input itself"):
        check_reports(table, table=str(table))
    with pytest.raises(InputError, match="There is no folder"):
        check_reports(tmp_path / "none" / "r.html")
    with pytest.raises(InputError, match="same file"):
        check_reports(tmp_path / "r.html", tmp_path / "r.html")


def test_audit_command_writes_both_editions(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    marked().with_columns(pl.Series("g", np.arange(ROWS) // 6)).write_csv(file)
    inside, outside = tmp_path / "inside.html", tmp_path / "outside.html"
    done = CliRunner().invoke(
        app,
        [
            "audit",
            str(file),
            "--groups",
            "g",
            "--qi",
            "town,salary,sex",
            "--sensitive",
            "sick",
            "--protect",
            "HIV",
            "-r",
            "3",
            "--min-support",
            "40",
            "--json",
            "--report",
            str(inside),
            "--public-report",
            str(outside),
        ],
    )
    figures = json.loads(done.stdout)
    assert done.exit_code == (0 if figures["robust"] else 1)
    assert "TOWN-MARK" in inside.read_text(encoding="utf-8")
    assert_nothing_of_one_person(outside.read_text(encoding="utf-8"))


def test_report_command_renders_again(made: tuple[shoal.Release, Table], tmp_path: Path) -> None:
    release, table = made
    run, page = tmp_path / "run", tmp_path / "page.html"
    release.save(run, private=tmp_path / "run-private")
    facts = report.release_facts(release, table)
    report.keep_facts(facts, tmp_path / "run-private")
    done = CliRunner().invoke(app, ["report", str(run), "--public-report", str(page)])
    assert done.exit_code == 0, done.output
    assert page.read_text(encoding="utf-8") == report.render(facts, edition="public")

    report.keep_facts(replace(facts, certificate="other"), tmp_path / "run-private")
    done = CliRunner().invoke(app, ["report", str(run), "--report", str(page)])
    assert isinstance(done.exception, InputError)
    assert done.exception.code == "report-other"
    done = CliRunner().invoke(app, ["report", str(run)])
    assert isinstance(done.exception, InputError)
    assert done.exception.code == "report-nowhere"


def test_events_with_limits_of_their_own_are_drawn_relative_to_them() -> None:
    table = marked_table(protect=("HIV", {"values": ["cough"], "r": 1.5}))
    audit = shoal.audit(table, np.arange(ROWS) // 6)
    facts = report.audit_facts(audit, table)
    assert facts.relative
    assert facts.limits == pytest.approx([1 / 3, 2 / 3])
    above = [one["people"] for one in facts.risk["after"] if one["low"] >= 1 - 1e-9]
    assert sum(above) == audit.problematic
    known = [one["people"] for one in facts.risk["before"] if one["low"] >= 1 - 1e-9]
    assert sum(known) == audit.known_before
    html = report.render(facts)
    assert "linked to a protected event above its limit" in Page(html).text
    assert_nothing_of_one_person(report.render(facts, edition="public"))


@given(st.floats(1e-4, 1.0), st.floats(0.0, 1.0))
def test_edges_hold_the_limit_and_everybody(limit: float, largest: float) -> None:
    edges = probability_edges(limit, largest)
    assert edges[0] == 0
    assert edges[-1] >= largest - 1e-9
    assert np.abs(edges - limit).min() < 1e-12
    assert (np.diff(edges) > 0).all()
    assert len(edges) <= 62
