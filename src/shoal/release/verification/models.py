"""Models that a release was judged with, read again from the private folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from shoal.data.table import Table
from shoal.knowledge import Knowledge, View, event_chances
from shoal.knowledge.fitted import Fitted, measure
from shoal.plain import plain
from shoal.release.models import read_model
from shoal.release.verification.files import Claim

MODELS = "model-*.parquet"
LAST_DIGIT = {"auc": 1e-3, "expected": 0.1, "calibration": 1e-4}
NOT_JUDGED = "not judged: what the model says of everybody is in the private folder"


class WithModels(NamedTuple):
    """What the release is judged with again."""

    knowledge: Knowledge
    checks: list[Claim]
    whole: bool
    """Whether every view is there that the certificate names. Without one, figures can only be
    smaller than those that the certificate states."""


def with_models(
    known: Knowledge, claimed: Mapping[str, Any], table: Table, private: str | Path | None
) -> WithModels:
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
            checks.append(_same_quality(read.views[0], table, described))
        else:
            checks.append(Claim(view, private is None, read))
            whole = False
    if private is not None:
        named = {str(described["file"]) for described in claimed.get("models", [])}
        strange = sorted({file.name for file in Path(private).glob(MODELS)} - named)
        detail = "".join(f"the certificate says nothing of {name}" for name in strange[:1])
        checks.append(Claim("models", not strange, detail))
    return WithModels(known, checks, whole)


def _same_quality(view: View, table: Table, described: Mapping[str, Any]) -> Claim:
    """Whether the distributions are as good as the certificate says. That it was this model, with
    these folds and this seed, that gave them cannot be seen from them."""
    chances = event_chances(view, table)[view.index]
    found = plain(Fitted(view.name, None, None, measure(table, chances)).public().quality)
    # Distributions that were handed over come without any quality.
    measured = [] if described["folds"] is None else found
    stated = described["quality"]
    same = len(stated) == len(measured) and all(map(_alike, stated, measured))
    return Claim.of(view.name, same, "its quality is another than is said")


def _alike(stated: Mapping[str, Any], measured: Mapping[str, Any]) -> bool:
    """Whether qualities agree but for the last digit: chances are added up anew."""
    return stated.keys() == measured.keys() and all(
        stated[key] == value
        if key not in LAST_DIGIT or value is None or stated[key] is None
        else abs(stated[key] - value) <= 1.5 * LAST_DIGIT[key]
        for key, value in measured.items()
    )
