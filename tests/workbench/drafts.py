"""Roles of the hospital table, as somebody leaves them on the page."""

from __future__ import annotations

from typing import Any

from shoal.data.datasets import HOSPITAL_EVENT

HOSPITAL: dict[str, Any] = {
    "qi": ["age", "sex", "region"],
    "sensitive": "diagnosis",
    "protect": [{"values": list(HOSPITAL_EVENT), "label": "grave"}],
    "r": 3,
    "min_support": 50,
    "identifiers": ["patient"],
}
