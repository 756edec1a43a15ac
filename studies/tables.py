"""The small tables of the paper, as frames.

Wong, Fu, Wang, Xu, Pei, Yu: "Anonymization with Worst-Case Distribution-Based
Background Knowledge". The rows that the paper prints as "..." are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

_NATIONALITY = ["American", "Japanese", "Japanese", "Japanese", "French", "Japanese"]
_ZIPCODE = ["55501", "55502", "55503", "55504", "66601", "66601"]
_DISEASE = ["Heart Disease", "Flu", "Flu", "Stomach Virus", "HIV", "Diabetes"]
_GID = ["L1", "L1", "L2", "L2", "L3", "L3"]


@dataclass(frozen=True, eq=False)
class TwoDiverseRelease:
    """The two tables that bucketization publishes, joined by nothing but GID."""

    qi_table: pl.DataFrame
    sensitive_table: pl.DataFrame


@dataclass(frozen=True, eq=False)
class WorkedExample:
    """One A-group, what the adversary knows about it, and its possible worlds.

    `group`: tuple, signature, value. `distribution`: signature, value, probability.
    `worlds`: world, t1 to t4, p_w (the weight), p_w_given_group (not rounded).
    """

    group: pl.DataFrame
    distribution: pl.DataFrame
    worlds: pl.DataFrame


def raw_data() -> pl.DataFrame:
    """Table 1: six patients. Name is there for discussion only, and mostly blank."""
    return pl.DataFrame(
        {
            "Name": ["Alex", "Bob", None, None, None, None],
            "Nationality": _NATIONALITY,
            "Zipcode": _ZIPCODE,
            "Disease": _DISEASE,
        }
    )


def voter_list() -> pl.DataFrame:
    """Table 2: the public list that gives the same six people their names."""
    return pl.DataFrame(
        {
            "Name": ["Alex", "Bob", "Chris", "David", "Emily", "Fred"],
            "Nationality": _NATIONALITY,
            "Zipcode": _ZIPCODE,
        }
    )


def two_diverse_release() -> TwoDiverseRelease:
    """Table 3: Table 1 in three A-groups of two, 2-diverse and yet not 2-robust."""
    return TwoDiverseRelease(
        qi_table=pl.DataFrame({"Nationality": _NATIONALITY, "Zipcode": _ZIPCODE, "GID": _GID}),
        sensitive_table=pl.DataFrame({"GID": _GID, "Disease": _DISEASE}),
    )


def nationality_distribution() -> pl.DataFrame:
    """Table 4: how likely heart disease is for each nationality, one row per probability."""
    return pl.DataFrame(
        {
            "Nationality": ["American", "American", "Japanese", "Japanese", "French", "French"],
            "value": ["Heart Disease", "Not Heart Disease"] * 3,
            "probability": [0.1, 0.9, 0.003, 0.997, 0.05, 0.95],
        }
    )


def worked_example() -> WorkedExample:
    """Table 5: four tuples holding x, x, y, y, and their six possible worlds.

    The paper adds rounded numbers to p(t1:x) = 0.72; the exact value is 8/11 = 0.7273.
    """
    weights = [0.16, 0.04, 0.04, 0.04, 0.04, 0.01]
    return WorkedExample(
        group=pl.DataFrame(
            {
                "tuple": ["t1", "t2", "t3", "t4"],
                "signature": ["s1", "s1", "s2", "s2"],
                "value": ["x", "x", "y", "y"],
            }
        ),
        distribution=pl.DataFrame(
            {
                "signature": ["s1", "s1", "s2", "s2"],
                "value": ["x", "y", "x", "y"],
                "probability": [0.5, 0.5, 0.2, 0.8],
            }
        ),
        worlds=pl.DataFrame(
            {
                "world": ["w1", "w2", "w3", "w4", "w5", "w6"],
                "t1": ["x", "x", "x", "y", "y", "y"],
                "t2": ["x", "y", "y", "x", "x", "y"],
                "t3": ["y", "x", "y", "x", "y", "x"],
                "t4": ["y", "y", "x", "y", "x", "x"],
                "p_w": weights,
                "p_w_given_group": [weight / sum(weights) for weight in weights],
            }
        ),
    )


def delta_max_table() -> pl.DataFrame:
    """The bound of Theorem 1 for eight choices of N, r and f_max, to four digits as printed."""
    return pl.DataFrame(
        {
            "N": [3, 3, 3, 3, 4, 6, 6, 6],
            "r": [2, 2, 2, 2, 2, 2, 3, 4],
            "f_max": [0.1, 0.3, 0.5, 0.9, 0.3, 0.3, 0.3, 0.3],
            "delta_max": [0.0474, 0.1235, 0.1667, 0.0818, 0.1750, 0.2211, 0.1537, 0.0955],
        }
    )
