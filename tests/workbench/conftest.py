from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.workbench.visitor import Visitor, workbench


@pytest.fixture
def visitor(tmp_path: Path) -> Iterator[Visitor]:
    """Somebody who was let in."""
    with workbench(tmp_path / "project", upload_limit=10**6) as one:
        one.enter()
        yield one
