"""Neighbouring tables: one value differs, and everybody is found where the release put them."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np

from benchmarks.neighbours import changed, lookalikes, measure_neighbours, seats
from benchmarks.settings import hospital_subject
from shoal.data.table import Table
from shoal.knowledge import Knowledge
from shoal.methods.art import Art

LINES = ("group", "signature", "value", "rows", "copies")


def test_a_carrier_is_always_with_an_event_and_lines_can_be_kept() -> None:
    said = list[str]()
    lines = measure_neighbours(said.append, pairs=2, releases=2, rows=1_000)
    assert json.loads(json.dumps(lines)) == lines
    carrier, filler = lines
    assert carrier["changed"]["before"]["hits"] == carrier["changed"]["before"]["tries"] == 4
    for line in lines:
        assert line["changed"]["after"]["tries"] == 4
        assert line["others"]["before"]["tries"] == line["others"]["after"]["tries"] > 4
    assert filler["changed"]["before"]["mean_size"] >= 1


def test_neighbours_differ_in_one_value_and_everybody_has_a_seat() -> None:
    subject = hospital_subject(1_000)
    table = Table.from_frame(subject.frame, subject.spec.with_(r=3.0))
    rng = np.random.default_rng(0)
    person = int(np.flatnonzero(table.everybody.event >= 0)[0])
    others = lookalikes(table, Knowledge.of(table), person)
    other = changed(table, person, others, rng)
    assert (table.native["diagnosis"] != other.native["diagnosis"]).arg_true().to_list() == [person]
    assert other.carriers == table.carriers - 1
    assert (table.everybody.event[others] < 0).all()
    grouping = Art().anonymize(table, seed=1)
    people = np.arange(table.rows)
    found = seats(table, grouping, people, rng)
    for row in people:
        alike = grouping.signature == table.everybody.signature[row]
        alike &= grouping.value == table.everybody.value[row]
        assert found[row] in grouping.group[alike]
    nobody = replace(grouping, **{name: getattr(grouping, name)[:0] for name in LINES})
    assert (seats(table, nobody, people, rng) == -1).all()
