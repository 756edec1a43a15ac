"""What a parameter means is said once, where it is declared: below the field of a dataclass, or
under `Args:` in the docstring of a function. Help, pages and forms read it there, from the source,
so that they need nothing that computes."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

_READING = threading.Lock()
"""Python 3.11 may fail where several threads make syntax trees at the same time."""
_SECTION = re.compile(r"^(?:Args|Returns|Raises|Examples?):$", re.MULTILINE)
_ARGUMENT = re.compile(r"^    (\w+): ", re.MULTILINE)


@dataclass(frozen=True)
class Parameter:
    """One parameter."""

    name: str
    type: str
    default: Any
    help: str


def parse(source: str) -> ast.Module:
    """The syntax tree of a source, or of a part of one."""
    with _READING:
        return ast.parse(textwrap.dedent(source))


def fields_of(source: str, kind: str) -> Iterator[Parameter]:
    """The fields of a dataclass, with the text below each."""
    (body,) = (
        one.body for one in parse(source).body if isinstance(one, ast.ClassDef) and one.name == kind
    )
    for field, below in pairwise([*body, ast.Pass()]):
        if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
            continue
        annotation = ast.unparse(field.annotation)
        if annotation.startswith("ClassVar"):
            continue
        told = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
        yield Parameter(
            field.target.id,
            annotation,
            None if field.value is None else ast.literal_eval(field.value),
            " ".join(str(below.value.value).split()) if told else "",  # type: ignore[attr-defined]
        )


def docstring_of(source: str, function: str) -> str:
    """The docstring of a function of a source."""
    found = (
        one
        for one in parse(source).body
        if isinstance(one, ast.FunctionDef) and one.name == function
    )
    return ast.get_docstring(next(found)) or ""


def summary_of(docstring: str) -> str:
    """A docstring without its sections."""
    return _SECTION.split(inspect.cleandoc(docstring), maxsplit=1)[0].strip()


def arguments_of(docstring: str) -> dict[str, str]:
    """What a docstring says of each argument."""
    _, _, rest = inspect.cleandoc(docstring).partition("\nArgs:\n")
    section = _SECTION.split(rest, maxsplit=1)[0]
    _, *found = _ARGUMENT.split("\n" + section)
    return {
        name: " ".join(text.split()) for name, text in zip(found[::2], found[1::2], strict=True)
    }
