"""The command line: thin commands over the public API. Heavy imports happen inside commands."""

from __future__ import annotations

import functools
import gc
import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from shoal.cli.anonymize import anonymize
from shoal.cli.attack import attack
from shoal.cli.audit import audit
from shoal.cli.compare import compare
from shoal.cli.count import count
from shoal.cli.declaring import Headed, as_command
from shoal.cli.demo import demo
from shoal.cli.estimate import estimate
from shoal.cli.explain import explain
from shoal.cli.find import find
from shoal.cli.init import init
from shoal.cli.plan import plan
from shoal.cli.project import decide, evidence, runs, state, workbench
from shoal.cli.report import report
from shoal.cli.sign import new_key, sign
from shoal.cli.verify import verify
from shoal.cli.warm import warm
from shoal.data.spec import InputWarning
from shoal.errors import ShoalError

LIGHT: tuple[Callable[..., None], ...] = (
    *(sign, new_key, state, runs, decide, evidence, workbench),
    *(explain, warm),
)
"""Commands that hold no table in memory."""
HEAVY: tuple[Callable[..., None], ...] = (
    *(demo, init, plan, find, count, anonymize, verify, audit, attack, compare, estimate),
    report,
)


PLAIN: dict[str, Any] = {
    "pretty_exceptions_enable": False,
    "rich_markup_mode": None,
    "add_completion": False,
}
COMMANDS = {one.__name__.replace("_", "-"): one for one in (*HEAVY, *LIGHT)}


@functools.cache
def _made(name: str) -> Any:
    """A command with its options, made when it is asked for: to make all takes a while."""
    alone, command = typer.Typer(**PLAIN), COMMANDS[name]
    alone.command(name, cls=Headed)(as_command(command, memory=command in HEAVY))
    return typer.main.get_command(alone)


class _Made(Mapping[str, Any]):
    def __getitem__(self, name: str) -> Any:
        return _made(name)

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class _Commands(TyperGroup):
    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands = _Made()  # type: ignore[assignment]


app = typer.Typer(
    name="shoal",
    cls=_Commands,
    help="Limit how surely people in a published table can be linked to a sensitive value, and "
    "judge any release.",
    no_args_is_help=True,
    **PLAIN,
)


@app.callback(invoke_without_command=True)
def _options(
    version: bool = typer.Option(False, "--version", help="Show the version and stop."),
    debug: bool = typer.Option(False, "--debug", help="Show a traceback when something fails."),
) -> None:
    if version:
        from shoal._version import __version__

        typer.echo(f"shoal {__version__}")
        raise typer.Exit
    if debug:
        os.environ["SHOAL_DEBUG"] = "1"


_IN_PYTHON = re.compile(r" \(in Python [^()]*\)")
"""What messages say to whoever calls shoal from a program."""
SELDOM = (50_000, 20, 50)
"""How seldom Python looks for what nobody needs: as often as usual, it takes a ninth of the time of
compiling."""


def main() -> None:
    """Runs the program; every failure is one sentence and an exit code of 2, and so is a fault of
    its own, with a traceback. Verdicts have 0, 1 and, where none could be reached, 3."""
    _show_warnings_in_one_line()
    # Products split among threads take more time here, and end in other digits on other machines.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(*SELDOM)
    try:
        app()
    except ShoalError as error:
        _fail(f"{error} [{getattr(error, 'code', 'internal')}]")
    except MemoryError:
        _fail(
            "This takes more memory than there is. Name fewer QIs or events, give a part of the "
            "table, or set --memory, which refuses such work at once. [memory]"
        )
    except KeyboardInterrupt:
        _stop()
    except Exception as error:
        if isinstance(error, SystemError) and _is_interrupt(error):
            _stop()
        traceback.print_exc()
        sys.exit(2)


def _is_interrupt(error: BaseException | None) -> bool:
    """Whether Ctrl-C is behind an error: in compiled code it arrives wrapped, even repeatedly."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _fail(said: str) -> NoReturn:
    if os.environ.get("SHOAL_DEBUG"):
        traceback.print_exc()
    typer.echo(f"shoal: {_IN_PYTHON.sub('', said)}", err=True)
    sys.exit(2)


def _stop() -> NoReturn:
    typer.echo("shoal: stopped; nothing was written.", err=True)
    sys.exit(130)


def _show_warnings_in_one_line() -> None:
    usual = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *rest: Any, **more: Any) -> None:
        if issubclass(category, InputWarning):
            typer.echo(f"shoal: warning: {message}", err=True)
        else:
            usual(message, category, *rest, **more)

    warnings.showwarning = show
