"""The tables that are measured."""

from __future__ import annotations

import pytest

from benchmarks.settings import icd9_chapter


@pytest.mark.parametrize(
    ("code", "chapter"),
    [
        ("250.83", "endocrine"),
        ("296", "mental"),
        ("319", "mental"),
        ("8", "infectious"),
        ("770", "other"),
        ("V57", "other"),
        ("?", "other"),
    ],
)
def test_chapters_of_diagnoses(code: str, chapter: str) -> None:
    assert icd9_chapter(code) == chapter
