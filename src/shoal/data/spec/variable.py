"""What the file of a statistics program says of its columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from shoal.data.spec.recipe import Recipe

Measure = Literal["nominal", "ordinal", "scale", "unknown"]


@dataclass(frozen=True)
class Variable:
    """One column of a codebook."""

    title: str = ""
    """The label of the column: what was asked, or measured."""
    labels: tuple[tuple[str, str], ...] = ()
    """What each of its codes stands for, if all that occur stand for something."""
    missing: tuple[str, ...] = ()
    """The codes in it that are declared to mean that nothing is known."""
    measure: Measure = "unknown"
    """How its numbers are to be taken."""

    def recipe(self) -> Recipe | None:
        """How the column is recoded so that it shows what it means, if it has to be."""
        nominal = self.measure == "nominal" and not self.labels
        if not (self.labels or self.missing or nominal):
            return None
        return Recipe(missing=self.missing, labels=self.labels, nominal=nominal)


Codebook = Mapping[str, Variable]
"""Columns by their names."""
