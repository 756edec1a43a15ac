"""Source: where a project's table lies. Never with a password."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from shoal.data.storage.location import parse_url, redact, remote_scheme
from shoal.errors import InputError
from shoal.names import READING, Reading


@dataclass(frozen=True)
class Source:
    """A table's address, a path or a URL, and how it is read if that is not found out."""

    address: str
    separator: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    sheet: str | None = None

    def __post_init__(self) -> None:
        parse_url(self.address)  # refuses passwords, and what shoal does not read
        if remote_scheme(self.address) and "?" in self.address:
            raise InputError(
                "url-password",
                f"The address of {redact(self.address)} has more behind a ?, which may be a key.",
                "Give the address without it; a project keeps no keys.",
            )

    @property
    def reading(self) -> Reading:
        """How it is read, where that was said."""
        return {name: getattr(self, name) for name in READING}  # type: ignore[return-value]

    @property
    def is_url(self) -> bool:
        """Whether the table lies in a database, or on a server."""
        return bool(remote_scheme(self.address)) or parse_url(self.address) is not None

    def within(self, folder: Path) -> Source:
        """The same source as commands name it in a folder: by a path relative to that if it lies
        inside, by an absolute one if not."""
        if self.is_url:
            return self
        path = (folder / self.address).resolve()
        inside = path.is_relative_to(folder.resolve())
        address = str(path.relative_to(folder.resolve()) if inside else path)
        plain = f"./{address}" if address.startswith("-") else address  # no option of a command
        return replace(self, address=plain)

    def table_path(self, folder: Path) -> str:
        """The address for whoever reads the table from another working folder."""
        return self.address if self.is_url else str(folder / self.address)
