"""The error catalogue and the command-line reference as Markdown."""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin

from shoal.auditing.check_words import SAID
from shoal.cli.explained import Entry, collect

MADE = "<!-- Made by `python -m tools` from the source: do not edit. -->\n\n"

EXITS = """## Exit codes

| code | means |
| --- | --- |
| 0 | done; of commands that judge: robust, not beaten, not ruled out |
| 1 | judged, and not so: not robust, refuted, beaten, ruled out |
| 2 | not done: the command or an input is at fault, and a sentence says what is wrong |
| 3 | could not be judged: neither safety nor a breach could be shown |
| 130 | stopped by the user; nothing was written |

| command | 0 | 1 | 3 |
| --- | --- | --- | --- |
| `anonymize` | robust, written | not robust, not written (\\*) | not judged, not written (\\*) |
| `audit` | robust | not robust | neither could be shown |
| `verify` | confirmed, robust | refuted; or confirmed, not robust | confirmed, not judged |
| `attack` | nobody beats the limit | somebody does | too few tries to judge, or nobody tried |
| `plan` | nothing rules out the asked r | it is ruled out for somebody | |
| `demo` | robust, and confirmed | not so | |

(\\*) With `--write-anyway` it is written, and the exit code is the same.

"""


def errors_page() -> str:
    """docs/errors.md"""
    intro = (
        "# Errors\n\n"
        "When something about the input is wrong, shoal stops with one sentence that says what is "
        "wrong, one that says what to do, and a code in brackets. The exit code is 2, and nothing "
        "is written. `shoal --debug` shows the traceback as well. In Python the same error is a "
        "`shoal.InputError` with the fields `code`, `problem` and `remedy`.\n\n"
        "An `InternalError` is a fault of shoal itself: please report it.\n\n"
        "`shoal explain CODE` shows the same in the terminal, and all that a code can stand for: "
        "below is one case of each. … stands for what is filled in: a name, a number, a list.\n"
    )
    checks = _rows("check", "why it is checked", "what to do if it is not kept") + "".join(
        _row(said.title, said.reason, said.remedy) for said in SAID.values()
    )
    errors = _rows("code", "what is wrong", "what to do") + "".join(map(_error, collect()))
    return f"{MADE}{intro}\n## Checks of the verdict\n\n{checks}\n## Errors by code\n\n{errors}"


def _error(entry: Entry) -> str:
    return _row(f"`{entry.code}`", entry.problems[0], entry.remedies[0])


def _rows(*heads: str) -> str:
    return _row(*heads) + _row(*("---" for _ in heads))


def _row(first: str, *texts: str) -> str:
    cells = (_plain(text).replace("|", "\\|") for text in texts)
    return f"| {' | '.join([first, *cells])} |\n"


def cli_page() -> str:
    """docs/reference/cli.md"""
    import typer.main

    from shoal.cli import app

    command = typer.main.get_command(app)
    text = MADE + f"# Command line\n\n{_plain(command.help or '')}\n\n"
    text += "`shoal COMMAND --help` shows the same in the terminal.\n\n" + EXITS
    text += _parameters(command)
    for name, one in sorted(command.commands.items()):  # type: ignore[attr-defined]
        text += _command(f"shoal {name}", one)
    return text


def _command(path: str, command: Any) -> str:
    arguments = " ".join(p.name.upper() for p in command.params if p.param_type_name == "argument")
    usage = " ".join(part for part in (path, arguments, "[OPTIONS]") if part)
    text = f"\n## {path}\n\n{_plain(command.help or '')}\n\n```text\n{usage}\n```\n\n"
    if hasattr(command, "commands"):
        for name, one in sorted(command.commands.items()):
            text += _command(f"{path} {name}", one)
        return text
    return text + _parameters(command)


def _parameters(command: Any) -> str:
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    headed = command.headed() if hasattr(command, "headed") else {"": command.params}
    (_, first), *others = headed.items() or [("", [])]
    tables = [_table([*arguments, *first])]
    tables += [f"**{heading}**\n\n{_table(options)}" for heading, options in others]
    return "\n".join(tables)


def _table(parameters: list[Any]) -> str:
    lines = ["| name | meaning | default |", "| --- | --- | --- |"]
    for parameter in parameters:
        if parameter.param_type_name == "argument":
            name = parameter.name.upper()
        else:
            name = ", ".join(f"`{option}`" for option in parameter.opts)
        lines.append(f"| {name} | {_meaning(parameter)} | {_default(parameter)} |")
    return "\n".join(lines) + "\n"


def _meaning(parameter: Any) -> str:
    text = _plain(getattr(parameter, "help", None) or "")
    kind = parameter.type_descriptor.annotation
    metavar = getattr(parameter, "metavar", None) or ""
    choices = get_args(kind) if get_origin(kind) is Literal else metavar.split("|")
    if len(choices) > 1:
        shown = ", ".join(f"`{one}`" for one in choices)
        text = f"{text} One of {shown}."
    return text.replace("|", "\\|")


def _default(parameter: Any) -> str:
    if parameter.required:
        return "required"
    value = parameter.default
    empty = value is None or value is False or value == [] or value == ()
    return "" if empty else f"`{value}`"


def _plain(text: str) -> str:
    """One line, safe inside Markdown."""
    joined = " ".join(text.split())
    for sign in ("<", "*", "_"):
        joined = joined.replace(sign, f"\\{sign}")
    return joined
