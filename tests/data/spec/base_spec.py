"""A spec that needs no table, and variations of it."""

from __future__ import annotations

from typing import Any

from shoal.data.spec import Spec

BASE: dict[str, Any] = {"qi": ["age", "sex", "zip"], "sensitive": "disease", "r": 10}


def spec(**changes: Any) -> Spec:
    return Spec(**(BASE | changes))
