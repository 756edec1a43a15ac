"""t-closeness: the best node against brute force over the whole lattice, and against pyCANON."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from shoal.data.datasets import ADULT_EVENT, ADULT_QI, ADULT_SENSITIVE, adult
from shoal.data.spec import Event, Spec
from shoal.data.table import Table
from shoal.data.table.hierarchy import Hierarchy, adult_hierarchies
from shoal.errors import InputError
from shoal.groups import Grouping
from shoal.methods.tcloseness import TCloseness
from tests.dealing import row_groups

Distribution = dict[str, Fraction]

CITY = Hierarchy.from_toml(
    {"groups": {"North": {"A": ["a1", "a2"], "B": ["b1"]}, "South": {"C": ["c1", "c2", "c3"]}}},
    name="city",
)
AGE = Hierarchy.intervals((), [5, 10], name="age")
ILLNESS = Hierarchy.from_toml(
    {"groups": {"lungs": ["asthma", "flu"], "other": ["burn", "cut", "fracture"]}}, name="illness"
)


def spec(*qi: str, **more: object) -> Spec:
    return Spec.from_mapping({"qi": qi, "sensitive": "illness", "r": 2, **more})


def random_table(seed: int, rows: int) -> Table:
    rng = np.random.default_rng(seed)
    city = rng.integers(6, size=rows)
    drawn = np.where(rng.random(rows) < 0.3, city % 5, rng.integers(5, size=rows))
    frame = pl.DataFrame(
        {
            "city": np.array(["a1", "a2", "b1", "c1", "c2", "c3"])[city],
            "age": rng.integers(20, 40, size=rows),
            "sex": np.array(["f", "m"])[rng.integers(2, size=rows)],
            "illness": np.array(["asthma", "flu", "burn", "cut", "fracture"])[drawn],
        }
    )
    return Table.from_frame(frame, spec("city", "age", "sex"))


# --- The slow, obvious way: exact fractions, every node, every row -----------------------


def distribution(values: list[str]) -> Distribution:
    return {value: Fraction(count, len(values)) for value, count in Counter(values).items()}


def exact_emd(p: Distribution, q: Distribution, form: str) -> Fraction:
    surplus = {value: p.get(value, Fraction(0)) - q[value] for value in sorted(q)}
    if form == "equal":
        return sum(map(abs, surplus.values()), Fraction(0)) / 2
    if form == "ordered":
        values = [path[0] for path in ILLNESS.paths if path[0] in surplus]
        running, total = Fraction(0), Fraction(0)
        for value in values[:-1]:
            running += surplus[value]
            total += abs(running)
        return total / (len(values) - 1)
    inside = defaultdict(list)
    for value, group in ILLNESS.paths:
        if value in surplus:
            inside[group].append(surplus[value])
    cost, sums = Fraction(0), []
    for parts in inside.values():
        gain = sum((part for part in parts if part > 0), Fraction(0))
        loss = -sum((part for part in parts if part < 0), Fraction(0))
        cost += min(gain, loss) / 2
        sums.append(gain - loss)
    return cost + sum((part for part in sums if part > 0), Fraction(0))


def node_classes(table: Table, levels: tuple[int, ...]) -> list[list[str]]:
    """The sensitive values of each class of a node, read from the rows."""
    given = {"city": CITY, "age": AGE}
    columns = []
    for column, level in zip(table.qi, levels, strict=True):
        values = column.values.to_list()
        bound = (
            given[column.name].bind(values)
            if column.name in given
            else Hierarchy.flat(column.name, values)
        )
        label = {
            value: bound.labels(level)[bound.codes(level)[i]] for i, value in enumerate(values)
        }
        columns.append([label[value] for value in table.native[column.name]])
    classes = defaultdict(list)
    for key, value in zip(zip(*columns, strict=True), table.native["illness"], strict=True):
        classes[key].append(value)
    return list(classes.values())


def best_node(table: Table, *, t: str, form: str, share: str) -> tuple[int, tuple[int, ...]]:
    whole = distribution(table.native["illness"].to_list())
    found = []
    for levels in product(range(4), range(4), range(2)):
        classes = node_classes(table, levels)
        above = [
            values
            for values in classes
            if exact_emd(distribution(values), whole, form) > Fraction(t)
        ]
        if sum(map(len, above)) <= Fraction(share) * table.rows:
            found.append((len(above) - len(classes), levels))
    fewer, levels = min(found)
    return -fewer, levels


# --- Tests -------------------------------------------------------------------------------


@pytest.mark.parametrize("share", ["0", "0.1", "0.3"])
@pytest.mark.parametrize("form", ["equal", "ordered", "hierarchical"])
def test_no_passing_node_has_more_classes(form: str, share: str) -> None:
    chosen = set()
    for seed, (rows, t) in enumerate(product((12, 60, 200), ("0.1", "0.2", "0.35", "0.6"))):
        table = random_table(seed, rows)
        grouping = TCloseness(
            t=float(t),
            emd=form,
            hierarchies={"city": CITY, "age": AGE, "illness": ILLNESS},
            max_suppression=float(share),
        ).anonymize(table)
        classes, levels = best_node(table, t=t, form=form, share=share)
        assert (grouping.count, tuple(grouping.claims["levels"].values())) == (classes, levels)
        chosen.add(levels)
        check_promises(table, grouping, t=t, form=form, share=share)
    assert len(chosen) > 3


def test_batches_of_classes_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    table = random_table(3, 200)
    method = TCloseness(t=0.35, hierarchies={"city": CITY, "age": AGE}, max_suppression=0.3)
    at_once = method.anonymize(table)
    monkeypatch.setattr("shoal.methods.tcloseness.lattice.BATCH", 15)
    in_batches = method.anonymize(table)
    assert at_once.count > 3
    assert np.array_equal(row_groups(table, at_once), row_groups(table, in_batches))
    assert at_once.claims == in_batches.claims


def check_promises(table: Table, grouping: Grouping, *, t: str, form: str, share: str) -> None:
    """What is claimed, from what would be published alone."""
    values = table.native["illness"].to_list()
    whole = distribution(values)
    largest = Fraction(0)
    for group in range(grouping.count):
        rows = np.flatnonzero(row_groups(table, grouping) == group)
        largest = max(largest, exact_emd(distribution([values[row] for row in rows]), whole, form))
    assert largest <= Fraction(t)
    assert grouping.claims["largest_emd"] == pytest.approx(float(largest), abs=1e-12)
    assert (
        grouping.claims["suppressed"]
        == (table.rows - grouping.published)
        <= Fraction(share) * table.rows
    )
    published = row_groups(table, grouping) >= 0
    for position, recoding in enumerate(grouping.recodings):
        codes = table.signatures[table.row_signature[published], position]
        assert recoding.members[recoding.node[row_groups(table, grouping)[published]], codes].all()
        assert (recoding.members.sum(axis=0) == 1).all()
    nodes = np.stack([recoding.node for recoding in grouping.recodings])
    assert len(np.unique(nodes, axis=1).T) == grouping.count


def one_column(**illness_of: str) -> Table:
    """A table with one QI `q`; each keyword is a value of it, with a letter for each row."""
    rows = [(q, illness) for q, letters in illness_of.items() for illness in letters]
    frame = pl.DataFrame(rows, schema=["q", "illness"], orient="row")
    return Table.from_frame(frame, spec("q"))


def test_with_suppression_a_generalization_can_publish_more_than_a_node_that_passes() -> None:
    table = one_column(a="xy" * 10, b="xx", c="yy")
    groups = Hierarchy.from_toml({"groups": {"A": ["a"], "BC": ["b", "c"]}}, name="q")
    grouping = TCloseness(t=0.1, hierarchies={"q": groups}, max_suppression=0.2).anonymize(table)
    assert grouping.claims["levels"] == {"q": 1}
    assert (grouping.count, (table.rows - grouping.published)) == (2, 0)
    assert grouping.recodings[0].labels == ("A", "BC")


def test_with_suppression_a_generalization_of_a_node_that_passes_can_fail() -> None:
    # b may go alone; with a it is at 0.119, a being at 0.1, and the two are too many to go.
    table = one_column(a="x" * 60 + "y" * 40, b="xxxxx", c="x" * 335 + "y" * 360)
    groups = Hierarchy.from_toml({"groups": {"AB": ["a", "b"], "C": ["c"]}}, name="q")
    method = TCloseness(t=0.11, hierarchies={"q": groups}, max_suppression=0.01)
    grouping = method.anonymize(table)
    assert (grouping.claims["levels"], grouping.count) == ({"q": 0}, 2)
    assert np.unique(table.native["q"].to_numpy()[row_groups(table, grouping) < 0]).tolist() == [
        "b"
    ]


def test_with_suppression_a_refinement_of_a_node_that_fails_can_pass() -> None:
    # a as a whole has 105 rows and is at 0.142. Its 5 rows with p = 1 may go, the rest is at 0.1.
    # No way to split a could do with fewer than 4.9 rows: the bound is nearly reached.
    frame = pl.DataFrame(
        {
            "q": ["a"] * 105 + ["b"] * 1495,
            "p": [0] * 100 + [1] * 5 + [0] * 1495,
            "illness": ["x"] * 11 + ["y"] * 89 + ["x"] * 5 + ["y"] * 1495,
        }
    )
    table = Table.from_frame(frame, spec("q", "p"))
    grouping = TCloseness(t=0.1, max_suppression=5 / 1600).anonymize(table)
    assert (grouping.count, (table.rows - grouping.published)) == (2, 5)
    assert TCloseness(t=0.1, max_suppression=4 / 1600).anonymize(table).count == 1


def test_a_class_exactly_at_t_passes_and_one_above_does_not() -> None:
    # Both classes are at 3/10, which doubles make 0.30000000000000004 or less by chance.
    table = one_column(a="x" * 8 + "y" * 2, b="x" * 2 + "y" * 8)
    assert TCloseness(t=0.3).anonymize(table).count == 2
    assert TCloseness(t=0.1 + 0.2).anonymize(table).count == 2
    assert TCloseness(t=0.3 - 1e-9).anonymize(table).count == 1


def test_values_of_a_set_event_count_one_by_one() -> None:
    frame = pl.DataFrame({"q": list("aabb"), "illness": ["x1", "y", "x2", "y"]})
    table = Table.from_frame(frame, spec("q", protect=[["x1", "x2"]]))
    assert len(table.values) == 2
    assert TCloseness(t=0.2).anonymize(table).count == 1
    assert TCloseness(t=0.25).anonymize(table).count == 2


def test_a_qi_without_hierarchy_is_published_as_it_is_or_not_at_all() -> None:
    table = one_column(a="xxxy", b="yyyx")
    hidden = TCloseness(t=0.1).anonymize(table).recodings[0]
    assert (hidden.labels, hidden.members.tolist()) == (("*",), [[True, True]])
    assert TCloseness(t=0.9).anonymize(table).recodings[0].labels == ("a", "b")


def test_ordered_distance_of_text_follows_the_hierarchys_order() -> None:
    table = one_column(p="amm", q="zmm")  # a and z are 2 steps apart, or 1 if z comes first
    listed = [Hierarchy.flat("illness", order) for order in ("amz", "azm")]
    far, near = (
        TCloseness(t=1, emd="ordered", sensitive_hierarchy=each).anonymize(table).claims
        for each in listed
    )
    assert far["largest_emd"] == pytest.approx(1 / 6)
    assert near["largest_emd"] == pytest.approx(1 / 12)


def test_ordered_distance_of_numbers_is_their_own_order() -> None:
    frame = pl.DataFrame({"q": ["p", "p", "q", "q"], "illness": [2, 10, 30, 10]})
    table = Table.from_frame(frame, spec("q"))
    claims = TCloseness(t=1, emd="ordered").anonymize(table).claims
    assert claims["largest_emd"] == pytest.approx((0.25 + 0.25) / 2)


def test_parameters_are_checked() -> None:
    flat = Hierarchy.flat("illness", "xy")
    wrong = [
        ("share", {"t": 1.5}),
        ("share", {"t": float("nan")}),
        ("share", {"max_suppression": -0.1}),
        ("emd", {"emd": "orderd"}),
        ("emd", {"sensitive_hierarchy": flat}),
    ]
    for code, parameters in wrong:
        with pytest.raises(InputError) as caught:
            TCloseness(**parameters)
        assert caught.value.code == code
    for code, form in (("emd", "hierarchical"), ("emd", "ordered")):
        with pytest.raises(InputError) as caught:
            TCloseness(emd=form).anonymize(one_column(a="xy", b="xy"))
        assert caught.value.code == code


def test_progress_ends_at_the_whole_lattice() -> None:
    steps: list[tuple[str, int, int]] = []
    table = random_table(1, 60)
    method = TCloseness(hierarchies={"city": CITY, "age": AGE})
    first = method.anonymize(table, progress=lambda *step: steps.append(step))
    assert steps[-1] == ("lattice", 32, 32)
    assert [done for _, done, _ in steps] == sorted(done for _, done, _ in steps)
    again = method.anonymize(table, seed=5)
    assert np.array_equal(row_groups(table, first), row_groups(table, again))


# --- Adult -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def adult_frame(adult_path: Path) -> pl.DataFrame:
    return adult(adult_path)


def adult_table(frame: pl.DataFrame, sensitive: str) -> Table:
    protect = (Event(ADULT_EVENT),) if sensitive == ADULT_SENSITIVE else None
    chosen = Spec(qi=ADULT_QI[:5], sensitive=sensitive, r=10, protect=protect)
    return Table.from_frame(frame, chosen)


@pytest.mark.data
@pytest.mark.parametrize(
    ("sensitive", "form", "t", "levels", "classes"),
    [
        # pyCANON takes equal distance for text, and ordered distance for numbers.
        ("education", "equal", 0.2, (4, 2, 0, 2, 1), 7),
        ("education", "equal", 0.5, (4, 2, 1, 1, 0), 30),
        ("education-num", "ordered", 0.2, (4, 0, 1, 1, 1), 41),
    ],
)
def test_pycanon_finds_the_same_t(
    adult_frame: pl.DataFrame,
    sensitive: str,
    form: str,
    t: float,
    levels: tuple[int, ...],
    classes: int,
) -> None:
    from pycanon import anonymity

    table = adult_table(adult_frame, sensitive)
    grouping = TCloseness(t=t, emd=form, hierarchies=adult_hierarchies()).anonymize(table)
    assert tuple(grouping.claims["levels"].values()) == levels
    assert grouping.count == classes
    released = {
        column.name: np.array(recoding.labels)[recoding.node[row_groups(table, grouping)]]
        for column, recoding in zip(table.qi, grouping.recodings, strict=True)
    }
    frame = pl.DataFrame({**released, sensitive: adult_frame[sensitive]}).to_pandas()
    found = anonymity.t_closeness(frame, list(released), [sensitive])
    assert found == pytest.approx(grouping.claims["largest_emd"], abs=1e-12)
    assert found <= t


@pytest.mark.data
def test_most_of_adults_lattice_is_never_tested(adult_frame: pl.DataFrame) -> None:
    table = adult_table(adult_frame, ADULT_SENSITIVE)
    claims = TCloseness(hierarchies=adult_hierarchies()).anonymize(table).claims
    assert claims["lattice_nodes"] == 270
    assert claims["nodes_tested"] < 30
