"""Recipes: how columns are made coarser, as it is written and said."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from shoal.data.spec import Recipe, Spec
from shoal.data.spec.recipe import as_recipe, parse_recipes
from shoal.errors import InputError

BASE: dict[str, Any] = {"qi": ["age", "job"], "sensitive": "illness", "r": 2}


def test_recipes_go_through_toml_unchanged() -> None:
    text = """
        qi = ["age", "job"]
        sensitive = "illness"
        r = 2
        [recode.age]
        missing = [97, 98.0, "unknown"]
        cuts = [18, 65.5]
        [recode.job]
        nominal = true
        rare = 50
    """
    spec = Spec.from_mapping(tomllib.loads(text))
    age = Recipe(missing=("97", "98", "unknown"), cuts=(18, 65.5))
    assert spec.recode == (("age", age), ("job", Recipe(nominal=True, rare=50)))
    assert Spec.from_mapping(tomllib.loads(spec.to_toml())) == spec
    assert Spec(**BASE, recode=dict(spec.recode)).recode == spec.recode
    assert hash(spec.recode)


@pytest.mark.parametrize(
    ("recipe", "words"),
    [
        ({"bands": 10}, "numbers in bands of 10"),
        (
            {"missing": [98, 99], "quantiles": 5, "rare": 1000},
            "98, 99 counted as missing, then numbers in 5 parts with about as many rows each, then "
            "values with fewer than 1,000 rows gathered as (rare)",
        ),
        ({"cuts": [18, 65]}, "numbers cut at 18, 65"),
        ({"date": "month"}, "dates by month"),
        ({"nominal": True}, "numbers taken as categories"),
        ({"hierarchy": "my/icd.csv", "level": 2}, "values raised to level 2 of icd.csv"),
        ({"suppress": True}, "every value suppressed (*)"),
    ],
)
def test_what_is_done_in_words(recipe: dict[str, Any], words: str) -> None:
    assert as_recipe(recipe, "x").words() == words


def test_options_of_the_command_line() -> None:
    given = [
        "age:missing=97, 98",
        "age:bands=10",
        "a:b:cuts=18,65.5",
        "job:nominal",
        "job:rare=50",
        "day:date=year",
        "icd:hierarchy=x=y.csv",
        "icd:level=2",
    ]
    assert parse_recipes(given) == {
        "age": {"missing": ["97", "98"], "bands": 10},
        "a:b": {"cuts": [18, 65.5]},
        "job": {"nominal": True, "rare": 50},
        "day": {"date": "year"},
        "icd": {"hierarchy": "x=y.csv", "level": 2},
    }


def test_what_is_published_of_a_spec_names_no_folder() -> None:
    spec = Spec(
        **BASE, recode={"age": {"hierarchy": Path("in/secret/icd.csv")}, "job": {"rare": 9}}
    )
    assert "secret" not in spec.published().to_toml()
    assert dict(spec.published().recode)["age"].hierarchy == "icd.csv"


def test_hierarchies_lie_beside_the_spec(tmp_path: Path) -> None:
    (tmp_path / "age.csv").write_text("1,low,*\n")
    (tmp_path / "spec.toml").write_text(
        'qi = ["age"]\nsensitive = "x"\nr = 2\n[recode.age]\nhierarchy = "age.csv"\n'
    )
    spec = Spec.from_toml(tmp_path / "spec.toml")
    assert spec.recode[0][1].hierarchy == str(tmp_path / "age.csv")


@pytest.mark.parametrize(
    ("recode", "code", "problem"),
    [
        ({"agee": {"bands": 10}}, "recode-column", '"agee" is recoded but not published'),
        ({"age": {"band": 10}}, "recode-form", 'unknown key "band" (did you mean "bands"?)'),
        ({"age": 10}, "recode-form", 'The recoding of "age" is 10.'),
        ({"age": {}}, "recode-form", "A recipe does nothing."),
        ({"age": {"bands": 0}}, "recode-form", "bands is 0.0."),
        ({"age": {"bands": "x"}}, "recode-form", "'x' is no number."),
        ({"age": {"quantiles": 1}}, "recode-form", "quantiles is 1."),
        ({"age": {"cuts": [65, 18]}}, "recode-form", "cuts is (65.0, 18.0)."),
        ({"age": {"date": "week"}}, "recode-form", "date is 'week'."),
        ({"age": {"nominal": 1}}, "recode-form", "nominal is 1."),
        ({"age": {"rare": True}}, "recode-form", "rare is True."),
        ({"age": {"hierarchy": 7}}, "recode-form", "hierarchy is 7."),
        ({"age": {"hierarchy": "a.csv", "level": -1}}, "recode-form", "level is -1."),
        ({"age": {"hierarchy": "a.csv", "level": 0}}, "recode-level", "as it is"),
        ({"age": {"suppress": 1}}, "recode-form", "suppress is 1."),
        ({"age": {"bands": 10, "level": 2}}, "recode-level", "without a hierarchy"),
        ({"age": {"bands": 10, "cuts": [3]}}, "recode-form", "recoded by bands and by cuts"),
        ([("age", {"bands": 5}), ("age", {"bands": 9})], "name-twice", 'names "age" twice'),
        (10, "spec-value", "recode is 10, not a list."),
    ],
)
def test_mistakes(recode: Any, code: str, problem: str) -> None:
    with pytest.raises(InputError) as raised:
        Spec(**BASE, recode=recode)
    assert raised.value.code == code
    assert problem in raised.value.problem


@pytest.mark.parametrize(
    "text", ["age=10", "age:bands", "job:nominal=true", "age:width=10", ":bands=1"]
)
def test_options_that_are_not_understood(text: str) -> None:
    with pytest.raises(InputError, match="is not understood") as raised:
        parse_recipes([text])
    assert raised.value.code == "recode-form"
