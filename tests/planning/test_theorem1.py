"""Theorem 1: the paper's figures, its form in odds, and the smallest group that meets it."""

from __future__ import annotations

from fractions import Fraction
from itertools import count, product

import pytest

from shoal.auditing.adversaries import binary_posterior
from shoal.errors import InputError
from shoal.planning.theorem1 import delta_max, minimum_size
from studies.tables import delta_max_table


@pytest.mark.parametrize(("n", "r", "f_max", "printed"), delta_max_table().rows())
def test_the_papers_eight_bounds(n: int, r: float, f_max: float, printed: float) -> None:
    assert round(delta_max(n=n, r=r, f_max=f_max), 4) == printed


def test_the_bound_in_the_papers_text() -> None:
    assert delta_max(n=3, r=2, f_max=0.1) == pytest.approx(0.0474, abs=5e-5)
    assert len(delta_max_table()) == 8


def odds(f: Fraction) -> Fraction:
    return f / (1 - f)


@pytest.mark.parametrize("r", [Fraction(3, 2), 2, 4, 10])
@pytest.mark.parametrize("n", [2, 3, 5, 12, 40])
def test_the_form_in_odds_is_the_same_statement(n: int, r: Fraction) -> None:
    for tenths, share in product(range(1, 10), range(1, 40)):
        f_max = Fraction(tenths, 10)
        delta = f_max * share / 40
        allowed = (n - r) * f_max / (f_max * (r - 1) / (1 - f_max) + (n - 1))
        meets = delta <= allowed
        assert meets == (odds(f_max) / odds(f_max - delta) <= Fraction(n - 1) / (r - 1))
        assert delta_max(n=n, r=float(r), f_max=float(f_max)) == pytest.approx(float(allowed))


def test_at_the_bound_the_binary_adversary_reaches_exactly_one_in_r() -> None:
    for n, r, f_max in [(3, 2, 0.1), (6, 4, 0.3), (20, 7.5, 0.6)]:
        f_min = f_max - delta_max(n=n, r=r, f_max=f_max)
        assert binary_posterior([f_max] + [f_min] * (n - 1), 1)[0] == pytest.approx(1 / r)


@pytest.mark.parametrize("r", [Fraction(3, 2), 2, Fraction(7, 3), 5, 10])
def test_the_minimum_size_is_the_first_that_the_bound_allows(r: Fraction) -> None:
    for hundredths, part in product((1, 5, 10, 30, 50, 70, 90, 95), (0, 1, 2, 5, 9)):
        f_max = Fraction(hundredths, 100)
        delta = f_max * part / 10
        smallest = next(
            n
            for n in count(2)
            if delta <= (n - r) * f_max / (f_max * (r - 1) / (1 - f_max) + (n - 1))
        )
        found = minimum_size(delta=float(delta), f_max=float(f_max), r=float(r))
        assert found == smallest, (delta, f_max, r)


def test_a_whole_minimum_size_is_not_rounded_up() -> None:
    # o_max/o_min = (0.5/0.5)/(0.2/0.8) = 4, so N = 1 + (r-1) 4.
    assert minimum_size(delta=0.3, f_max=0.5, r=2) == 5
    assert minimum_size(delta=0.3, f_max=0.5, r=10) == 37
    assert minimum_size(delta=0.31, f_max=0.5, r=10) == 40
    assert minimum_size(delta=0, f_max=0.5, r=2.5) == 3


@pytest.mark.parametrize("f_max", [0.0, 1.0])
def test_certain_tuples_may_not_deviate_at_all(f_max: float) -> None:
    assert delta_max(n=10, r=2, f_max=f_max) == 0
    assert minimum_size(delta=0, f_max=f_max, r=2) == 2


def test_a_group_smaller_than_r_allows_nothing() -> None:
    assert delta_max(n=3, r=4, f_max=0.3) < 0


@pytest.mark.parametrize(
    ("delta", "f_max"), [(0.3, 0.3), (0.4, 0.3), (0.2, 1.0)], ids=["zero", "below", "one"]
)
def test_no_size_protects_next_to_the_impossible_or_the_certain(delta: float, f_max: float) -> None:
    with pytest.raises(InputError) as raised:
        minimum_size(delta=delta, f_max=f_max, r=2)
    assert raised.value.code == "no-size"
    assert raised.value.problem == (
        f"No group size protects when f_max is {f_max:g} and delta {delta:g}."
    )


def test_mistakes() -> None:
    with pytest.raises(InputError, match="r is 1, and 1/r is the largest chance"):
        delta_max(n=3, r=1, f_max=0.1)
    with pytest.raises(InputError, match=r"f_max is 1\.5\. Give a probability from 0 to 1\."):
        delta_max(n=3, r=2, f_max=1.5)
    with pytest.raises(InputError, match=r"f_max is nan"):
        delta_max(n=3, r=2, f_max=float("nan"))
    with pytest.raises(InputError, match="A group of 0 is none"):
        delta_max(n=0, r=2, f_max=0.5)
    with pytest.raises(InputError, match=r"delta is -0\.1"):
        minimum_size(delta=-0.1, f_max=0.5, r=2)
