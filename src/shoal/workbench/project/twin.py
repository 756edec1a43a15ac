"""The same in Python: a program for a command line that a run works off."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.errors import InternalError

FLAGS = ("json", "models", "write_anyway")
READING = ("separator", "encoding")
# What the command line does besides, and Python has no need of or does otherwise.
TEXTS = ("column", "groups", "key", "knowledge", "method", "model")
ASKED = ("spec", "r", "limit")
WRITTEN = ("write_anyway", "report", "public_report", "out", "private")
ASIDE = ("json", "table", *WRITTEN, *ASKED, *READING)


class _Command:
    """A command line taken apart: what it is about, and its options by name."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self.verb, self.subject, *rest = arguments
        self.options: dict[str, list[str]] = {}
        given = iter(rest)
        for text in given:
            name = text.removeprefix("--").replace("-", "_")
            flag = name in FLAGS or name.startswith("no_")
            self.options.setdefault(name, []).append("" if flag else next(given))

    def one(self, name: str) -> str | None:
        return self.options.get(name, [None])[-1]

    def read(self, address: str) -> str:
        """How a table is named: by its address, or read first where it must be said how."""
        how = [f"{name}={self.one(name)!r}" for name in READING if self.one(name) is not None]
        return f"shoal.read_table({', '.join([repr(address), *how])})" if how else repr(address)


def python_of(arguments: Sequence[str]) -> str:
    """A program that does what a command line of a run does, and holds the same figures."""
    command = _Command(arguments)
    writers = {
        "anonymize": _anonymize,
        "plan": _plan,
        "find": _find,
        "audit": _audit,
        "verify": _verify,
        "attack": _attack,
    }
    if command.verb not in writers:
        raise InternalError(f"{command.verb} is no step of a run")
    lines = writers[command.verb](command)
    gap = [] if lines[0].startswith("from ") else [""]
    return "\n".join(["import shoal", *gap, *lines, ""])


def _anonymize(command: _Command) -> list[str]:
    out, private = command.one("out"), command.one("private")
    first = [command.read(command.subject), "spec"]
    files = [text.partition("=") for text in command.options.get("hierarchy", ())]
    if files:
        read = ", ".join(f"{qi!r}: read_hierarchy({file!r}, name={qi!r})" for qi, _, file in files)
        first.append(f"hierarchies={{{read}}}")
    return [
        *(["from shoal.data.table.hierarchy import read_hierarchy", ""] if files else []),
        *_spec(command),
        _call("release", "anonymize", first, command, besides=("hierarchy",)),
        f"release.save({out!r}, private={private!r})",
    ]


def _plan(command: _Command) -> list[str]:
    read = command.read(command.subject)
    return [*_spec(command), _call("plan", "plan", [read, "spec"], command)]


def _find(command: _Command) -> list[str]:
    read = command.read(command.subject)
    return [*_spec(command), _call("found", "find", [read, "spec"], command)]


def _audit(command: _Command) -> list[str]:
    subject, released = command.read(command.subject), command.one("released")
    told = [] if released is None else [f"released={command.read(released)}"]
    call = _call("audit", "audit", [subject, "spec", *told], command, besides=("released",))
    return [*_spec(command), call]


def _verify(command: _Command) -> list[str]:
    return [_of_release("checked", command)]


def _attack(command: _Command) -> list[str]:
    return [_of_release("attack", command)]


def _of_release(name: str, command: _Command) -> str:
    table, private = command.one("table"), command.one("private")
    told = [repr(command.subject)]
    told += [] if table is None else [f"table={command.read(table)}"]
    told += [] if private is None else [f"private={private!r}"]
    files = [text.partition("=") for text in command.options.get("hierarchy", ())]
    told += [f"hierarchies={ {column: file for column, _, file in files}!r}"] if files else []
    return _call(name, command.verb, told, command, besides=("hierarchy",))


def _spec(command: _Command) -> list[str]:
    given = {name: command.one(name) for name in ASKED[1:]}
    told = [f"{name}={_literal(text)}" for name, text in given.items() if text is not None]
    other = f".with_({', '.join(told)})" if told else ""
    return [f"spec = shoal.Spec.from_toml({command.one('spec')!r}){other}"]


def _call(
    name: str, verb: str, first: list[str], command: _Command, *, besides: tuple[str, ...] = ()
) -> str:
    told = [
        *first,
        *(
            _argument(option, values)
            for option, values in command.options.items()
            if option not in (*ASIDE, *besides)
        ),
    ]
    line = f"{name} = shoal.{verb}({', '.join(told)})"
    if len(line) <= 88:
        return line
    return "\n".join([f"{name} = shoal.{verb}(", *(f"    {one}," for one in told), ")"])


def _argument(option: str, values: list[str]) -> str:
    if option in FLAGS:
        return f"{option}=True"
    if option.startswith("no_"):
        return f"{option.removeprefix('no_')}=False"
    if option == "adversary":
        return f"adversary={values!r}"
    if option == "attacker":
        return f"attackers={values!r}"
    return f"{option}={repr(values[-1]) if option in TEXTS else _literal(values[-1])}"


def _literal(text: str) -> str:
    """A number as it is written, any other text in quotation marks."""
    for kind in (int, float):
        try:
            return repr(kind(text))
        except ValueError:
            continue
    return repr(text)
