"""Serving: on this machine's own address alone, one server for a project."""

from __future__ import annotations

import os
import socket
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path

import uvicorn

from shoal.errors import InputError
from shoal.workbench.app import import_pages, make_app
from shoal.workbench.bench import Bench
from shoal.workbench.project import Project
from shoal.workbench.security import Keys

HOST = "127.0.0.1"
FIRST_SECONDS = 1.5
"""Left to the first page, before all others are imported beside it."""
AT_ONCE = 512
"""Connections that are answered at the same time."""


def serve(
    folder: Path, *, port: int, browser: bool, upload_limit: int, tell: Callable[[str], None]
) -> None:
    """Serves a project until it is interrupted; `tell` says where."""
    project = Project.open(folder, create=True)
    with _listening(port) as listener:
        keys = Keys(listener.getsockname()[1])
        address = f"http://{HOST}:{keys.port}"
        with project.lock({"address": address}):
            os.chdir(project.folder)  # files that a spec or an address names lie there
            app = make_app(Bench(project, upload_limit), keys)
            tell(f"{address}/?token={keys.token}")
            if browser:
                webbrowser.open(f"{address}/?token={keys.token}")
            importing = threading.Timer(FIRST_SECONDS, import_pages)
            importing.daemon = True
            importing.start()
            server(app).run(sockets=[listener])


def server(app: object) -> uvicorn.Server:
    """How requests are answered: no log of addresses, no name of the server."""
    config = uvicorn.Config(
        app,  # type: ignore[arg-type]
        access_log=False,
        log_level="warning",
        server_header=False,
        date_header=False,
        limit_concurrency=AT_ONCE,
        timeout_graceful_shutdown=2,
        lifespan="off",
        ws="none",
    )
    return uvicorn.Server(config)


def _listening(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
        listener.listen(AT_ONCE)  # whoever asks from now on waits for the answer
    except OSError as error:
        listener.close()
        raise InputError(
            "port", f"Port {port} cannot be used: {error.strerror}.", "Name another with --port."
        ) from None
    return listener
