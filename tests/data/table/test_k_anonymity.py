"""At least k people share every combination of QI values, with the least loss."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from pycanon import anonymity

from shoal.data.spec import Recipe, Spec
from shoal.data.table import Table
from shoal.data.table import k_anonymity as module
from shoal.errors import InputError


def _people(seed: int, rows: int = 400) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    job = rng.choice(
        ["clerk", "smith", "cook", "judge", "diver"], rows, p=[0.5, 0.3, 0.1, 0.07, 0.03]
    )
    day = np.datetime64("2020-01-01") + rng.integers(0, 700, rows).astype("timedelta64[D]")
    return pl.DataFrame(
        {
            "age": rng.integers(18, 80, rows),
            "job": job,
            "day": day.astype("datetime64[us]"),
            "sex": rng.choice(["f", "m"], rows),
            "ill": rng.choice(["no", "yes"], rows, p=[0.9, 0.1]),
        }
    ).with_columns(pl.col("day").dt.date())


SPEC = Spec(qi=["age", "job", "sex"], sensitive="ill", protect=["yes"], r=3)


def _published(table: Table) -> pl.DataFrame:
    """Everybody's QI values as they are published, missing ones spelt out."""
    codes = table.signatures[table.row_signature]
    return pl.DataFrame(
        {
            column.name: [column.labels[code] for code in codes[:, place]]
            for place, column in enumerate(table.qi)
        }
        | {"ill": [table.members.labels[code] for code in table.row_member]}
    )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("k", [2, 3, 5, 11, 40])
@pytest.mark.parametrize("qi", [["age", "sex"], ["age", "job", "sex"], ["day", "job"]])
def test_pycanon_finds_k(seed: int, k: int, qi: list[str]) -> None:
    table = Table.from_frame(_people(seed), SPEC.with_(qi=qi, k=k))
    found = anonymity.k_anonymity(_published(table).to_pandas(), qi)
    assert found >= k
    assert table.signature_rows.min() == found


@pytest.mark.parametrize("k", [2, 5, 20])
def test_recoding_twice_or_by_cells_changes_nothing(k: int) -> None:
    people = _people(1)
    spec = SPEC.with_(k=k, recode={"age": {"bands": 5}})
    first = Table.from_frame(people, spec)
    again = Table.from_frame(people, first.spec)
    assert again.spec == first.spec
    assert first.answers(spec)
    assert first.answers(first.spec)
    assert not first.answers(spec.with_(recode={}))
    assert _published(again).equals(_published(first))
    counted = Table.from_cells(people.group_by(*SPEC.qi, "ill").len(name="rows"), spec)
    assert (counted.spec, counted.cost) == (first.spec, first.cost)
    np.testing.assert_array_equal(counted.signature_rows, first.signature_rows)
    assert again.cost is not None
    assert first.cost is not None
    assert again.cost.lost == first.cost.lost


def _slow(lattice: module._Lattice) -> float:
    """The least loss over all nodes, person by person."""
    people = [
        signature
        for signature, count in zip(lattice.signatures.tolist(), lattice.people, strict=True)
        for _ in range(count)
    ]
    best = math.inf
    for node in itertools.product(*(range(level + 1) for level in lattice.top)):
        pairs = list(zip(lattice.chains, node, strict=True))
        shown = [
            tuple(chain.above[level][code] for code, (chain, level) in zip(one, pairs, strict=True))
            for one in people
        ]
        counts = Counter(shown)
        rare = [counts[one] < lattice.k for one in shown]
        if sum(rare) and not lattice.k <= sum(rare) <= lattice.allowed:
            continue
        loss = sum(
            (chain.most if out else chain.loss[level])[code]
            for one, out in zip(people, rare, strict=True)
            for code, (chain, level) in zip(one, pairs, strict=True)
        )
        best = min(best, loss / len(people))
    return best


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("k", "share"), [(3, 0.0), (3, 0.05), (8, 0.1)])
def test_no_node_loses_less(
    monkeypatch: pytest.MonkeyPatch, seed: int, k: int, share: float
) -> None:
    monkeypatch.setattr(module, "BLANKED", share)
    people = _people(seed, 120)
    lattice = module._Lattice(people, SPEC.with_(k=k, recode={"age": {"bands": 10}}), None)
    node = lattice.chosen()
    assert node is not None
    blanked, loss = lattice.judge(node)
    assert lattice.holds(blanked)
    assert loss == pytest.approx(_slow(lattice))
    climbed = lattice._climbed()
    assert climbed is not None
    assert lattice.holds(lattice.judge(climbed)[0])


def test_losses_are_shares_of_entropy() -> None:
    data = pl.DataFrame({"a": list("aabbccdd") * 4, "s": ["x", "y"] * 16})
    chain = module._Chain(data["a"], Recipe(suppress=True), None, fixed=True)
    assert chain.lost == [1.0]
    halves = module._Chain(pl.Series("a", [1, 2, 3, 4] * 8), Recipe(quantiles=2), None, fixed=True)
    assert halves.lost == pytest.approx([0.5])


def test_few_people_are_blanked_out_and_the_rest_stays() -> None:
    people = pl.DataFrame(
        {
            "age": [30] * 600 + [40] * 600 + [31, 32, 33, 34, 35],
            "job": ["a", "b"] * 600 + ["a"] * 5,
            "ill": (["yes"] + ["no"] * 11) * 100 + ["no"] * 5,
        }
    )
    table = Table.from_frame(people, SPEC.with_(qi=["age", "job"], k=5))
    assert table.spec.recode == ()
    assert table.cost is not None
    assert (table.cost.blanked, table.cost.lost) == (5, {"age": 0.0, "job": 0.0})
    assert _published(table)["age"].to_list()[-5:] == ["(missing)"] * 5
    assert table.qi[0].numeric


def test_a_hierarchy_is_climbed_as_far_as_needed(tmp_path: Path) -> None:
    (tmp_path / "job.csv").write_text(
        "clerk;office\njudge;office\nsmith;hand\ncook;hand\ndiver;hand\n", encoding="utf-8"
    )
    recipe = {"job": {"hierarchy": str(tmp_path / "job.csv"), "level": 0}}
    table = Table.from_frame(_people(0), SPEC.with_(qi=["job", "sex"], k=30, recode=recipe))
    ((name, used),) = table.spec.recode
    assert (name, used.level) == ("job", 1)
    assert set(_published(table)["job"]) == {"office", "hand"}
    easy = Table.from_frame(_people(0), SPEC.with_(qi=["job", "sex"], k=2, recode=recipe))
    assert easy.spec.recode == ()


def test_codes_with_labels_are_categories() -> None:
    jobs = dict(enumerate(sorted(_people(0)["job"].unique())))
    people = _people(0)
    coded = people.with_columns(pl.col("job").replace_strict({v: k for k, v in jobs.items()}))
    asked = SPEC.with_(qi=["job", "sex"], k=30)
    by_label = Table.from_frame(coded, asked.with_(recode={"job": {"labels": jobs}}))
    of_texts = Table.from_frame(people, asked)
    assert _published(by_label)["job"].to_list() == _published(of_texts)["job"].to_list()
    assert {name for name, _ in of_texts.spec.recode} == {"job"}


def test_what_cannot_be_reached_is_refused_with_what_can() -> None:
    people = _people(3, 40)
    with pytest.raises(InputError) as refused:
        Table.from_frame(people, SPEC.with_(k=39))
    assert refused.value.code == "k-unreached"
    largest = int(str(refused.value).rsplit(" ", 1)[1].rstrip("."))
    reached = Table.from_frame(people, SPEC.with_(k=largest))
    assert reached.signature_rows.min() >= largest
    with pytest.raises(InputError, match="No recoding"):
        Table.from_frame(people, SPEC.with_(k=largest + 1))
    with pytest.raises(InputError, match="at least 2"):
        SPEC.with_(k=1)


def test_columns_that_are_known_in_bands_stay() -> None:
    people = _people(2)
    with pytest.raises(InputError, match="age, known in bands too"):
        Table.from_frame(people, SPEC.with_(k=9, bands={"age": 10}))


def test_missing_values_dates_and_numbers_in_text_are_recoded() -> None:
    people = _people(5).with_columns(
        age=pl.when(pl.col("age") < 21).then(None).otherwise("age"),
        day=pl.col("day").cast(pl.String),
    )
    table = Table.from_frame(people, SPEC.with_(qi=["day", "age", "job"], k=4))
    assert table.signature_rows.min() >= 4


def test_many_columns_are_climbed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_NODES", 1)
    table = Table.from_frame(_people(6), SPEC.with_(qi=["age", "job", "sex", "day"], k=5))
    assert table.signature_rows.min() >= 5
    assert Table.from_frame(_people(6), table.spec).spec == table.spec
