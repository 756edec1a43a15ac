"""Reading and writing TOML, spec files among it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomli_w

from shoal.data.spec.events import located_event
from shoal.errors import InputError
from shoal.memory import read_text


def read_toml(path: str | Path) -> dict[str, Any]:
    """The contents of a TOML file, or an InputError that says what is wrong with it."""
    try:
        return tomllib.loads(read_text(path))
    except OSError as error:
        raise InputError(
            "spec-file", f"Cannot read {path}: {error.strerror}.", "Check the path."
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(
            "spec-file", f"{path} is not valid TOML: {error}.", "Correct that place."
        ) from None
    except RecursionError:
        raise InputError(
            "spec-file", f"{path} is nested too deeply.", "Write it as the example does."
        ) from None


def read_spec_file(path: str | Path) -> dict[str, Any]:
    """The contents of a spec file. The files that it names lie beside it, or else in the working
    folder."""
    folder = Path(path).parent

    def place(file: str) -> str:
        beside = folder / file
        return str(beside) if beside.is_file() else file

    given = read_toml(path)
    for name in ("knowledge", "population"):
        if isinstance(given.get(name), str):
            given[name] = place(given[name])
    if isinstance(given.get("protect"), list):
        given["protect"] = [located_event(event, place) for event in given["protect"]]
    recipes = given.get("recode")
    for recipe in recipes.values() if isinstance(recipes, dict) else ():
        if isinstance(recipe, dict) and isinstance(recipe.get("hierarchy"), str):
            recipe["hierarchy"] = place(recipe["hierarchy"])
    return given


def toml_text(data: Mapping[str, Any]) -> str:
    """Plain data as a TOML file. Characters that nobody can see are written as escapes; they can
    only stand inside strings."""
    text = tomli_w.dumps({key: _plain(value) for key, value in data.items()})
    return "".join(
        sign if sign.isprintable() or sign == "\n" else f"\\U{ord(sign):08x}" for sign in text
    )


def toml_string(text: str) -> str:
    """A TOML string; also safe inside a comment, since it never holds a line end."""
    return toml_text({"text": text}).removeprefix("text = ").removesuffix("\n")


def _plain(value: Any) -> Any:
    """Whole numbers without a decimal point, as people write them."""
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
