"""compare: several methods on one table, side by side, and releases of other tools beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from shoal.api.inputs import Known, frame_of, table_of
from shoal.auditing.adversaries.adversary import USUAL, Adversaries, as_adversaries, by_view
from shoal.data.spec import Spec
from shoal.data.table.hierarchy import Hierarchy
from shoal.errors import InputError
from shoal.groups import Progress, silent
from shoal.knowledge import Knowledge
from shoal.methods.registry import PAPER_METHODS, inform
from shoal.planning.comparison.comparison import (
    MEASURES,
    Comparison,
    MethodLine,
    averaged,
    check_compared,
    machine_note,
    released_trial,
)
from shoal.planning.comparison.trial import Trial, equip, warm_up
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
    """Compares methods on one table: time, error, risk and loss, with other tools' releases beside.

    A method that cannot treat the table is a line that says why.

    Args:
        data: A frame, the path or URL of a table, or a Table.
        spec: What is published, and what nobody may be linked to; a Table has its own.
        methods: The methods to compare, by name.
        parameters: Parameters by method.
        hierarchies: Hierarchies by QI, for methods that generalize.
        released: What other tools made of the table, by name.
        key: The column that aligns released files; row by row unless given.
        knowledge: What outsiders know, a Knowledge or a file, in place of what the spec says.
        workload: The queries whose errors are measured.
        adversary: Who judges, one or several; joint, binary and all-views unless named.
        repeat: Runs of each method, seeds counting up.
        seed: Seed of methods and queries.
        attack: Let the red team try on each method's first release, which takes minutes.
        progress: Called with a step's name, how much of it is done, and of how much.

    Returns:
        A line for each method and released file.

    Raises:
        InputError: The table, the spec or a name is wrong.

    >>> import shoal
    >>> hospital = shoal.datasets.hospital(2000, seed=0)
    >>> spec = shoal.Spec(
    ...     qi=["sex", "region"], sensitive="diagnosis", protect=[["HIV", "Schizophrenia"]], r=5
    ... )
    >>> found = shoal.compare(hospital, spec, methods=["art", "anatomy"])
    >>> found.to_frame().select("method", "robust").rows()
    [('art', True), ('anatomy', False)]
    """
    parameters = parameters or {}
    table = table_of(data, spec, knowledge=knowledge, publish=True)
    others = {name: frame_of(other) for name, other in (released or {}).items()}
    check_compared(table, methods, parameters, repeat)
    told = knowledge if isinstance(knowledge, Knowledge) else None
    known = Knowledge.of(table, told)
    queries = workload or Workload(seed=seed)
    queries.qd(table)
    anonymizers = {name: equip(name, parameters.get(name, {}), hierarchies) for name in methods}
    warm_up(table, anonymizers.values())
    judges = by_view(as_adversaries(adversary)) or None
    for name, one in anonymizers.items():
        own = "readers" in parameters.get(name, {})
        anonymizers[name] = inform(one, knowledge=told, readers=None if own else judges)
    lines = list[MethodLine]()
    everybody = [*anonymizers.items(), *((name, None) for name in others)]
    for done, (name, method) in enumerate(everybody):
        progress(name, done, len(everybody))
        seeds = () if method is None else tuple(range(seed, seed + repeat))
        try:
            trials = [Trial.run(table, method, seed=one) for one in seeds if method is not None]
            trials = trials or [released_trial(table, others[name], key)]
            known_of_it = known if seeds else Knowledge.of(trials[0].table, told)
        except InputError as error:
            lines.append(MethodLine(name, dict.fromkeys(MEASURES), seeds, failed=str(error)))
            continue
        line = averaged(name, trials, known_of_it, adversary, queries, seeds)
        if attack:
            team = trials[0].attacked(known_of_it, method, seed=seed, progress=progress)
            line = replace(line, attack=team)
        lines.append(line)
    progress("done", len(lines), len(lines))
    return Comparison(tuple(lines), table.rows, table.spec.r, known.source, queries, machine_note())
