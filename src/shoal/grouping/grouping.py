"""Grouping: which rows are published together, and in which form. What every anonymizer returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InternalError
from shoal.table import IntArray, Table

Form = Literal["bucketized", "generalized"]
SUPPRESSED = -1


@dataclass(frozen=True, eq=False)
class Recoding:
    """How one QI is generalized: each group's node, and the domain values that a node covers."""

    labels: tuple[str, ...]
    """The label of each node, as published."""
    members: NDArray[np.bool_]
    """nodes x domain: the values (codes of the table's QI column) that a node covers."""
    node: IntArray
    """The node of each group."""


@dataclass(frozen=True, eq=False)
class Grouping:
    """The A-groups of a table. Rows of group -1 are suppressed: not published at all."""

    groups: IntArray
    """The group of each row, 0 to K-1, or -1."""
    form: Form = "bucketized"
    recodings: tuple[Recoding, ...] = ()
    """One per QI in the generalized form; empty in the bucketized form."""
    values: IntArray | None = None
    """Published value codes per row where a method distorts them; None means the true ones."""
    pooled: NDArray[np.bool_] | None = None
    """Groups whose values outside every event are published as one pooled value."""
    claims: Mapping[str, Any] = field(default_factory=dict)
    """What the method itself promises or reports (l, k, t, rules found, values changed, ...)."""

    def __post_init__(self) -> None:
        if (
            self.groups.min(initial=0) < SUPPRESSED
            or not np.bincount(self.groups[self.groups >= 0], minlength=0).all()
        ):
            raise InternalError("group numbers have holes")
        if (self.form == "generalized") != bool(self.recodings):
            raise InternalError("a generalized grouping needs a recoding per QI, and only it")

    @property
    def count(self) -> int:
        """The number of groups."""
        return int(self.groups.max(initial=-1)) + 1

    @property
    def suppressed(self) -> int:
        """The number of suppressed rows."""
        return int((self.groups == SUPPRESSED).sum())

    def row_values(self, table: Table) -> IntArray:
        """The published value code of every row (before pooling)."""
        return table.row_value if self.values is None else self.values


class Progress(Protocol):
    """What a long step reports to: done and total in its own unit, and what it is doing."""

    def __call__(self, step: str, done: int, total: int) -> None: ...


def silent(step: str, done: int, total: int) -> None:
    """A Progress that shows nothing."""


class Anonymizer(Protocol):
    """An algorithm with its parameters set."""

    @property
    def name(self) -> str: ...

    def anonymize(
        self, table: Table, *, seed: int = 0, progress: Progress = silent
    ) -> Grouping: ...
