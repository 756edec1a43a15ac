"""Where a table is: a path or a database URL, and how to show either without giving away secrets.

A database URL is `duckdb:///path.db?table=t` or `postgresql://user@host:port/db?table=t`; in place
of `table` it may end in `query=select ...`, which takes all the rest of the text (percent-encoded
where it holds a `%`). After `duckdb://`, `/path` is relative if such a file exists, `//path` never.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from shoal.errors import InputError, nearest

PIPED = "-"
"""The address of what is piped in."""
REMOTE = ("https", "http", "s3", "gs", "az")
SCHEMES = {"duckdb": "duckdb", "postgresql": "postgresql", "postgres": "postgresql"}
POSTGRES_OPTIONS = (
    "application_name",
    "channel_binding",
    "connect_timeout",
    "gssencmode",
    "passfile",
    "sslcert",
    "sslkey",
    "sslmode",
    "sslrootcert",
    "target_session_attrs",
)
_KNOWN = ("table", "query", *POSTGRES_OPTIONS)
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://(.*)", re.DOTALL)
# Host, port and the rest of a place that names no user.
_PLACE = re.compile(r"(\[[^\]]*\]|[^:/?@\[\]]*)(:\d+)?(/[^:?@]*)?")
_SECRET = re.compile(r"(?i)((?:pass(?:word|wd|phrase)?|pwd|secret|token)\s*=\s*)[^\s&;]+")


@dataclass(frozen=True)
class DatabaseUrl:
    """A database URL, taken apart; it holds no password."""

    scheme: str
    place: str
    """What stands between `://` and `?`."""
    table: str | None
    query: str | None
    options: tuple[tuple[str, str], ...]
    """Further options, as the driver wants them."""
    shown: str
    """The URL as it may be shown."""

    @property
    def path(self) -> Path | None:
        """The file of a DuckDB database; None if the database is on a server."""
        if self.scheme != "duckdb":
            return None
        relative, absolute = Path(self.place.removeprefix("/")), Path(self.place)
        try:
            return absolute if absolute.is_file() and not relative.is_file() else relative
        except PermissionError:
            return absolute


def redact(source: str | Path) -> str:
    """The source as logs, certificates and reports may show it: without user, password or SQL."""
    text = str(source)
    url = _URL.fullmatch(text)
    if url is None:
        return _SECRET.sub(r"\1***", re.sub(r":[^@]*@", ":***@", text))
    scheme, rest = url[1].lower(), url[2]
    if scheme in REMOTE:  # what stands behind ? may be a key
        place, slash, path = re.split(r"[?#]", rest, maxsplit=1)[0].partition("/")
        return f"{scheme}://{place.rpartition('@')[2]}{slash}{path}"
    if scheme != "duckdb":
        rest = _without_user(rest)
    place, _, parameters = rest.partition("?")
    kept = [
        f"{name}={value if name == 'table' else '(not shown)'}"
        for name, value in _parameters(parameters)
        if name in ("table", "query")
    ]
    return _SECRET.sub(r"\1***", f"{scheme}://{place}{'?' if kept else ''}{'&'.join(kept)}")


def parse_url(source: str) -> DatabaseUrl | None:
    """The parts of a database URL, or None if the source is a path, or a file on a server."""
    url = _URL.fullmatch(source)
    if url is None or remote_scheme(source):
        return None
    scheme, rest = url[1].lower(), url[2]
    shown = redact(source)
    if scheme not in SCHEMES:
        raise InputError(
            "url",
            f'shoal does not read "{scheme}://" addresses{nearest(scheme, SCHEMES)}.',
            f"Give a file, duckdb:///file?table=..., postgresql://user@host/database?table=..., or "
            f"an address with {', '.join(f'{one}://' for one in REMOTE if one != 'http')}.",
        )
    place, _, parameters = rest.partition("?")
    given = dict(_parameters(parameters))
    if SCHEMES[scheme] == "postgresql":
        _check_place(place, given)
    if bool(given.get("table", "").strip()) == bool(given.get("query", "").strip()):
        raise InputError(
            "url",
            f"{shown} does not say what to read.",
            "End it in ?table=NAME, or in ?query=SELECT ..., not both.",
        )
    table, query = given.pop("table", None), given.pop("query", None)
    allowed = POSTGRES_OPTIONS if SCHEMES[scheme] == "postgresql" else ()
    for name in given:
        if name not in allowed:
            raise InputError(
                "url",
                f"{shown} has an option that is not passed on to the database.",
                f"Possible are table, query{''.join(f', {option}' for option in allowed)}.",
            )
    return DatabaseUrl(SCHEMES[scheme], place, table, query, tuple(given.items()), shown)


def remote_scheme(source: str | Path) -> str:
    """By which of `REMOTE` a file is fetched, or an empty text; an InputError for a password."""
    url = _URL.fullmatch(str(source))
    if url is None or url[1].lower() not in REMOTE:
        return ""
    if "@" in re.split(r"[/?#]", url[2], maxsplit=1)[0]:
        raise InputError(
            "url-password",
            f"{redact(source)} is given with a user or a password.",
            "Take it out, and set credentials where the programs of that server look for them.",
        )
    return url[1].lower()


def source_path(source: str | Path) -> Path | None:
    """The file or folder that a source lies in; None if it is on a server, or piped in."""
    if str(source) == PIPED or remote_scheme(source):
        return None
    url = parse_url(str(source))
    return Path(source) if url is None else url.path


def check_readable(path: Path) -> None:
    """An InputError if there is no such file (with the nearest name), or it may not be read."""
    try:
        with path.open("rb") as file:
            file.read(1)
    except FileNotFoundError:
        hint = nearest(path.name, _similar_names(path))
        raise InputError(
            "file-missing", f'There is no file "{redact(path)}"{hint}.', "Check the path."
        ) from None
    except PermissionError:
        raise InputError(
            "file-unreadable",
            f'"{path}" may not be read by this user.',
            "Change its permissions, or run as a user who may read it.",
        ) from None
    except OSError as error:
        raise InputError(
            "file-unreadable", f'"{redact(path)}" cannot be read: {error.strerror}.', "Check it."
        ) from None


def _parameters(text: str) -> list[tuple[str, str]]:
    # `query=` takes the rest, so that SQL may hold `&`.
    if text.startswith("query="):
        return [("query", unquote(text.removeprefix("query=")))]
    first, mark, rest = text.partition("&")
    name, _, value = first.partition("=")
    pair = [(name, unquote(value))] if first else []
    return pair + (_parameters(rest) if mark else [])


def _without_user(rest: str) -> str:
    place, mark, parameters = rest.partition("?")
    user, _, bare = place.rpartition("@")
    names_known = all(name in _KNOWN for name, _ in _parameters(parameters))
    if _PLACE.fullmatch(bare) and ":" not in user and (names_known or "@" not in parameters):
        return bare + mark + parameters
    # A password may hold any sign at all, so everything up to the last @ may belong to it.
    bare, mark, parameters = rest.rpartition("@")[2].partition("?")
    return bare + mark + parameters if _PLACE.fullmatch(bare) else "(not shown)"


def _check_place(place: str, given: dict[str, str]) -> None:
    user, _, bare = place.rpartition("@")
    if ":" in user or any("pass" in name and name != "passfile" for name in given):
        raise InputError(
            "url-password",
            "The PostgreSQL address holds a password.",
            "Take it out, and set PGPASSWORD or use ~/.pgpass.",
        )
    if not _PLACE.fullmatch(bare):
        raise InputError(
            "url",
            "The PostgreSQL address does not name a host, a port and a database.",
            "Write postgresql://user@host:5432/database?table=...",
        )


def _similar_names(path: Path) -> list[str]:
    """Names in the same folder that are alike without their endings too."""
    try:
        names = sorted(entry.name for entry in path.parent.iterdir())
    except OSError:
        return []
    return [name for name in names if nearest(path.stem, [Path(name).stem])]
