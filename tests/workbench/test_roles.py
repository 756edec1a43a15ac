"""The page of roles: the draft follows the form, and what is wrong stands beside its field."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.data.datasets import hospital
from shoal.planning.propose import propose_spec
from shoal.workbench.held import key_of
from shoal.workbench.project import plan_steps
from tests.workbench.visitor import Answer, Visitor


@pytest.fixture
def asked(visitor: Visitor) -> Visitor:
    """A visitor whose table is the hospital's."""
    content = hospital(2_000, seed=5).write_csv().encode()
    assert visitor.send("hospital.csv", content).status == 303
    return visitor


def fields(answer: Answer) -> list[tuple[str, str]]:
    """The form as a browser would send it."""
    form = answer.text[answer.text.index('<form method="post" action="/roles"') :]
    form = form[: form.index("</form>")]
    found: list[tuple[str, str]] = []
    for tag in re.finditer(r"<(input|select|textarea)\b([^>]*)>(?:(.*?)</\1>)?", form, re.DOTALL):
        kind, attributes, inside = tag.groups()
        name = re.search(r'name="([^"]+)"', attributes)
        if name is None or 'type="checkbox"' in attributes or name[1] in ("search", "bulk-role"):
            continue
        if kind == "select":
            offered = re.findall(r'<option value="([^"]*)"( selected)?', inside or "")
            chosen = [value for value, selected in offered if selected] or [offered[0][0]]
            found.append((name[1], unescape(chosen[0])))
        elif kind == "textarea":
            found.append((name[1], unescape(inside or "")))
        else:
            value = re.search(r'value="([^"]*)"', attributes)
            found.append((name[1], unescape(value[1]) if value else ""))
    return found


def change(visitor: Visitor, *, do: str = "", **changes: Any) -> Answer:
    """Changes fields of the form as it stands and sends it."""
    typed = [(name, changes.pop(name, value)) for name, value in fields(visitor.get("/roles"))]
    more = [(name, one) for name, value in changes.items() for one in
            (value if isinstance(value, list) else [value])]  # fmt: skip
    return visitor.post("/roles", [*typed, *more, ("do", do)])


def of(name: str, column: str) -> str:
    return f"{name}-{key_of(column)}"


def test_many_columns_that_are_not_published_fold_away(visitor: Visitor) -> None:
    """They keep their fields, and one that gets a role, or is at fault, stands above."""
    more = {f"drug{n}": pl.Series(["no", "yes"] * 1_000) for n in range(12)}
    frame = hospital(2_000, seed=5).with_columns(**more)
    assert visitor.send("hospital.csv", frame.write_csv().encode()).status == 303
    none = {of("role", name): "unpublished" for name in more}
    change(visitor, **none)
    page = visitor.get("/roles")
    start = page.text.index('<details id="unpublished">')
    folded = page.text[start : page.text.index("</table>", start)]
    assert "12 columns that are not published: drug0" in page.words or "13 columns" in page.words
    assert all(f'name="{field}"' in folded for field in none)
    assert of("role", "age") not in folded
    change(visitor, **{of("role", "drug3"): "qi"})
    page = visitor.get("/roles")
    start = page.text.index('<details id="unpublished">')
    assert page.text.index(f'name="{of("role", "drug3")}"') < start
    assert "drug3" in visitor.project.draft["qi"]
    assert len({name for name, _ in fields(page) if name.startswith("role-")}) == frame.width


def test_it_begins_with_what_init_proposes(asked: Visitor) -> None:
    proposal = propose_spec(shoal.read_table(asked.project.folder / "uploads/hospital.csv"))
    words = asked.get("/roles").words
    for guess in proposal.guesses:
        assert guess.reason in words
    assert asked.project.draft["qi"] == [guess.column for guess in proposal.columns("qi")]


def test_sending_the_form_as_it_is_changes_nothing(asked: Visitor) -> None:
    before = asked.project.draft, asked.project.reasons
    assert change(asked).status == 303
    assert (asked.project.draft, asked.project.reasons) == before


def test_a_proposed_survey_weight_stays_one(visitor: Visitor) -> None:
    made = hospital(2_000, seed=5).with_row_index("fnlwgt", offset=1)
    content = made.with_columns(pl.col("fnlwgt") % 7 * 1000 + 1500).write_csv().encode()
    assert visitor.send("weighed.csv", content).status == 303
    assert visitor.project.draft["weight"] == "fnlwgt"
    change(visitor, r="3")
    assert visitor.project.draft["weight"] == "fnlwgt"
    assert "fnlwgt" not in visitor.project.draft["qi"]
    change(visitor, **{of("role", "fnlwgt"): "qi-weight"})
    assert visitor.project.draft["weight"] == "fnlwgt"
    assert "fnlwgt" in visitor.project.draft["qi"]


def test_an_event_of_one_person_is_counted_so(visitor: Visitor) -> None:
    made = hospital(300, seed=5).with_row_index()
    odd = pl.when(pl.col("index") == 0).then(pl.lit("Hepatitis")).otherwise(pl.col("diagnosis"))
    content = made.with_columns(diagnosis=odd).drop("index").write_csv().encode()
    assert visitor.send("odd.csv", content).status == 303
    assert {"values": ["Hepatitis"]} in visitor.project.draft["protect"]
    assert "Hepatitis · 1 person" in visitor.get("/roles").words


def test_a_role_is_changed_and_its_reason_asked_for(asked: Visitor) -> None:
    change(asked, **{of("role", "age"): "unpublished"})
    assert "age" not in asked.project.draft["qi"]
    assert "age" not in asked.project.reasons
    change(asked, **{of("role", "age"): "qi"})
    assert "its name says" in asked.project.reasons["age"]
    change(asked, **{of("reason", "age"): "Neighbours know it."})
    assert asked.project.reasons["age"] == "Neighbours know it."


def test_many_columns_at_once(asked: Visitor) -> None:
    picked = [key_of("age"), key_of("sex")]
    answer = change(asked, do="bulk", pick=picked, **{"bulk-role": "identifier"})
    assert answer.headers["location"] == "/roles#columns"
    assert {"age", "sex"} <= set(asked.project.draft["identifiers"])


def test_events_are_picked_from_values(asked: Visitor) -> None:
    change(asked, do="clear")  # the events that were proposed
    held = asked.bench.tables.get(asked.project.source, asked.project.folder)  # type: ignore[arg-type]
    (first, _), (second, rows), (third, _), *_ = held.values("diagnosis")
    ticks = [key_of(first), key_of(second)]
    change(asked, do=f"add:{key_of('diagnosis')}",
           **{of("tick", "diagnosis"): ticks, of("label", "diagnosis"): "both"})  # fmt: skip
    assert asked.project.draft["protect"] == [{"values": [first, second], "label": "both"}]
    change(asked, do=f"each:{key_of('diagnosis')}", **{of("tick", "diagnosis"): [key_of(third)]})
    change(asked, **{"event-r-1": "7", "event-label-1": "third"})
    events = asked.project.spec().protect
    assert events is not None
    assert (events[1].label, events[1].r, events[1].values) == ("third", 7.0, (third,))
    assert f"{rows:,}" in asked.get("/roles").words
    change(asked, do="remove:0")
    assert len(asked.project.draft["protect"]) == 1
    change(asked, do="clear")
    assert "protect" not in asked.project.draft


def test_ranges_of_numbers_are_events(asked: Visitor) -> None:
    change(asked, **{of("role", "diagnosis"): "unpublished", of("role", "age"): "sensitive"})
    key = key_of("age")
    change(asked, do=f"add:{key}", **{f"low-{key}": "80", f"label-{key}": "old"})
    assert asked.project.draft["protect"] == [{"values": [">= 80"], "label": "old"}]
    change(asked, do=f"add:{key}", **{f"low-{key}": "20", f"high-{key}": "29"})
    assert asked.project.draft["protect"][1]["values"] == ["20..29"]
    table = asked.bench.tables.get(asked.project.source, asked.project.folder)  # type: ignore[arg-type]
    assert table.table(asked.project.spec()).carriers > 0


def test_values_are_found_without_standing_in_an_address(asked: Visitor) -> None:
    answer = change(asked, do="search", search="hiv")
    assert answer.status == 200
    shown = re.findall(r'<li id="value-[^>]*>.*?</li>', answer.text)
    assert 0 < len(shown) < 5
    assert all("hiv" in one.lower() for one in shown)


@pytest.mark.parametrize(
    ("field", "typed", "code"),
    [
        ("r", "many", "r"),
        ("r", "0.5", "r"),
        ("r", "", "spec-missing"),
        ("min_support", "0", "whole-number"),
        ("max_attributes", "-1", "whole-number"),
        (of("band", "age"), "wide", "band"),
        (of("recode", "age"), "bands=x", "recode-form"),
        ("views", "age, agee", "view-attribute"),
        ("views", "sex, sex", "name-twice"),
        ("rare_unknown", "agee", "rare-column"),
        ("knowledge", "nowhere.csv", "file-missing"),
        ("knowledge", "../known.csv", "project-path"),
        ("knowledge", "uploads/hospital.csv", "knowledge-column"),
        ("publish_apart", "yes", "apart"),
    ],
)
def test_an_error_stands_beside_its_field_with_what_was_typed(
    asked: Visitor, field: str, typed: str, code: str
) -> None:
    answer = change(asked, **{field: typed})
    if answer.status == 303:
        answer = asked.get("/roles")
    place = answer.text[answer.text.index(f'id="wrong-{field}"') :]
    assert f"[{code}]" in place[: place.index("</p>")]
    assert dict(fields(answer))[field] == typed


def test_what_cannot_be_kept_is_shown_again(asked: Visitor) -> None:
    answer = change(asked, **{of("recode", "age"): "in tens"})
    assert answer.status == 422
    assert dict(fields(answer))[of("recode", "age")] == "in tens"
    key = key_of("diagnosis")
    answer = change(asked, do=f"add:{key}", **{f"label-{key}": "nothing"})
    assert answer.status == 422
    assert 'id="wrong-events"' in answer.text
    assert 'value="nothing"' in answer.text


def test_what_outsiders_know_and_how_it_is_published(asked: Visitor) -> None:
    """Every field of a spec that the command line has can be set here."""
    known = asked.project.folder / "known.csv"
    known.write_text("sex,value,probability\nMale,HIV,0.9\n", "utf-8")
    change(asked, max_attributes="2", views="age , sex\r\n\r\nregion", publish_members="yes")
    draft = asked.project.draft
    assert (draft["max_attributes"], draft["publish_members"]) == (2, True)
    assert draft["views"] == [["age", "sex"], ["region"]]
    assert dict(fields(asked.get("/roles")))["views"] == "age, sex\nregion"
    assert change(asked).status == 303
    assert asked.project.draft == draft
    change(asked, rare_unknown="age, sex")
    assert asked.project.draft["rare_unknown"] == ["age", "sex"]
    assert dict(fields(asked.get("/roles")))["rare_unknown"] == "age, sex"
    change(asked, rare_unknown="")
    assert asked.project.draft == draft
    assert '<option value="known.csv">' in asked.get("/roles").text
    assert "Counted with the file of outside knowledge" not in _known(asked)
    change(asked, knowledge="known.csv", views="", publish_members="")
    assert asked.project.draft["knowledge"] == "known.csv"
    assert not {"views", "publish_members"} & set(asked.project.draft)
    assert "Counted with the file of outside knowledge" in _known(asked)
    assert "--private ./private --knowledge known.csv" in asked.get("/run").text
    change(asked, knowledge="")
    assert "knowledge" not in asked.project.draft


def _known(visitor: Visitor) -> str:
    return visitor.get("/roles/known").words


def test_columns_are_published_apart_where_there_are_several(asked: Visitor) -> None:
    change(asked, do="clear")  # the events that were proposed
    change(asked, **{of("role", "age"): "sensitive"})
    for column, value in (("age", "30"), ("diagnosis", "HIV")):
        change(asked, do=f"add:{key_of(column)}", **{of("entry", column): value})
    change(asked, publish_apart="yes")
    assert asked.project.spec().publish_apart
    assert "wrong-publish_apart" not in asked.get("/roles").text
    answer = change(asked, knowledge="uploads/hospital.csv")
    assert "[knowledge-several]" in asked.get(answer.headers["location"]).words


def test_what_was_typed_stays_when_another_field_is_wrong(asked: Visitor) -> None:
    typed = {"r": "7", "views": "sex", "knowledge": "known.csv", "publish_members": "yes"}
    answer = change(asked, **typed, **{of("recode", "age"): "in tens"})
    assert answer.status == 422
    shown = dict(fields(answer))
    assert {name: shown[name] for name in typed} == typed


def test_a_view_of_a_name_with_a_comma_is_not_taken_apart(asked: Visitor) -> None:
    views = [["age, in years"], ["sex"]]
    asked.project.write_draft(asked.project.draft | {"views": views})
    change(asked, min_support="20")
    assert asked.project.draft["views"] == views
    assert 'id="wrong-views"' in asked.get("/roles").text


def test_a_plan_with_a_file_is_told_from_one_of_other_roles(asked: Visitor) -> None:
    (asked.project.folder / "known.csv").write_text("sex,value,probability\nMale,HIV,0.1\n")
    change(asked, knowledge="known.csv")
    source = asked.project.source
    assert source is not None
    asked.project.new_run("plan", lambda run: plan_steps(run, source))
    changed = "The table or the roles were changed after run 0001: compute the curve again."
    change(asked, r="4")
    assert changed not in asked.get("/plan").words
    change(asked, knowledge="")
    assert changed in asked.get("/plan").words


def test_a_plan_of_another_table_is_told_of(asked: Visitor) -> None:
    source = asked.project.source
    assert source is not None
    run = asked.project.new_run("plan", lambda run: plan_steps(run, source))
    run.start()
    run.wait()
    changed = "The table or the roles were changed after run 0001: compute the curve again."
    assert changed not in asked.get("/plan").words
    path = asked.project.folder / source.address
    content = path.read_text("utf-8")
    path.write_text(content, "utf-8")
    assert changed not in asked.get("/plan").words
    path.write_text(content.replace("Female", "female"), "utf-8")
    assert changed in asked.get("/plan").words
    path.write_text(content, "utf-8")
    draft = asked.project.draft
    asked.send("other.csv", content.encode())
    asked.project.write_draft(draft)
    assert changed in asked.get("/plan").words


def test_too_many_views_are_told_of_beside_their_limit(asked: Visitor) -> None:
    qi = [f"q{number}" for number in range(14)]
    head = ",".join([*qi, "diagnosis"])
    rows = [",".join(["1"] * 14 + ["HIV"]), ",".join(["2"] * 14 + ["flu"])]
    asked.send("wide.csv", "\n".join([head, *rows]).encode())
    asked.project.write_draft({"qi": qi, "sensitive": "diagnosis", "r": 2, "min_support": 1})
    answer = asked.get("/roles")
    place = answer.text[answer.text.index('id="wrong-max_attributes"') :]
    assert "[views-too-many]" in place[: place.index("</p>")]


def test_figures_are_those_of_the_plan(asked: Visitor) -> None:
    change(asked, do="clear")  # the events that were proposed
    held = asked.bench.tables.get(asked.project.source, asked.project.folder)  # type: ignore[arg-type]
    rare = held.values("diagnosis")[-1][0]
    change(asked, do=f"each:{key_of('diagnosis')}", **{of("tick", "diagnosis"): [key_of(rare)]})
    path = asked.project.folder / "uploads/hospital.csv"
    plan = shoal.plan(path, asked.project.spec()).to_dict()["events"][0]
    assert f"{plan['carriers']:,} have a protected value" in _figures(asked.get("/roles"))
    assert f"{plan['carriers']:,} {plan['known_before']:,}" in asked.get("/roles/known").words


def _figures(answer: Answer) -> str:
    pairs = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", answer.text)
    return " ".join(f"{value} {label}" for label, value in pairs)


def test_a_project_without_a_table_says_so(visitor: Visitor) -> None:
    assert "Choose a table first" in visitor.get("/roles").words
    assert visitor.post("/roles").headers["location"] == "/table"


def test_a_spec_written_by_hand_is_understood(asked: Visitor) -> None:
    spec = (
        'qi = ["age"]\nsensitive = "diagnosis"\nr = 3\nprotect = ["HIV", [">= 3", "B*"]]\n'
        'bands = [["age", 5], ["age", 10]]\n'
    )
    (asked.project.folder / "spec.toml").write_text(spec, "utf-8")
    answer = asked.get("/roles")
    assert answer.status == 200
    assert "HIV" in json.dumps(fields(answer))


def test_a_column_that_is_gone_is_named(asked: Visitor) -> None:
    draft = asked.project.draft
    asked.project.write_draft(draft | {"qi": [*draft["qi"], "agee"]})
    answer = asked.get("/roles")
    assert answer.status == 200
    assert 'did you mean "age"?' in answer.words
    assert "[column-missing]" in answer.words


def test_a_page_that_is_no_longer_true_overwrites_nothing(asked: Visitor) -> None:
    first, second = (dict(fields(asked.get("/roles"))) for _ in range(2))
    role = f"role-{key_of('region')}"
    assert asked.post("/roles", first | {role: "unpublished"}).status == 303
    assert "region" not in asked.project.draft["qi"]
    answer = asked.post("/roles", second | {"r": "3"})
    assert answer.status == 422
    assert "changed elsewhere" in answer.words
    assert "region" not in asked.project.draft["qi"]
    assert asked.project.draft["r"] != 3
    # Nothing is refused that the page itself overtook.
    third = dict(fields(asked.get("/roles")))
    assert asked.post("/roles", third | {"r": "3"}).status == 303
    assert asked.post("/roles", third | {"r": "4"}).status == 303
    assert asked.project.draft["r"] == 4


def test_what_is_wrong_stands_beside_the_longer_of_two_names(visitor: Visitor) -> None:
    table = hospital(300, seed=5).rename({"region": "age group"})
    assert visitor.send("named.csv", table.write_csv().encode()).status == 303
    change(visitor, **{of("role", "age"): "qi", of("role", "age group"): "qi"})
    answer = change(visitor, **{of("recode", "age group"): "bands=x"})
    assert f'id="wrong-{of("recode", "age group")}"' in answer.text
    assert f'id="wrong-{of("recode", "age")}"' not in answer.text


def test_events_of_several_columns_have_their_counts_and_names(asked: Visitor) -> None:
    change(asked, do="clear")  # the events that were proposed
    change(asked, **{of("role", "diagnosis"): "sensitive", of("role", "region"): "sensitive"})
    held = asked.bench.tables.get(asked.project.source, asked.project.folder)  # type: ignore[arg-type]
    rarest = {column: held.values(column)[-1] for column in ("diagnosis", "region")}
    for column, (value, _) in rarest.items():
        change(asked, do=f"add:{key_of(column)}", **{of("tick", column): [key_of(value)]})
    roles, known = asked.get("/roles").words, asked.get("/roles/known").words
    for column, (value, rows) in rarest.items():
        assert f"{column} : {value} · {rows:,} people" in roles
        assert f"{column}: {value} {rows:,}" in known
        assert f"{column}: {column}: " not in known


@pytest.mark.parametrize(
    "written",
    ["recode = 3", "recode = {age = 5}", "bands = 5", "bands = [1]", "bands = {age = []}"],
)
def test_a_spec_that_was_written_amiss_is_told_of_and_mended(asked: Visitor, written: str) -> None:
    (asked.project.folder / "spec.toml").write_text(
        f'qi = ["age"]\nsensitive = "diagnosis"\nr = 3\n{written}\n', "utf-8"
    )
    answer = asked.get("/roles")
    assert answer.status == 200
    assert 'class="wrong"' in answer.text
    assert change(asked, **{of("band", "age"): ""}).status == 303
    assert asked.project.spec().qi == ("age",)
