"""compare: several methods on one table, side by side, and releases of other tools beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shoal.api.inputs import Known, frame_of, table_of
from shoal.auditing.adversaries.adversary import USUAL, Adversaries
from shoal.data.spec import Spec
from shoal.data.table.hierarchy import Hierarchy
from shoal.groups import Progress, silent
from shoal.knowledge import Knowledge
from shoal.methods.registry import PAPER_METHODS
from shoal.planning.comparison import Comparison
from shoal.planning.comparison import compare as compare_on
from shoal.release.utility import Workload


def compare(
    data: Any,
    spec: Spec | None = None,
    *,
    methods: Sequence[str] = PAPER_METHODS,
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    released: Mapping[str, Any] | None = None,
    key: str | None = None,
    knowledge: Known = None,
    workload: Workload | None = None,
    adversary: Adversaries = USUAL,
    repeat: int = 1,
    seed: int = 0,
    attack: bool = False,
    progress: Progress = silent,
) -> Comparison:
    """Runs methods on a table (a frame, a path or URL, or a Table) and measures what each gives.

    Each runs `repeat` times (seeds `seed`, `seed+1`, ..). `parameters` go by method; `released` has
    what other tools made, by name (a frame, a path or a URL), aligned row by row or by the column
    `key`. `adversary` says who judges, and `knowledge` replaces what the spec says that they know.
    With `attack` the red team tries on each method's first release. A method that cannot treat the
    table is a line that says why.

    >>> import shoal
    >>> hospital = shoal.datasets.hospital(2000, seed=0)
    >>> spec = shoal.Spec(
    ...     qi=["sex", "region"], sensitive="diagnosis", protect=[["HIV", "Schizophrenia"]], r=5
    ... )
    >>> found = shoal.compare(hospital, spec, methods=["art", "anatomy"])
    >>> found.to_frame().select("method", "robust").rows()
    [('art', True), ('anatomy', False)]
    """
    table = table_of(data, spec, knowledge=knowledge, publish=True)
    return compare_on(
        table,
        methods=methods,
        parameters=parameters,
        hierarchies=hierarchies,
        released={name: frame_of(other) for name, other in (released or {}).items()},
        key=key,
        knowledge=knowledge if isinstance(knowledge, Knowledge) else None,
        workload=workload,
        adversary=adversary,
        repeat=repeat,
        seed=seed,
        attack=attack,
        progress=progress,
    )
