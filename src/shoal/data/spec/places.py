"""Spec files, and where the files lie that they name: beside the spec, or else in the working
folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shoal.data.spec.entries import located_event
from shoal.data.spec.toml_text import read_toml


def read_spec_file(path: str | Path) -> dict[str, Any]:
    """The contents of a spec file, with the files that it names where they lie."""
    folder = Path(path).parent

    def place(file: str) -> str:
        beside = folder / file
        return str(beside) if beside.is_file() else file

    given = read_toml(path)
    if isinstance(given.get("knowledge"), str):
        given["knowledge"] = place(given["knowledge"])
    if isinstance(given.get("protect"), list):
        given["protect"] = [located_event(event, place) for event in given["protect"]]
    recipes = given.get("recode")
    for recipe in recipes.values() if isinstance(recipes, dict) else ():
        if isinstance(recipe, dict) and isinstance(recipe.get("hierarchy"), str):
            recipe["hierarchy"] = place(recipe["hierarchy"])
    return given
