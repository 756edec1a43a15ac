"""Hierarchies: reading them in every form, their nodes, and the mistakes that are caught."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.data.datasets import ADULT_EVENT, ADULT_QI, ADULT_SENSITIVE, adult
from shoal.data.table.hierarchy import Hierarchy, adult_hierarchies, read_hierarchy
from shoal.errors import InputError
from tests.data.table.nodes import children, common_node, covering

WORK = {
    "groups": {
        "Government": ["Federal-gov", "State-gov"],
        "Private-sector": ["Private"],
    }
}


def fails_with(code: str, *parts: str) -> pytest.RaisesExc[InputError]:
    """Expects an InputError of that code whose text holds every part."""
    return pytest.RaisesExc(
        InputError,
        check=lambda error: error.code == code and all(part in str(error) for part in parts),
    )


def write(folder: Path, text: str, name: str = "work.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


# --- The tree ----------------------------------------------------------------------------


def test_levels_codes_labels_and_children() -> None:
    work = Hierarchy.from_toml(WORK, name="work")
    assert (work.levels, work.height) == (3, 2)
    assert work.values == ("Federal-gov", "State-gov", "Private")
    assert [work.codes(level).tolist() for level in range(3)] == [[0, 1, 2], [0, 0, 1], [0, 0, 0]]
    assert work.labels(1) == ["Government", "Private-sector"]
    assert work.labels(2) == ["*"]
    assert work.parent(0).tolist() == [0, 0, 1]
    assert children(work, 1, 0) == children(work, 2, 0) == [0, 1]


def test_common_node_is_the_lowest_that_covers() -> None:
    work = Hierarchy.from_toml(WORK)
    assert common_node(work, ["Private"]) == (0, "Private")
    assert common_node(work, ["Federal-gov", "State-gov"]) == (1, "Government")
    assert common_node(work, ["Federal-gov", "Private"]) == (2, "*")
    assert covering(work, [0, 1]) == (1, 0)


def test_codes_cannot_be_changed() -> None:
    codes = Hierarchy.from_toml(WORK).codes(1)
    with pytest.raises(ValueError, match="read-only"):
        codes[0] = 5


def test_equal_when_built_from_the_same_things() -> None:
    assert Hierarchy.from_toml(WORK) == Hierarchy.from_toml(WORK)
    assert Hierarchy.flat("x", ["a"]) != Hierarchy.flat("x", ["b"])


def test_flat() -> None:
    sex = Hierarchy.flat("sex", ["Female", "Male", None])
    assert sex.levels == 2
    assert sex.labels(0) == ["Female", "Male", "(missing)"]


# --- Intervals ---------------------------------------------------------------------------


def test_intervals_are_aligned_to_multiples() -> None:
    age = Hierarchy.intervals([17, 20, 24, 25, 39, 40], [5, 10, 20], name="age")
    assert age.levels == 5
    assert age.labels(1) == ["[15, 20)", "[20, 25)", "[25, 30)", "[35, 40)", "[40, 45)"]
    assert age.labels(3) == ["[0, 20)", "[20, 40)", "[40, 60)"]
    assert common_node(age, [20, 25]) == (2, "[20, 30)")


def test_intervals_count_as_numbers_are_written() -> None:
    dose = Hierarchy.intervals([0.3, 0.29, -0.1, None], [0.1, 0.5])
    assert dose.labels(1) == ["[0.3, 0.4)", "[0.2, 0.3)", "[-0.1, 0)", "(missing)"]
    assert dose.labels(2) == ["[0, 0.5)", "[-0.5, 0)", "(missing)"]


@settings(max_examples=100, deadline=None)
@given(
    values=st.lists(st.integers(-500, 500), min_size=1, max_size=30, unique=True),
    factors=st.lists(st.integers(2, 4), min_size=1, max_size=3),
    first=st.sampled_from([0.5, 1, 3]),
)
def test_every_value_lies_in_its_interval(
    values: list[int], factors: list[int], first: float
) -> None:
    widths = [first * float(np.prod(factors[:n])) for n in range(len(factors) + 1)]
    bands = Hierarchy.intervals(values, widths)
    for level, width in enumerate(widths, start=1):
        for value, code in zip(values, bands.codes(level), strict=True):
            start, end = bands.labels(level)[code].strip("[)").split(", ")
            assert float(start) <= value < float(end)
            assert float(end) - float(start) == width
            assert float(start) % width == 0


@pytest.mark.parametrize("widths", [[], [0], [-5], [5, 12], [10, 5], [5, 5]])
def test_widths_must_nest(widths: list[float]) -> None:
    with fails_with("hierarchy-form"):
        Hierarchy.intervals([1, 2], widths)


@pytest.mark.parametrize("value", ["20", True, float("inf")])
def test_intervals_need_numbers(value: object) -> None:
    with fails_with("hierarchy-values", str(value)):
        Hierarchy.intervals([20, value], [5])


# --- Files -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "Federal-gov;Government;*\nState-gov;Government;*\nPrivate;Other;*\n",
        "Federal-gov,Government,*\r\nState-gov,Government,*\r\n\r\nPrivate,Other,*\r\n",
        "\ufeff Federal-gov ; Government\nState-gov;Government\nPrivate;Other",
    ],
)
def test_csv_in_the_usual_spellings(tmp_path: Path, text: str) -> None:
    work = Hierarchy.from_csv(write(tmp_path, text))
    assert work.name == "work"
    assert work.levels == 3
    assert work.values == ("Federal-gov", "State-gov", "Private")
    assert work.labels(1) == ["Government", "Other"]
    assert work.labels(2) == ["*"]


def test_csv_with_commas_inside_labels(tmp_path: Path) -> None:
    semicolons = write(tmp_path, "20;[20, 25);*\n26;[25, 30);*\n", "a.csv")
    commas = write(tmp_path, '20,"[20, 25)",*\n26,"[25, 30)",*\n', "b.csv")
    for path in (semicolons, commas):
        assert Hierarchy.from_csv(path).labels(1) == ["[20, 25)", "[25, 30)"]


def test_csv_with_its_own_top_and_a_separator(tmp_path: Path) -> None:
    path = write(tmp_path, "a\tx\tall\nb\ty\tall\n")
    work = Hierarchy.from_csv(path, name="w", separator="\t")
    assert (work.name, work.levels, work.labels(2)) == ("w", 3, ["all"])


def test_csv_of_one_column_is_flat(tmp_path: Path) -> None:
    assert Hierarchy.from_csv(write(tmp_path, "a\nb\n")).levels == 2


def test_toml_file_with_nested_groups(tmp_path: Path) -> None:
    text = 'any = "World"\n[groups.Europe]\nNorth = ["Sweden"]\nSouth = ["Italy", "Greece"]\n'
    place = Hierarchy.from_toml(write(tmp_path, text, "place.toml"))
    assert place.name == "place"
    assert place.labels(1) == ["North", "South"]
    assert place.labels(2) == ["Europe"]
    assert place.labels(3) == ["World"]


def test_the_ending_says_how_a_file_is_read(tmp_path: Path) -> None:
    same = (("a", "A"), ("b", "B"))
    for name, text in (
        ("work.csv", "a,A\nb,B\n"),
        ("work.txt", "a;A\nb;B\n"),
        ("work.TSV", "a\tA\nb\tB\n"),
        ("work.toml", '[groups]\nA = ["a"]\nB = ["b"]\n'),
    ):
        tree = read_hierarchy(write(tmp_path, text, name))
        assert (tree.name, tree.paths, tree.top) == ("work", same, "*")
    assert read_hierarchy(tmp_path / "work.csv", name="job").name == "job"
    with fails_with("hierarchy-file", "work.xls", ".toml"):
        read_hierarchy(tmp_path / "work.xls")


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ({}, "no clear form"),
        ({"values": ["a"], "widths": [5]}, "no clear form"),
        ({"values": ["a"], "any": 3}, "no clear form"),
        ({"group": {"A": ["a"]}}, 'did you mean "groups"'),
        ({"groups": {"A": "a"}}, '"A"'),
        ({"groups": {"A": {}}}, '"A"'),
        ({"groups": {"A": {"B": ["a"]}, "C": {}}}, '"C"'),
        ({"groups": {}}, '"groups"'),
        ({"values": []}, '"values"'),
    ],
)
def test_toml_of_another_form(content: dict[str, object], part: str) -> None:
    with fails_with("hierarchy-form", part):
        Hierarchy.from_toml(content, name="work")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with fails_with("hierarchy-file", "none.csv"):
        Hierarchy.from_csv(tmp_path / "none.csv")
    with fails_with("hierarchy-form"):
        Hierarchy.from_csv(write(tmp_path, "\n\n"))
    with fails_with("hierarchy-form", "TOML"):
        Hierarchy.from_toml(write(tmp_path, "groups = ["))


# --- Mistakes in the tree ----------------------------------------------------------------


@pytest.mark.parametrize("row", ["b;B", "b;;*", "b;B;*;*"])
def test_ragged_rows(tmp_path: Path, row: str) -> None:
    with fails_with("hierarchy-form", '"b"'):
        Hierarchy.from_csv(write(tmp_path, f"a;A;*\n{row}\nc;A;*\n"))


def test_groups_of_unequal_depth() -> None:
    with fails_with("hierarchy-form", '"b"'):
        Hierarchy.from_toml({"groups": {"A": ["a"], "B": {"C": ["b"]}}})


def test_a_value_given_twice(tmp_path: Path) -> None:
    with fails_with("hierarchy-form", '"a"', "different parents"):
        Hierarchy.from_csv(write(tmp_path, "a;A;*\na;B;*\n"))
    with fails_with("hierarchy-form", '"a"', "repeated rows"):
        Hierarchy.from_csv(write(tmp_path, "a;A;*\nb;B;*\na;A;*\n"))


def test_a_node_with_two_parents(tmp_path: Path) -> None:
    with fails_with("hierarchy-form", '"South"', '"Europe"', '"Asia"'):
        Hierarchy.from_csv(write(tmp_path, "Italy;South;Europe;*\nIndia;South;Asia;*\n"))


# --- Binding to a table ------------------------------------------------------------------


def test_bind_restricts_reorders_and_adds_missing() -> None:
    work = Hierarchy.from_toml(WORK, name="work").bind(["Private", None, "State-gov"])
    assert work.values == ("Private", None, "State-gov")
    assert work.levels == 3
    assert work.labels(0) == ["Private", "(missing)", "State-gov"]
    assert work.labels(1) == ["Private-sector", "(missing)", "Government"]
    assert work.labels(2) == ["*"]
    assert common_node(work, [None, "Private"]) == (2, "*")
    assert work.bind(["Private", None]).labels(1) == ["Private-sector", "(missing)"]


def test_bind_meets_numbers_by_their_text(tmp_path: Path) -> None:
    grade = Hierarchy.from_csv(write(tmp_path, "1;low;*\n2.0;low;*\n3;high;*\n"))
    for values in ([3, 2.0, 1], [3.0, 2.0, 1.0]):
        assert grade.bind(values).labels(1) == ["high", "low"]
        assert common_node(grade.bind(values), [2.0, 1.0]) == (1, "low")


def test_bind_gives_intervals_their_values() -> None:
    age = Hierarchy.from_toml({"widths": [5, 10]}, name="age")
    assert age.bind([21, 27, float("nan")]).labels(2) == ["[20, 30)", "(missing)"]


def test_bind_names_what_is_missing() -> None:
    with fails_with("hierarchy-values", '"work"', '"Federal-guv"', "Federal-gov", "1 more"):
        Hierarchy.from_toml(WORK, name="work").bind(["Federal-guv", "b", "c", "d", "e", "f"])


def test_bind_refuses_a_text_that_looks_like_missing() -> None:
    odd = Hierarchy.flat("odd", ["(missing)", "a"])
    with fails_with("hierarchy-form", "(missing)"):
        odd.bind(["(missing)", None])


def test_bind_does_not_take_an_empty_text_for_anything_else() -> None:
    with fails_with("hierarchy-values", '"b"'):
        Hierarchy.flat("x", ["", "a"]).bind(["b"])


# --- Adult -------------------------------------------------------------------------------


def test_adult_has_a_hierarchy_for_every_attribute() -> None:
    found = adult_hierarchies()
    assert set(found) == {*ADULT_QI, ADULT_SENSITIVE}
    assert {name: tree.levels for name, tree in found.items()} == {
        "age": 5,
        "workclass": 3,
        "marital-status": 3,
        "occupation": 3,
        "race": 2,
        "sex": 2,
        "native-country": 3,
        "salary-class": 2,
        "education": 3,
    }
    assert common_node(found["education"], ADULT_EVENT) == (1, "Before-secondary")


@pytest.mark.data
def test_adult_hierarchies_cover_adult(adult_path: Path) -> None:
    table = adult(adult_path)
    for name, tree in adult_hierarchies().items():
        values = table.get_column(name).unique().sort().to_list()
        bound = tree.bind(values)
        assert bound.values == tuple(values)
        counts = table.group_by(pl.col(name)).len().sort(name)["len"].to_numpy()
        at_top = np.bincount(bound.codes(bound.height), weights=counts)
        assert at_top.tolist() == [45_222]
