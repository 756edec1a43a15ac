"""Source: where a project's table lies. Never with a password."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from shoal.data.storage.location import parse_url


@dataclass(frozen=True)
class Source:
    """A table's address, a path or a URL, and how its text is read if that is not found out."""

    address: str
    separator: str | None = None
    encoding: str | None = None

    def __post_init__(self) -> None:
        parse_url(self.address)  # refuses passwords, and what shoal does not read

    @property
    def is_url(self) -> bool:
        """Whether the table lies in a database."""
        return parse_url(self.address) is not None

    def within(self, folder: Path) -> Source:
        """The same source as commands name it in a folder: by a path relative to that if it lies
        inside, by an absolute one if not."""
        if self.is_url:
            return self
        path = (folder / self.address).resolve()
        inside = path.is_relative_to(folder.resolve())
        address = str(path.relative_to(folder.resolve()) if inside else path)
        plain = f"./{address}" if address.startswith("-") else address  # no option of a command
        return Source(plain, self.separator, self.encoding)

    def table_path(self, folder: Path) -> str:
        """The address for whoever reads the table from another working folder."""
        return self.address if self.is_url else str(folder / self.address)
