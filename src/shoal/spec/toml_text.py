"""Reading TOML files, and writing plain values as TOML (the standard library only reads)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shoal.errors import InputError


def read_toml(path: str | Path) -> dict[str, Any]:
    """The contents of a TOML file, or an InputError that says what is wrong with it."""
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(
            "spec-read", f"Cannot read {path}: {error.strerror}.", "Check the path."
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(
            "spec-toml", f"{path} is not valid TOML: {error}.", "Correct that place."
        ) from None


def toml_value(value: Any) -> str:
    """A plain value as TOML text, inline."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        escaped = "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in escaped)
        return f'"{escaped}"'
    if isinstance(value, Mapping):
        return (
            "{ "
            + ", ".join(f"{toml_value(str(k))} = {toml_value(v)}" for k, v in value.items())
            + " }"
        )
    return "[" + ", ".join(toml_value(item) for item in value) + "]"
