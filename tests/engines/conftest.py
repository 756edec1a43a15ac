"""One small session on this machine for all tests of the Spark engine that need no cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.engines.spark.sessions import stopped_at_the_end


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    home = tmp_path_factory.mktemp("spark")
    with stopped_at_the_end("local[2]", home, **{"spark.sql.shuffle.partitions": "2"}) as session:
        yield session
