"""The page on kinds of files."""

from __future__ import annotations

from shoal.data.sources.formats import FORMATS

INTRO = """# Kinds of files

How each is given to a command is said in [Bring a table](../howto/bring-a-table.md). A file without
an ending, from a pipe or a server, is known by its first bytes.

| format | endings | written too |
| --- | --- | --- |
"""


def formats_page(made: str) -> str:
    """docs/reference/formats.md"""
    lines = (
        f"| {one.title} | {', '.join(f'`{end}`' for end in one.endings)} | "
        f"{'yes' if one.written else ''} |\n"
        for one in FORMATS
    )
    return f"{made}{INTRO}{''.join(lines)}"
