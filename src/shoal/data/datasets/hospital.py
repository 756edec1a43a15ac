"""A made-up hospital: one row per patient, drawn from a distribution that is known exactly.

A diagnosis depends on age band, sex and occupation only, so the adversary's knowledge can
be handed over in full. Weights are base rate x age x sex x occupation factors, then made to
sum to one. All numbers are invented, in plausible proportions.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl

from shoal.arrays import Floats, Ints, Whole
from shoal.data.spec import checked_whole

HOSPITAL_QI = ("age", "sex", "region", "occupation", "insurance")
HOSPITAL_SENSITIVE = "diagnosis"
HOSPITAL_EVENT = ("HIV", "Schizophrenia")


AGES: Final = np.arange(18, 91)
BAND_STARTS: Final = np.array([18, 35, 50, 65, 80])
SEXES: Final = ("Female", "Male")
FEMALE_SHARE: Final = 0.52

REGIONS: Final = {
    "North": 14.0,
    "North-East": 9.0,
    "East": 12.0,
    "South-East": 18.0,
    "South": 16.0,
    "South-West": 10.0,
    "West": 13.0,
    "North-West": 8.0,
}

# Share of each occupation in the age bands 18-34, 35-49, 50-64, 65-79, 80-90.
OCCUPATIONS: Final = {
    "Agriculture": (5.0, 6.0, 7.0, 2.0, 0.5),
    "Construction": (11.0, 11.0, 9.0, 1.0, 0.2),
    "Education": (7.0, 10.0, 9.0, 1.0, 0.3),
    "Healthcare": (10.0, 12.0, 11.0, 1.5, 0.2),
    "Hospitality": (13.0, 8.0, 6.0, 1.0, 0.2),
    "Manufacturing": (12.0, 15.0, 15.0, 1.5, 0.2),
    "Office": (16.0, 26.0, 24.0, 4.0, 0.5),
    "Retired": (0.0, 0.0, 10.0, 86.0, 97.7),
    "Student": (18.0, 1.0, 0.0, 0.0, 0.0),
    "Transport": (8.0, 11.0, 9.0, 2.0, 0.2),
}
# How many times likelier a man is to have the job than a woman.
MEN_PER_WOMAN: Final = {"Construction": 6.0, "Transport": 4.0, "Healthcare": 0.35, "Education": 0.5}

INSURANCES: Final = ("Company", "None", "Private", "Public")
INSURANCE_OF_JOB: Final = (50.0, 5.0, 12.0, 33.0)
INSURANCE_OTHERWISE: Final = {
    "Agriculture": (10.0, 14.0, 21.0, 55.0),
    "Hospitality": (20.0, 20.0, 6.0, 54.0),
    "Retired": (6.0, 1.0, 18.0, 75.0),
    "Student": (3.0, 10.0, 12.0, 75.0),
}

# diagnosis: (ward, base rate, factors of the five age bands, (women, men))
DIAGNOSES: Final = {
    "Appendicitis": ("Surgery", 5.0, (1.4, 1.1, 0.9, 0.7, 0.6), (1.0, 1.1)),
    "Asthma": ("Respiratory", 7.0, (1.3, 1.1, 0.9, 0.9, 0.8), (1.1, 0.9)),
    "Back pain": ("Orthopaedics", 12.0, (0.8, 1.2, 1.3, 1.0, 0.8), (1.0, 1.0)),
    "Depression": ("Psychiatry", 7.0, (1.2, 1.1, 1.0, 0.9, 0.8), (1.2, 0.8)),
    "Fracture": ("Orthopaedics", 9.0, (1.1, 0.9, 0.9, 1.1, 1.7), (1.0, 1.1)),
    "HIV": ("Infectious diseases", 0.9, (1.0, 1.2, 1.0, 0.8, 0.8), (0.8, 1.3)),
    "Heart disease": ("Cardiology", 10.0, (0.5, 0.7, 1.1, 1.4, 1.5), (0.9, 1.1)),
    "Hypertension": ("Cardiology", 20.0, (0.4, 0.8, 1.2, 1.4, 1.4), (1.0, 1.0)),
    "Influenza": ("Infectious diseases", 10.0, (1.3, 1.1, 0.9, 0.9, 1.0), (1.0, 1.0)),
    "Pneumonia": ("Respiratory", 6.0, (0.7, 0.8, 0.9, 1.3, 1.9), (0.9, 1.1)),
    "Pregnancy complication": ("Obstetrics", 8.0, (1.4, 0.6, 0.0, 0.0, 0.0), (1.0, 0.0)),
    "Prostate disease": ("Urology", 5.0, (0.4, 0.6, 1.2, 1.7, 1.8), (0.0, 1.0)),
    "Schizophrenia": ("Psychiatry", 0.9, (1.1, 1.1, 1.0, 0.9, 0.8), (0.9, 1.1)),
    "Type 2 diabetes": ("Endocrinology", 10.0, (0.4, 0.9, 1.3, 1.4, 1.3), (0.9, 1.1)),
}
OCCUPATION_FACTORS: Final = {
    "Agriculture": {"Back pain": 1.5, "Fracture": 1.4, "Asthma": 1.4, "HIV": 0.8},
    "Construction": {"Back pain": 1.8, "Fracture": 1.8, "HIV": 1.1},
    "Education": {"Influenza": 1.5, "Depression": 1.2, "HIV": 0.8, "Schizophrenia": 0.8},
    "Healthcare": {"Influenza": 1.6, "Pneumonia": 1.2, "HIV": 1.2, "Schizophrenia": 0.8},
    "Hospitality": {"Depression": 1.2, "HIV": 1.3, "Schizophrenia": 1.2},
    "Manufacturing": {"Back pain": 1.4, "Asthma": 1.4},
    "Office": {"Hypertension": 1.2, "Depression": 1.1, "Fracture": 0.7, "Schizophrenia": 0.8},
    "Retired": {"Hypertension": 1.1, "Schizophrenia": 1.2, "Influenza": 0.9},
    "Student": {"Depression": 1.4, "Schizophrenia": 1.3, "Back pain": 0.7},
    "Transport": {"Back pain": 1.4, "Heart disease": 1.2, "HIV": 1.2, "Type 2 diabetes": 1.2},
}


def hospital(rows: int, seed: int = 0) -> pl.DataFrame:
    """A hospital table of that many patients; the same rows and seed give the same table.

    `patient` identifies, HOSPITAL_QI are quasi-identifiers, `diagnosis` is sensitive, and
    `ward` follows from the diagnosis, so it must not be published.
    """
    checked_whole("rows", rows, 0)
    rng = np.random.default_rng(seed)
    sex = (rng.random(rows) >= FEMALE_SHARE).astype(np.int64)
    age = _draw(rng, _age_weights(), rows_of=sex)
    band = _band_of_age()[age]
    job = _draw(rng, _occupation_weights(), rows_of=band * 2 + sex)
    region = _draw(rng, np.array([list(REGIONS.values())]), rows_of=np.zeros_like(sex))
    insurance = _draw(rng, _insurance_weights(), rows_of=job)
    cell = (band * 2 + sex) * len(OCCUPATIONS) + job
    diagnosis = _draw(rng, _diagnosis_probabilities(), rows_of=cell)
    number = pl.int_range(1, rows + 1, eager=True).cast(pl.String).str.zfill(8)
    return pl.DataFrame(
        {
            "patient": "P" + number,
            "age": AGES[age],
            "sex": _names(SEXES, sex),
            "region": _names(tuple(REGIONS), region),
            "occupation": _names(tuple(OCCUPATIONS), job),
            "insurance": _names(INSURANCES, insurance),
            "diagnosis": _names(tuple(DIAGNOSES), diagnosis),
            "ward": _names(tuple(ward for ward, *_ in DIAGNOSES.values()), diagnosis),
        }
    )


def _shares(weights: Floats) -> Floats:
    """Rows that sum to one."""
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def hospital_distribution() -> pl.DataFrame:
    """The exact distribution that `hospital` draws diagnoses from, one row per probability.

    Columns age, sex, occupation, value, probability; 73 x 2 x 10 x 14 rows, zeros included.
    """
    jobs, values = len(OCCUPATIONS), len(DIAGNOSES)
    age, sex, job = (axis.ravel() for axis in np.indices((len(AGES), len(SEXES), jobs)))
    cell = (_band_of_age()[age] * 2 + sex) * jobs + job
    return pl.DataFrame(
        {
            "age": np.repeat(AGES[age], values),
            "sex": _names(SEXES, np.repeat(sex, values)),
            "occupation": _names(tuple(OCCUPATIONS), np.repeat(job, values)),
            "value": _names(tuple(DIAGNOSES), np.tile(np.arange(values), len(cell))),
            "probability": _diagnosis_probabilities()[cell].ravel(),
        }
    )


def _band_of_age() -> Ints:
    return np.searchsorted(BAND_STARTS, AGES, side="right").astype(np.int64) - 1


def _age_weights() -> Floats:
    """Patients by age: flat to 50, a hump near 70, fewer of the very old; women live longer."""
    hump = 0.9 * np.exp(-(((AGES - 68) / 14.0) ** 2))
    survivors = [1 / (1 + np.exp((AGES - end) / 5.0)) for end in (86, 82)]
    return np.stack([(0.7 + hump) * alive for alive in survivors])


def _occupation_weights() -> Floats:
    """A row for each age band and sex."""
    by_band = np.array(list(OCCUPATIONS.values())).T
    men = np.array([MEN_PER_WOMAN.get(name, 1.0) for name in OCCUPATIONS])
    tilt = np.stack([2 / (1 + men), 2 * men / (1 + men)])
    weights: Floats = by_band[:, None, :] * tilt
    return weights.reshape(-1, len(OCCUPATIONS))


def _insurance_weights() -> Floats:
    return np.array([INSURANCE_OTHERWISE.get(name, INSURANCE_OF_JOB) for name in OCCUPATIONS])


def _diagnosis_probabilities() -> Floats:
    """A row for each age band, sex and occupation; rows sum to one."""
    base = np.array([rate for _, rate, _, _ in DIAGNOSES.values()])
    by_band = np.array([factors for _, _, factors, _ in DIAGNOSES.values()]).T
    by_sex = np.array([factors for _, _, _, factors in DIAGNOSES.values()]).T
    by_job = np.array(
        [[OCCUPATION_FACTORS[job].get(name, 1.0) for name in DIAGNOSES] for job in OCCUPATIONS]
    )
    weights = base * by_band[:, None, None] * by_sex[:, None] * by_job
    weights = weights.reshape(-1, len(DIAGNOSES))
    return _shares(weights)


def _draw(rng: np.random.Generator, weights: Floats, *, rows_of: Ints) -> Ints:
    """One column of `weights` for each entry of `rows_of`, drawn in proportion to its row.

    All rows' cumulative shares stand end to end, row i in [i, i+1], so one search serves all.
    """
    columns = weights.shape[1]
    shares = np.cumsum(weights, axis=1) / weights.sum(axis=1, keepdims=True)
    ladder = (shares + np.arange(len(weights))[:, None]).ravel()
    place = np.searchsorted(ladder, rows_of + rng.random(len(rows_of)), side="right")
    last = columns - 1 - np.argmax(weights[:, ::-1] > 0, axis=1)
    drawn: Ints = np.minimum(place - rows_of * columns, last[rows_of])
    return drawn


def _names(names: tuple[str, ...], codes: Whole) -> pl.Series:
    return pl.Series(names, dtype=pl.String).gather(codes)
