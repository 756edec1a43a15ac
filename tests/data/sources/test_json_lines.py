"""JSON lines: a table, or one sentence that names the line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from shoal.data.sources import read_table
from tests.data.sources.expect import fails_with
from tests.data.sources.files import write

TABLES: list[tuple[str | bytes, dict[str, list[Any]]]] = [
    ('{"a":1,"b":"x"}\n{"b":null,"a":2.5}', {"a": [1.0, 2.5], "b": ["x", None]}),
    ('{"a":1}\n\n{"b":true}\r\n{}\n', {"a": [1, None, None], "b": [None, True, None]}),
    ('{"a":1}\n{"a":"x"}\n{"a":true}\n', {"a": ["1", "x", "true"]}),
    ('{"a":"00123"}\n{"a":"12"}\n', {"a": ["00123", "12"]}),
    (f'{{"a":1{"0" * 400}}}\n{{"a":2}}\n', {"a": ["1" + "0" * 400, "2"]}),
    ('{"a":0.1}\n{"a":0.10000000000000000001}\n', {"a": ["0.1", "0.10000000000000000001"]}),
    (b'\xef\xbb\xbf{"a":NaN}\n', {"a": ["NaN"]}),
]
BROKEN = {
    '{"a":1}\n{"a":\n': "Line 2 of",
    '[{"a":1}]\n': "holds no object",
    "1\n": "holds no object",
    '{"a":1}\n{"a":[1]}\n': 'Line 2 of "t.jsonl" holds a list or an object in "a"',
    '{"a":1,"a":2}\n': "names something twice",
    '{"a":"\\ud800"}\n': "half of a character",
    "[" * 100_000: "is no JSON",
}


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("text", "table"), TABLES)
def test_tables(text: str | bytes, table: dict[str, list[Any]]) -> None:
    found = read_table(write(Path("t.jsonl"), text))
    assert found.to_dict(as_series=False) == table
    assert read_table("t.jsonl", columns="a").columns == ["a"]


@pytest.mark.parametrize("text", BROKEN)
def test_broken_lines(text: str) -> None:
    with fails_with("json-line", BROKEN[text]):
        read_table(write(Path("t.jsonl"), text))


def test_many_lines_and_encodings() -> None:
    lines = "".join(f'{{"n":{n}}}\n' for n in range(17_000)) + '{"late":"é"}\n'
    found = read_table(write(Path("t.ndjson"), lines))
    assert (found.height, found["n"].sum(), found["late"][-1]) == (
        17_001,
        17_000 * 16_999 // 2,
        "é",
    )
    assert read_table(write(Path("l.jsonl"), lines.encode("latin-1")), encoding="latin-1").equals(
        found
    )
    with fails_with("encoding", "line 17001", "--encoding latin-1"):
        read_table("l.jsonl")
    with fails_with("file-empty", "empty"):
        read_table(write(Path("e.jsonl"), "{}\n"))
    with fails_with("column-missing", "zz"):
        read_table("t.ndjson", columns=["zz"])
