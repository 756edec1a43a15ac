"""Studies: reading, running, resuming, drawing, and the page that is written from the numbers."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from shoal.data.datasets import hospital
from shoal.errors import InputError
from studies import run as runner
from studies.__main__ import main
from studies.figures import draw
from studies.page import page_text, write_page
from studies.results import Results, collect
from studies.run import CELLS, run
from studies.study import PAPER, Study, read_studies, read_study

STUDY = """
title = "Tiny"
factor = "r"
label = "r"
values = [2, 3]
adversaries = ["joint", "binary"]
coverage = true

[spec]
qi = ["age", "sex"]
sensitive = "diagnosis"
r = 2
min_support = 30
protect = [{ label = "protected", values = ["HIV", "Schizophrenia"] }]

[workload]
queries = 100
selectivity = 0.2

[[methods]]
name = "ART"
method = "art"
parameters = { max_suppression = 1.0 }

[[methods]]
name = "Anatomy"
method = "anatomy"

[quick]
values = [2]
queries = 50
without = ["ART"]
"""


@pytest.fixture
def study_path(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.toml"
    path.write_text(STUDY, encoding="utf-8")
    return path


@pytest.fixture
def data_path(tmp_path: Path) -> Path:
    path = tmp_path / "hospital.csv"
    frame = hospital(600, seed=2).with_columns((pl.col("age") // 20 * 20).alias("age"))
    frame.write_csv(path)
    return path


def results_of(study: Study, data: Path, out: Path) -> Results:
    lines = run([study], data, out)
    return collect(
        lines,
        [study],
        command="python -m studies tiny",
        machine={"processor": "p", "system": "s", "cores": "2"},
    )


def test_the_shipped_studies_cover_the_papers_factors() -> None:
    studies = read_studies("paper")
    assert [study.name for study in studies] == list(PAPER)
    by_name = {study.name: study for study in studies}
    assert by_name["qi-size"].values == (3, 4, 5, 6, 7, 8)
    assert by_name["r"].values == tuple(range(2, 11))
    assert {study.factor for study in studies} == {
        "qi_size",
        "r",
        "dimensions",
        "selectivity",
        "min_support",
    }
    for name in ("qi-size", "r", "qd", "s"):
        assert [m.name for m in by_name[name].methods] == [
            "ART",
            "Anatomy",
            "MASK",
            "Injector",
            "t-closeness",
        ]
    quick = read_studies("qi-size", quick=True)[0]
    assert set(quick.values) < set(by_name["qi-size"].values)
    assert quick.workload.queries < by_name["qi-size"].workload.queries


def test_cells_vary_what_the_study_says(study_path: Path) -> None:
    study = read_study(study_path)
    cells = study.cells(repeat=2, seed=5)
    assert len(cells) == 2 * 2 * 2
    assert {cell.spec.r for cell in cells} == {2.0, 3.0}
    assert {cell.seed for cell in cells} == {5, 6}
    assert len({cell.key("data") for cell in cells}) == 8
    assert cells[0].key("data") != cells[0].key("other data")
    qi_sizes = [cell for cell in read_studies("qi-size")[0].cells() if cell.value == 4]
    assert all(len(cell.spec.qi) == 4 for cell in qi_sizes)
    deep = [cell for cell in read_studies("qd")[0].cells() if cell.value == 2]
    assert all(cell.workload.dimensions == 2 for cell in deep)
    assert len({cell.release_key() for cell in read_studies("qd")[0].cells()}) == 5


def test_a_run_stops_and_goes_on(
    study_path: Path, data_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, out = read_study(study_path), tmp_path / "out"
    run([study], data_path, out)
    kept = (out / CELLS).read_text(encoding="utf-8").splitlines()
    assert len(kept) == 4
    # As a crash leaves it: two whole lines and half of a third.
    (out / CELLS).write_text("\n".join([*kept[:2], kept[2][:20]]) + "\n", encoding="utf-8")
    measured = []
    real = runner._measure

    def counting(cells, frame, trees):  # type: ignore[no-untyped-def]
        measured.extend(cells)
        yield from real(cells, frame, trees)

    monkeypatch.setattr(runner, "_measure", counting)
    lines = run([study], data_path, out)
    assert len(measured) == 2
    assert len(lines) == 4
    measured.clear()
    said: list[str] = []
    again = run([study], data_path, out, say=said.append)
    assert measured == []
    assert "4 cells, 4 of them done" in said[0]
    assert again == lines


def test_lines_hold_measures_bounds_and_both_adversaries(
    study_path: Path, data_path: Path, tmp_path: Path
) -> None:
    results = results_of(read_study(study_path), data_path, tmp_path / "out")
    art = results.lines.filter(method="ART")
    assert (art["problematic_share"] == 0).all()
    assert (art["coverage_bound"] <= art["with_event"]).all()
    assert results.lines["binary_worst_posterior"].null_count() == 0
    assert results.lines["relative_error"].null_count() == 0


def test_results_survive_the_csv(study_path: Path, data_path: Path, tmp_path: Path) -> None:
    results = results_of(read_study(study_path), data_path, tmp_path / "out")
    results.save(tmp_path / "saved")
    again = Results.load(tmp_path / "saved")
    assert again.about == results.about
    assert again.lines.columns == results.lines.columns
    assert again.lines["relative_error"].to_list() == pytest.approx(
        results.lines["relative_error"].to_list(), abs=1e-6
    )
    assert pl.read_parquet(tmp_path / "saved" / "results.parquet").height == 4
    head = (tmp_path / "saved" / "results.csv").read_text(encoding="utf-8").splitlines()[0]
    assert head == '# command: "python -m studies tiny"'


def test_figures_and_page_come_from_the_numbers(
    study_path: Path, data_path: Path, tmp_path: Path
) -> None:
    results = results_of(read_study(study_path), data_path, tmp_path / "out")
    written = draw(results, tmp_path / "figures")
    svg = written[0].read_text(encoding="utf-8")
    assert "(a) Execution time (s)" in svg
    assert "#0072B2" in svg
    assert "#E69F00" in svg
    assert (tmp_path / "figures" / "tiny.png").read_bytes().startswith(b"\x89PNG")
    write_page(results, tmp_path / "docs" / "results.md")
    page = (tmp_path / "docs" / "results.md").read_text(encoding="utf-8")
    error = results.averaged("tiny")[0]["relative_error"]
    assert f"| {error:.3g} |" in page
    assert "](figures/tiny.svg)" in page
    assert (tmp_path / "docs" / "results" / "paper.csv").is_file()


def paper_like(**changes: float) -> Results:
    """Numbers as the paper would have them, at two QI sizes and two r."""
    base = {
        "seconds": 1.0,
        "relative_error": 0.1,
        "relative_error_protected": 0.2,
        "problematic_share": 0.5,
        "worst_posterior": 0.6,
        "suppressed_share": 0.0,
        "average_delta": 0.04,
        "average_delta_carrying": 0.02,
        "theoretical_bound": 0.03,
    }
    special = {
        "ART": {"seconds": 9.0, "problematic_share": 0.0, "average_delta": 0.01},
        "MASK": {"problematic_share": 0.1, "average_delta": 0.02},
        "t-closeness": {"relative_error": 2.0, "average_delta": 0.02, "problematic_share": 0.3},
        "Injector": {"relative_error": 0.08},
        "Anatomy": {},
    }
    lines = [
        {
            "study": study,
            "factor": study,
            "value": value,
            "method": method,
            "seed": 0,
            "qi": 3,
            "r": 2.0,
            "min_support": 100,
            "qd": 3,
            "s": 0.05,
            "queries": 10,
            **{
                name: number * (1 + 0.1 * (value == high) * (name != "theoretical_bound"))
                for name, number in {**base, **special[method]}.items()
            },
        }
        for study, high in (("qi-size", 4.0), ("r", 10.0))
        for value in (2.0, high)
        for method in special
    ]
    for line in lines:
        if line["method"] == "ART":
            line.update(changes)
    shown = {"title": "T", "label": "L", "log": False, "measures": []}
    machine = {"processor": "p", "system": "s"}
    about = {"command": "c", "machine": machine, "studies": {"qi-size": shown, "r": shown}}
    return Results(pl.DataFrame(lines), about)


def test_verdicts_follow_the_numbers() -> None:
    from studies.claims import paper_claims

    agreed = {finding.claim: finding.agrees for finding in paper_claims(paper_like())}
    changed = {
        finding.claim: finding.agrees
        for finding in paper_claims(paper_like(problematic_share=0.2, seconds=0.1))
    }
    none = "There is no violation in ART."
    better = next(claim for claim in agreed if "as well as Anatomy" in claim)
    assert agreed[better] is True
    worse = paper_claims(paper_like(relative_error=0.5))
    assert next(one for one in worse if one.claim == better).agrees is None
    loose = paper_claims(
        paper_like(exact_share=1.0),
    )
    assert all("proven breaches only" not in one.measured for one in loose)
    assert agreed[none] is True
    assert changed[none] is False
    slow = next(claim for claim in agreed if claim.startswith("Execution time grows"))
    assert agreed[slow] is True
    assert changed[slow] is False
    largest = next(claim for claim in agreed if "largest error" in claim)
    assert agreed[largest] is True
    assert "**does not agree**" in page_text(paper_like(problematic_share=0.2))


def test_an_absence_that_tells_is_a_violation() -> None:
    from studies.claims import paper_claims

    found = paper_claims(paper_like(absence_carriers=3.0))
    none = next(one for one in found if one.claim == "There is no violation in ART.")
    assert none.agrees is None
    assert "Being left out gives some of them away: 3 at 2 QIs, 3 at 4 QIs." in none.measured


def test_the_page_sets_the_paper_s_variant_beside_art() -> None:
    results = paper_like()
    shares = {"ART": 0.0, "ART, Theorem 1": 0.25}
    lines = [
        {
            "study": "adversaries",
            "value": r,
            "method": method,
            "r": r,
            "seed": 0,
            "queries": 10,
            "problematic_share": 0.0,
            "binary_problematic_share": share,
            "counter_share": share,
        }
        for r in (2.0, 5.0)
        for method, share in shares.items()
    ]
    shown = {**results.about["studies"]["r"], "title": "Two adversaries"}
    about = {**results.about, "studies": {"adversaries": shown}}
    text = page_text(Results(pl.DataFrame(lines), about))
    assert "25.0% of its sensitive tuples problematic to the binary adversary, and 0.0% to" in text
    assert "0.0% are problematic to the joint adversary, 0.0% to the binary one" in text
    assert "| ART, Theorem 1 | 5 | 0.2 | 0.0% | - | 25.0% | - | 25.0% | - |" in text


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('factor = "r"', 'factor = "rr"', 'varies "rr"'),
        ("values = [2, 3]", "values = []", "has no values"),
        ('title = "Tiny"', 'titel = "Tiny"', 'unknown key "titel" (did you mean "title"?)'),
        ('"binary"]', '"binry"]', "binry"),
        ("queries = 100", "quieries = 100", 'unknown key "quieries"'),
        ('title = "Tiny"', "", "does not say title of a study"),
        ('method = "anatomy"', "", "does not say method of a entry"),
        ('factor = "r"', 'factor = "qi_size"', "asks for 3 QIs and names 2"),
        ('name = "ART"\nmethod', 'nme = "ART"\nmethod', 'unknown key "nme"'),
        ("queries = 50", "quieries = 50", "[quick] of"),
    ],
)
def test_a_wrong_study_is_refused(study_path: Path, old: str, new: str, said: str) -> None:
    assert old in STUDY
    study_path.write_text(STUDY.replace(old, new), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_study(study_path)
    assert said in caught.value.problem


def test_quick_leaves_out_what_it_says(study_path: Path) -> None:
    quick = read_study(study_path, quick=True)
    assert quick.values == (2,)
    assert quick.workload.queries == 50
    assert [entry.name for entry in quick.methods] == ["Anatomy"]
    study_path.write_text(STUDY + "repeat = 3\n", encoding="utf-8")
    with pytest.raises(InputError, match="repeat"):
        read_study(study_path, quick=True)


def test_an_unknown_study_names_the_near_one() -> None:
    with pytest.raises(InputError, match="qi-size"):
        read_studies("qi-sise")


def test_a_failing_method_is_a_line(study_path: Path, data_path: Path, tmp_path: Path) -> None:
    hard = STUDY.replace("values = [2, 3]", "values = [500]").replace("coverage = true", "")
    study_path.write_text(hard, encoding="utf-8")
    lines = run([read_study(study_path)], data_path, tmp_path / "out")
    failed = next(line for line in lines if line["method"] == "Anatomy")
    assert "failed" in failed
    assert json.loads((tmp_path / "out" / CELLS).read_text(encoding="utf-8").splitlines()[0])


def test_a_study_of_ones_own_and_its_page(
    data_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = tmp_path / "mine.toml"
    study.write_text(
        'title = "Mine"\nfactor = "selectivity"\nvalues = [0.1, 0.3]\n'
        '[spec]\nqi = ["age", "sex"]\nsensitive = "diagnosis"\nr = 2\nprotect = ["HIV"]\n'
        '[workload]\nqueries = 50\n[[methods]]\nname = "Anatomy"\nmethod = "anatomy"\n',
        encoding="utf-8",
    )
    out = tmp_path / "out"
    main([str(study), "--data", str(data_path), "--out", str(out)])
    assert "2 cells, 0 of them done" in capsys.readouterr().err
    for name in ("results.csv", "results.parquet", "figures/mine.svg", "figures/mine.png"):
        assert (out / name).is_file(), name
    page = tmp_path / "docs" / "results.md"
    main(["page", str(out), "--out", str(page)])
    assert "python -m studies mine.toml --data hospital.csv" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["paper", "--data", "x.csv"], "--out"),
        (["paper", "--out", "o"], "--data"),
        (["paper", "--data", "x.csv", "--out", "o", "--repeat", "0"], "at least once"),
        (["page", "--out", "o"], "page takes the results"),
        (["page", "nowhere", "--out", "o"], 'no results at "nowhere"'),
        (["papr", "--data", "x.csv", "--out", "o"], 'did you mean "paper"'),
        (["paper", "results", "--data", "x.csv", "--out", "o"], "page takes the results"),
    ],
)
def test_a_command_that_makes_no_sense(
    given: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(given)
    assert caught.value.code == 2
    assert said in capsys.readouterr().err


def test_the_page_of_the_repository_is_made_from_its_numbers() -> None:
    docs = Path(__file__).resolve().parents[2] / "docs"
    made = page_text(Results.load(docs / "results" / "paper.csv"))
    assert made == (docs / "results.md").read_text(encoding="utf-8")
