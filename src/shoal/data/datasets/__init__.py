"""Tables to try things on: a made-up hospital, a made-up survey of illnesses, and UCI's Adult."""

from __future__ import annotations

from shoal.data.datasets.adult import (
    ADULT_COLUMNS,
    ADULT_EVENT,
    ADULT_QI,
    ADULT_ROWS,
    ADULT_SENSITIVE,
    adult,
)
from shoal.data.datasets.hospital import (
    HOSPITAL_EVENT,
    HOSPITAL_QI,
    HOSPITAL_SENSITIVE,
    hospital,
    hospital_distribution,
)
from shoal.data.datasets.illnesses import ILLNESSES, ILLNESSES_QI, illnesses

__all__ = [
    "ADULT_COLUMNS",
    "ADULT_EVENT",
    "ADULT_QI",
    "ADULT_ROWS",
    "ADULT_SENSITIVE",
    "HOSPITAL_EVENT",
    "HOSPITAL_QI",
    "HOSPITAL_SENSITIVE",
    "ILLNESSES",
    "ILLNESSES_QI",
    "adult",
    "hospital",
    "hospital_distribution",
    "illnesses",
]
