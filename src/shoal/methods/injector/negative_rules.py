"""Negative rules X => not s: combinations of QI values whose rows never (or hardly) carry an event.

Rules are mined level by level, from single values to combinations, on the table's signatures. A
combination is extended only while it is frequent enough for a rule about some event, and a rule is
kept only if no part of the combination gives it already.

Symbols: n rows; P(X) the share of rows with the QI values X, P(s) that of event s. A rule has
    confidence  1 - P(X,s)/P(X)                at least min_conf, and
    expectation 1 - (1 - P(s))^(n P(X))        at least min_exp,
the latter being the chance to have seen s together with X at least once if they had nothing to do
with each other. It asks for n P(X) >= log(1 - min_exp) / log(1 - P(s)): the support bound of s.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from shoal.arrays import Bools, Floats, IntArray, Ints
from shoal.data.table import Table, factorize
from shoal.errors import InputError
from shoal.groups import Progress

RELATIVE_TOLERANCE = 1e-9
MAX_SETS = 20_000
Attributes = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class RuleSet:
    """The rules about the values of one set of QIs; rule `i` says `codes[i]` => not `event[i]`."""

    attributes: Attributes
    """Positions of the QIs."""
    codes: IntArray
    """rules x attributes."""
    event: IntArray


@dataclass(frozen=True, eq=False)
class NegativeRules:
    """The shortest rules of a table, and what they make impossible."""

    sets: tuple[RuleSet, ...]
    impossible: Bools
    """signatures x events."""

    @property
    def count(self) -> int:
        return sum(len(rules.event) for rules in self.sets)


@dataclass(frozen=True, eq=False)
class _Frequent:
    """The frequent combinations of one set of QIs."""

    combination: IntArray
    """That of each signature, or -1."""
    denied: Bools
    """combinations x events: those that a rule about the combination, or a part of it, denies."""


def mine(
    table: Table, *, min_conf: float, min_exp: float, max_attributes: int | None, progress: Progress
) -> NegativeRules:
    """The shortest negative rules of the table about its events."""
    counted = _Counted.of(table)
    bound = _support_bounds(counted.event_rows / table.rows, min_exp)
    impossible = np.zeros((len(table.signatures), len(table.events)), dtype=bool)
    rule_sets: list[RuleSet] = []
    everything = np.zeros(len(table.signatures), dtype=np.int32)
    nothing = np.zeros((1, len(table.events)), dtype=bool)
    frequent: dict[Attributes, _Frequent] = {(): _Frequent(everything, nothing)}
    for size in range(1, min(max_attributes or len(table.qi), len(table.qi)) + 1):
        candidates = _candidates(frequent, len(table.qi))
        level: dict[Attributes, _Frequent] = {}
        for done, attributes in enumerate(candidates):
            progress(f"rules about {size} of the QIs", done, len(candidates))
            parts = [frequent[part] for part in combinations(attributes, size - 1)]
            outcome = _rules_about(table, counted, attributes, parts, bound, min_conf)
            if outcome is None:
                continue
            level[attributes], rules = outcome
            if len(rules.event):
                rule_sets.append(rules)
                known = level[attributes].combination >= 0
                denied = level[attributes].denied[level[attributes].combination[known]]
                impossible[known] |= denied
        frequent = level
    return NegativeRules(tuple(rule_sets), impossible)


@dataclass(frozen=True, eq=False)
class _Counted:
    """Rows by signature and event."""

    signature: IntArray
    event: IntArray
    rows: Ints
    event_rows: Ints

    @classmethod
    def of(cls, table: Table) -> _Counted:
        signature, value, rows = table.cells
        event = table.value_event[value]
        carried = event >= 0
        width = len(table.events)
        event_rows = np.bincount(event[carried], weights=rows[carried], minlength=width)
        return cls(signature[carried], event[carried], rows[carried], event_rows.astype(np.int64))


def _support_bounds(share: Floats, min_exp: float) -> Floats:
    """How many rows must have X before a rule X => not s says anything, for each event s."""
    if min_exp >= 1:
        return np.full(len(share), np.inf)
    return math.log1p(-min_exp) / np.log1p(-share) * (1 - RELATIVE_TOLERANCE)


def _candidates(frequent: Iterable[Attributes], attributes: int) -> list[Attributes]:
    """The sets of QIs that are larger by one, all of whose parts have frequent combinations."""
    known = set(frequent)
    size = len(next(iter(known), ()))
    larger = [
        (*part, added)
        for part in sorted(known)
        for added in range(part[-1] + 1 if part else 0, attributes)
    ]
    candidates = [
        each for each in larger if all(part in known for part in combinations(each, size))
    ]
    if len(candidates) > MAX_SETS:
        problem = f"Rules would have to be sought in {len(candidates):,} sets of {size + 1} QIs."
        raise InputError("rules-too-many", problem, f"Set max_rule_attributes to {size} or less.")
    return candidates


def _rules_about(
    table: Table,
    counted: _Counted,
    attributes: Attributes,
    parts: list[_Frequent],
    bound: Floats,
    min_conf: float,
) -> tuple[_Frequent, RuleSet] | None:
    """The frequent combinations of these QIs, and the rules that none of their parts gives."""
    active = np.logical_and.reduce([part.combination >= 0 for part in parts])
    signatures = np.flatnonzero(active)
    if not signatures.size:
        return None
    columns = [table.signatures[signatures, position] for position in attributes]
    combination, _ = factorize(columns, [len(table.qi[position]) for position in attributes])
    support = np.bincount(combination, weights=table.signature_rows[signatures])
    often = support >= bound.min(initial=np.inf)
    if not often.any():
        return None
    rank = np.where(often, np.cumsum(often) - 1, -1).astype(np.int32)
    of_signature = np.full(len(table.signatures), -1, dtype=np.int32)
    of_signature[signatures] = rank[combination]
    count = int(often.sum())
    example = np.empty(count, dtype=np.int64)
    example[of_signature[of_signature >= 0]] = np.flatnonzero(of_signature >= 0)
    denied = np.logical_or.reduce([part.denied[part.combination[example]] for part in parts])
    together = _event_rows(counted, of_signature, count, len(table.events))
    rows = support[often][:, None]
    allowed = (1 - min_conf) * rows * (1 + RELATIVE_TOLERANCE)
    new = (together <= allowed) & (rows >= bound) & ~denied
    rule, event = np.nonzero(new)
    codes = table.signatures[example[rule]][:, list(attributes)]
    rules = RuleSet(attributes, codes, event.astype(np.int32))
    return _Frequent(of_signature, denied | new), rules


def _event_rows(counted: _Counted, combination: IntArray, count: int, events: int) -> Floats:
    """combinations x events: how many rows have both."""
    where = combination[counted.signature]
    known = where >= 0
    key = where[known].astype(np.int64) * events + counted.event[known]
    summed = np.bincount(key, weights=counted.rows[known], minlength=count * events)
    return np.asarray(summed, dtype=np.float64).reshape(count, events)
