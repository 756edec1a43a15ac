"""Tables to try things on: the paper's own, a made-up hospital, a made-up survey of illnesses, and
UCI's Adult."""

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
from shoal.data.datasets.paper import (
    TwoDiverseRelease,
    WorkedExample,
    delta_max_table,
    nationality_distribution,
    raw_data,
    two_diverse_release,
    voter_list,
    worked_example,
)

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
    "TwoDiverseRelease",
    "WorkedExample",
    "adult",
    "delta_max_table",
    "hospital",
    "hospital_distribution",
    "illnesses",
    "nationality_distribution",
    "raw_data",
    "two_diverse_release",
    "voter_list",
    "worked_example",
]
