"""Other tools beside shoal: what runs is measured, and what does not says why."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import polars as pl
import pytest

from benchmarks import peers
from benchmarks.peers import HERE, _tried


def test_a_tool_is_measured_or_says_why_not(tmp_path: Path) -> None:
    """pyCANON, which these tests have: the least people of one combination."""
    frame = pl.DataFrame({"sex": ["f", "f", "m", "m", "m"], "ill": ["a", "b", "a", "b", "c"]})
    table, asked, out = (tmp_path / name for name in ("table.csv", "asked.json", "out.csv"))
    frame.write_csv(table)
    asked.write_text(json.dumps({"qi": ["sex"], "numbers": [], "sensitive": "ill", "k": 2}))
    program = str(HERE / "peer" / "with_pycanon.py")
    found = _tried([sys.executable, program, str(table), str(asked), str(out)], tmp_path)
    assert found["cpu"] > 0
    assert found["peak"] > 10**7
    assert pl.read_csv(out).select("k", "l").rows() == [(2, 2)]
    assert _tried(["sh", "-c", "echo lost >&2; exit 3"], tmp_path) == {"failed": "lost"}


def test_what_cannot_be_installed_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "HOMES", tmp_path)
    told = peers._python(peers.Peer("missing", (str(tmp_path / "none.whl"),), "with_none.py", ""))
    assert isinstance(told, str)
    assert told.startswith("could not be installed here: ")
