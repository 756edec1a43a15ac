"""A made-up health survey: eleven illnesses, each its own column of Yes and No.

How likely an illness is depends on age, sex and smoking, and on a frailty that nobody sees: people
with one illness have others more often, so that the columns are correlated. All numbers are
invented.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl

from shoal.data.spec import checked_whole

ILLNESSES_QI = ("age", "sex", "region", "education", "smoker")
YES, NO = "Yes", "No"
FRAILTY: Final = 0.6

AGES: Final = tuple(f"{start}-{start + 4}" for start in range(18, 83, 5))
SEXES: Final = ("Female", "Male")
REGIONS: Final = ("Coast", "East", "Hills", "Lakes", "North", "Plains", "South", "West")
EDUCATION: Final = ("none", "primary", "secondary", "college", "university")
SMOKERS: Final = 0.14

# illness: share at middle age, growth of its log odds by age group, by being male, by smoking
ILLNESSES: Final = {
    "arthritis": (0.060, 0.10, -0.2, 0.0),
    "asthma": (0.045, 0.00, -0.2, 0.1),
    "cancer": (0.020, 0.12, 0.0, 0.2),
    "copd": (0.015, 0.12, 0.1, 0.7),
    "depression": (0.055, -0.03, -0.4, 0.2),
    "diabetes": (0.045, 0.10, 0.1, 0.0),
    "epilepsy": (0.008, 0.00, 0.0, 0.0),
    "hepatitis": (0.008, 0.02, 0.2, 0.2),
    "heart": (0.025, 0.12, 0.4, 0.4),
    "kidney": (0.012, 0.10, 0.0, 0.1),
    "stroke": (0.012, 0.12, 0.1, 0.3),
}


def illnesses(rows: int = 20_000, *, seed: int = 0) -> pl.DataFrame:
    """People with their age group, sex, region, education and smoking, and eleven illnesses.

    >>> import shoal
    >>> survey = shoal.datasets.illnesses(1000, seed=0)
    >>> survey.shape
    (1000, 16)
    """
    checked_whole("rows", rows)
    rng = np.random.default_rng(seed)
    age = np.minimum(rng.triangular(0, 6, len(AGES), rows).astype(int), len(AGES) - 1)
    sex, region = rng.integers(0, 2, rows), rng.integers(0, len(REGIONS), rows)
    education = np.clip(rng.binomial(4, 0.55, rows) - (age > 10), 0, 4)
    smoker = rng.random(rows) < SMOKERS
    frailty = rng.standard_normal(rows)
    middle = (len(AGES) - 1) / 2
    ill = {}
    for name, (share, by_age, by_sex, by_smoking) in ILLNESSES.items():
        odds = np.log(share / (1 - share)) - FRAILTY**2 / 2 + FRAILTY * frailty
        odds += by_age * (age - middle) + by_sex * (sex - 0.5) + by_smoking * (smoker - SMOKERS)
        ill[name] = np.where(rng.random(rows) < 1 / (1 + np.exp(-odds)), YES, NO)
    return pl.DataFrame(
        {
            "age": np.array(AGES)[age],
            "sex": np.array(SEXES)[sex],
            "region": np.array(REGIONS)[region],
            "education": np.array(EDUCATION)[education],
            "smoker": np.where(smoker, YES, NO),
            **ill,
        }
    )
