"""What can be looked up by a code: the errors, read from the source that raises them, and the
checks of a verdict. `shoal explain` and docs/errors.md are made of it.

The source is read, not run: calls of InputError, and of `unknown`, which makes one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from shoal.auditing.check_words import SAID, Said

SOURCE = Path(__file__).resolve().parents[1]
GAP = "…"
CHOOSE = f"Choose among: {GAP}."
"""What `unknown` says to do."""
RAISES = ("InputError", "unknown")


@dataclass
class Entry:
    """One code with the sentences that go with it."""

    code: str
    problems: list[str] = field(default_factory=list)
    remedies: list[str] = field(default_factory=list)


@cache
def collect(source: Path = SOURCE) -> list[Entry]:
    """All entries, by code; the source stays as it is while a process runs."""
    entries: dict[str, Entry] = {}
    for path in sorted(source.rglob("*.py")):
        written = path.read_text("utf-8")
        if not any(f"{name}(" in written for name in RAISES):
            continue
        tree = ast.parse(written)
        for code, problem, remedy in _raised(tree):
            entry = entries.setdefault(code, Entry(code))
            for known, new in ((entry.problems, problem), (entry.remedies, remedy)):
                if new not in known:
                    known.append(new)
    return [entries[code] for code in sorted(entries)]


def check_named(word: str) -> Said | None:
    """A check by its name or its title."""
    titles = {said.title.lower(): said for said in SAID.values()}
    return SAID.get(word) or titles.get(word.lower())


def _raised(tree: ast.Module) -> Iterator[tuple[str, str, str]]:
    constants = _assigned(tree.body)
    seen: set[ast.Call] = set()
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
    functions = [one for one in functions if one.name != "unknown"]
    for function in functions:
        local = constants | _assigned(list(ast.walk(function)))
        for call in _calls(function, "unknown"):
            if call not in seen:
                seen.add(call)
                yield (_text(call.args[0], local), f"{_text(call.args[1], local)}.", CHOOSE)
        for call in _calls(function, "InputError"):
            if call in seen:
                continue
            seen.add(call)
            code, problem, remedy = _three(call)
            if not isinstance(code, ast.Constant):
                raise SystemExit(f"line {call.lineno}: the code of an InputError is no plain text")
            yield (str(code.value), _text(problem, local), _text(remedy, local))


def _three(call: ast.Call) -> list[ast.expr]:
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    names = ("code", "problem", "remedy")
    return [*call.args, *(named[name] for name in names[len(call.args) :])]


def _calls(tree: ast.AST, name: str) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
            yield node


def _assigned(nodes: list[ast.stmt] | list[ast.AST]) -> dict[str, ast.expr]:
    """Names that are given a text once, so that a message held in a variable can be read."""
    found: dict[str, ast.expr] = {}
    for node in nodes:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
            if isinstance(target, ast.Name) and isinstance(
                node.value, ast.Constant | ast.JoinedStr
            ):
                found[target.id] = node.value
    return found


def _text(node: ast.expr, known: dict[str, ast.expr]) -> str:
    """A message with a gap for everything that is filled in."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part, known) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        hint = isinstance(node.value, ast.Call) and ast.unparse(node.value.func) == "nearest"
        return "" if hint else GAP
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _text(node.left, known) + _text(node.right, known)
    if isinstance(node, ast.IfExp):
        return f"{_text(node.body, known)} / {_text(node.orelse, known)}"
    if isinstance(node, ast.Name) and node.id in known:
        return _text(known[node.id], known)
    return GAP
