"""Texts stand in one place: each is used, and pages name no other."""

from __future__ import annotations

import re
from importlib.resources import files

from shoal.workbench.texts import TEXTS


def sources() -> str:
    """All pages and templates."""
    root = files("shoal.workbench")
    found = [*(root / "templates").iterdir(), *(root / "pages").iterdir(), *root.iterdir()]
    return "".join(
        one.read_text("utf-8")
        for one in found
        if one.is_file() and "texts" not in one.name and one.name.endswith((".py", ".j2"))
    )


def test_every_text_that_is_named_is_there() -> None:
    named = set(re.findall(r"""\bsay\(\s*["']([a-z_.-]+)["'][,)]""", sources()))
    assert len(named) > 100
    assert named <= set(TEXTS)


def test_every_text_is_used() -> None:
    written = sources()

    def used(key: str) -> bool:
        """Named as a whole, or made of a front and what a page adds to it."""
        fronts = [key[: dot.end()] for dot in re.finditer(r"\.", key)]
        return f'"{key}"' in written or any(
            f'"{front}" ~' in written or f"{front}{{" in written for front in fronts
        )

    assert [key for key in TEXTS if not used(key)] == []
