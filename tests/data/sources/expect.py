"""What tests expect of a mistake."""

from __future__ import annotations

import pytest

from shoal.errors import InputError


def fails_with(code: str, *parts: str) -> pytest.RaisesExc[InputError]:
    """Expects an InputError of that code whose text holds every part."""
    return pytest.RaisesExc(
        InputError,
        check=lambda error: error.code == code and all(part in str(error) for part in parts),
    )
