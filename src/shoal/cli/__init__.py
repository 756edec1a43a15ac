"""The command line: thin commands over the public API. Heavy imports happen inside commands."""

from __future__ import annotations

import os
import sys

import typer

from shoal.cli.anonymize import anonymize
from shoal.cli.audit import audit
from shoal.cli.compare import compare
from shoal.cli.demo import demo
from shoal.cli.experiment import experiment
from shoal.cli.init import init
from shoal.cli.plan import plan
from shoal.cli.report import report
from shoal.cli.verify import verify
from shoal.errors import ShoalError

app = typer.Typer(
    name="shoal",
    help="Make a table of people safe to publish, and judge any release.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    add_completion=False,
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


for _command in (demo, init, plan, anonymize, verify, audit, compare, experiment, report):
    app.command()(_command)


def main() -> None:
    """Runs the program; every failure is one sentence and an exit code of 2."""
    try:
        app()
    except ShoalError as error:
        if os.environ.get("SHOAL_DEBUG"):
            raise
        code = getattr(error, "code", "internal")
        typer.echo(f"shoal: {error} [{code}]", err=True)
        sys.exit(2)
    except KeyboardInterrupt:
        typer.echo("shoal: stopped; nothing was written.", err=True)
        sys.exit(130)
