"""Damages files: anywhere, and inside what is packed or structured, so that readers get far."""

from __future__ import annotations

import gzip
import io
import json
import random
import zipfile
from typing import Any

TOKENS = (
    b"\0", b'"', b"'", b"\n", b"\r", b",", b";", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe",
    b"[", b"{", b"}", b"]", b"=", b"@", b"1e999", b"-1", b"9" * 25, b"NaN", b"null", b"true",
    b"\xff" * 8, b"\x7f" + b"\xff" * 3, b"\0" * 8, "\u202e\U0001f600".encode(), b"[" * 5000,
)  # fmt: skip
ODD: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2.5, 10**30, 1e308, float("nan"), float("inf"), "", "x", "\0",
    "../x", [], {}, [[]], [None], {"": None}, [1, "a"], {"a": 1},
)  # fmt: skip


def mutated(content: bytes, name: str, chance: random.Random) -> bytes:
    """The content with something in it changed."""
    if name.endswith(".json") and chance.random() < 0.7:
        return _other_json(content, chance)
    if name.endswith(".xlsx") and chance.random() < 0.7:
        return _repacked(content, chance)
    if name.endswith(".gz") and chance.random() < 0.5:
        return gzip.compress(_damaged(gzip.decompress(content), chance), 1, mtime=0)
    return _damaged(content, chance)


def _damaged(content: bytes, chance: random.Random) -> bytes:
    data = bytearray(content)
    for _ in range(chance.choice([1, 1, 1, 2, 3, 8])):
        # Heads and feet say how to read the rest.
        near = chance.choice([len(data), len(data), 200])
        at = chance.randrange(near + 1) if near else 0
        at = max(0, len(data) - at) if chance.random() < 0.5 else min(at, len(data))
        end = min(len(data), at + chance.choice([1, 2, 4, 8, 40, 400]))
        way = chance.randrange(7)
        if way == 0 and at < len(data):
            data[at] ^= 1 << chance.randrange(8)
        elif way == 1 and at < len(data):
            data[at] = chance.choice([0, 1, 127, 128, 255, chance.randrange(256)])
        elif way == 2:
            del data[at:end]
        elif way == 3:
            data[at:at] = data[at:end] * chance.choice([1, 2, 50])
        elif way == 4:
            data[at:at] = chance.choice(TOKENS)
        elif way == 5:
            data[at:end] = chance.choice(TOKENS)[: end - at]
        elif chance.random() < 0.3:
            del data[at:]
    return bytes(data)


def _other_json(content: bytes, chance: random.Random) -> bytes:
    """The same document with one thing in it replaced, left out, or said twice."""
    whole = json.loads(content)
    places: list[tuple[Any, Any]] = []
    _walk(whole, places)
    if not places:
        return json.dumps(chance.choice(ODD)).encode()
    for _ in range(chance.choice([1, 1, 2])):
        holder, key = chance.choice(places)
        try:
            if chance.random() < 0.2:
                del holder[key]
            elif chance.random() < 0.2:
                holder[key] = chance.choice(places)[0]
            else:
                holder[key] = chance.choice(ODD)
        except (IndexError, KeyError):
            continue
    try:
        return json.dumps(whole).encode()
    except (ValueError, RecursionError):  # it holds itself now
        return b"{}"


def _walk(value: Any, places: list[tuple[Any, Any]]) -> None:
    keys = (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    for key in keys:
        places.append((value, key))
        _walk(value[key], places)


def _repacked(content: bytes, chance: random.Random) -> bytes:
    """A workbook one part of which is damaged, with sums that are right again."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as book, zipfile.ZipFile(out, "w", 8) as new:
        names = book.namelist()
        hit = chance.choice([name for name in names if "sheet" in name.lower()] + names)
        for name in names:
            part = book.read(name)
            new.writestr(name, _damaged(part, chance) if name == hit else part)
    return out.getvalue()
