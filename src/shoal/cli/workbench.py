"""`shoal workbench`: make, judge and decide a release in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def workbench(
    project: Path = Path(),
    /,
    port: Annotated[
        int, typer.Option("--port", help="The port on 127.0.0.1 (0: any).", min=0, max=65535)
    ] = 0,
    no_browser: bool = False,
    upload_limit: str = "10GB",
) -> None:
    """Open a project in the browser, on this machine alone. The address works once.

    Args:
        project: The project's folder; it is made if there is none.
        no_browser: Only print the address.
        upload_limit: How large a dropped file may be, such as 2GB.
    """
    from shoal.errors import missing_extra
    from shoal.memory import parse_size

    try:
        from shoal.workbench.server import serve
    except ModuleNotFoundError as error:
        if error.name not in ("starlette", "uvicorn", "python_multipart"):
            raise
        raise missing_extra("The workbench", error.name.replace("_", "-")) from None

    def tell(address: str) -> None:
        typer.echo(f"Open {address}")
        typer.echo("It works once, in one browser on this machine. Ctrl-C ends the workbench.")

    serve(
        project, port=port, browser=not no_browser, upload_limit=parse_size(upload_limit), tell=tell
    )
