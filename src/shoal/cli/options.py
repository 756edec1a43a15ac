"""The Spec that options make, and what several commands do with theirs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

from shoal.data.spec import Spec, check_keys, parse_event
from shoal.data.spec.checks import number_or_text
from shoal.data.spec.recipe import parse_recipes
from shoal.data.spec.toml_text import read_spec_file
from shoal.errors import InputError, unknown
from shoal.names import ENGINES, Reading

ONE_OF = {
    "views": "view",
    "bands": "known_band",
    "hierarchies": "hierarchy",
    "titles": "title",
    "attackers": "attacker",
    "others": "with_",
}
"""Options that name one of what a parameter holds, and may be repeated."""


class SpecOptions(dict[str, Any]):
    """What a user says of the spec, by option: only what was given."""

    def __init__(self, given: Mapping[str, Any] | None = None) -> None:
        for name, value in (given or {}).items():
            if value is not None and value is not False and value != []:
                self[name] = value

    def make_spec(self, released: str | None = None) -> Spec:
        """The spec of the file, with what the other options say instead; without a file, that of a
        release of shoal's own."""
        file = self.get("spec")
        source = str(file) if file else "The spec"
        said: dict[str, Any] = read_spec_file(file) if file else _stated(released)
        check_keys(said, source=source)
        fields = {option: field for field, option in ONE_OF.items()}
        for option, value in self.items():
            if option == "recode":
                said["recode"] = {**said.get("recode", {}), **parse_recipes(value)}
            elif option != "spec":
                read = READ.get(option, lambda plain: plain)
                said[fields.get(option, option)] = read(value)
        for key, option in (("qi", "--qi a,b,c"), ("sensitive", "--sensitive X"), ("r", "-r 10")):
            if key not in said:
                raise InputError(
                    "spec-missing",
                    f'Nothing says "{key}".',
                    f"Add {option}, or put it into --spec.",
                )
        return Spec.from_mapping(said, source=source)


def _stated(released: str | None) -> dict[str, Any]:
    """What a release says of its own spec; nothing for a file of another tool."""
    if released is None:
        return {}
    from shoal.api.released import spec_of_own

    own = spec_of_own(released)
    return {} if own is None else own.to_mapping()


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _names(texts: Sequence[str]) -> list[str]:
    return [name for text in texts for name in _split(text)]


def numbers_by_name(texts: Sequence[str] | None) -> dict[str, Any]:
    """Numbers by what each is of, from options such as `age=10`; what is none stays a text, which
    is refused where it is used."""
    pairs = (text.rpartition("=") for text in texts or ())
    return {name or number: number_or_text(number) for name, _, number in pairs}


def _words_by_name(texts: Sequence[str]) -> dict[str, str]:
    """Words by the column they are of; without any they are empty, which Spec refuses."""
    pairs = (text.partition("=") for text in texts)
    return {name.strip(): words.strip() for name, _, words in pairs}


READ: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("qi", "identifiers", "rare_unknown"), _names),
    "protect": lambda texts: [parse_event(text) for text in texts],
    "view": lambda texts: [_split(text) for text in texts],
    "known_band": numbers_by_name,
    "title": _words_by_name,
}
"""How what is written for an option is understood; what is not here is taken as it is."""


def make_engine(name: str | None, **reading: Unpack[Reading]) -> Any:
    """The engine that is asked for."""
    from shoal.engines import engine_named

    return engine_named(name or ENGINES[0], **reading)


def read_hierarchies(given: Sequence[str] | None, *, qi: Sequence[str]) -> dict[str, Any]:
    """Hierarchies by attribute. A file for a column that is no QI is refused: it would change
    nothing."""
    from shoal.data.table.hierarchy import read_hierarchy

    files = files_by_name(given)
    for name in files:
        if name not in qi:
            problem = f'--hierarchy names "{name}", which is no QI'
            raise unknown("hierarchy-column", problem, name, qi)
    return {name: read_hierarchy(file, name=name) for name, file in files.items()}


def files_by_name(given: Sequence[str] | None, option: str = "--hierarchy") -> dict[str, str]:
    """Files by what each is for, from options such as `age=age.csv`."""
    pairs = [(text, *text.partition("=")) for text in given or ()]
    for text, name, _, file in pairs:
        if not name or not file:
            raise InputError(
                "option-form", f'{option} "{text}" is not understood.', "Write it as name=file."
            )
    return {name: file for _, name, _, file in pairs}


def refuse_existing(*paths: Path | None, force: bool, what: str = "file") -> None:
    """An InputError for what a command would write and is there already."""
    for path in paths:
        if path is not None and path.exists() and not force:
            raise InputError(
                "output-exists",
                f'"{path}" exists already.',
                f"Name another {what}, or use --force.",
            )
