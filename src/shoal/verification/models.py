"""Models that a release was judged with, read again from the private folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from shoal.knowledge import Knowledge
from shoal.release.models import read_model
from shoal.table import Table
from shoal.verification.files import Check

NOT_JUDGED = "not judged: what the model says of everybody is in the private folder"


class Known(NamedTuple):
    """What the release is judged with again."""

    knowledge: Knowledge
    checks: list[Check]
    whole: bool
    """Whether every view is there that the certificate names. Without one, figures can only be
    smaller than those that the certificate states."""


def with_models(
    known: Knowledge,
    claimed: Mapping[str, Any],
    table: Table,
    private: str | Path | None,
) -> Known:
    """Adds the models that a certificate names to the knowledge, unless they are in it already."""
    names = {view.name for view in known.views}
    checks, whole = [], True
    for described in claimed.get("models", []):
        view = described["view"]
        if view in names:
            continue
        read = NOT_JUDGED if private is None else read_model(Path(private), described, table)
        if isinstance(read, Knowledge):
            known = known + read
            checks.append(Check(view, True))
        else:
            checks.append(Check(view, private is None, read))
            whole = False
    return Known(known, checks, whole)
