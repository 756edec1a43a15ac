"""Other models of privacy: the thresholds that a release would satisfy."""

from __future__ import annotations

from shoal.auditing.models.models import Model, Models, other_models

__all__ = ["Model", "Models", "other_models"]
