"""The same table, spec and seed give the same bytes, from one version of the code to the next."""

from __future__ import annotations

import json

import pytest

from tests.golden.releases import HASHES, cases, hashes


@pytest.mark.parametrize(("table", "method"), cases())
def test_releases_are_the_same_bytes_as_before(table: str, method: str) -> None:
    known = json.loads(HASHES.read_text(encoding="utf-8"))
    found = dict(hashes(table, method))
    expected = {name: known.get(name) for name in found}
    assert found == expected
    assert found, "nothing was written"
