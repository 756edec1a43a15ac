"""The same bytes on any number of threads."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import shoal
from shoal.data.datasets import HOSPITAL_EVENT, hospital

NUMBER = "scipy_openblas_get_num_threads64_"


def made(folder: Path, threads: int, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """Every file of a release and of its private folder, and what attackers achieve."""
    monkeypatch.setattr(os, "cpu_count", lambda: threads)
    folder.mkdir()
    spec = shoal.Spec(
        qi=["age", "sex", "region"], sensitive="diagnosis", protect=[HOSPITAL_EVENT], r=3
    )
    release = shoal.anonymize(hospital(2_000, seed=3), spec, seed=5)
    release.save(folder / "release", private=folder / "private")
    found = shoal.attack(release).to_dict()
    for one in (found, *found["attackers"]):
        del one["seconds"]
    files = (file for file in folder.rglob("*") if file.is_file())
    return {file.name: file.read_bytes() for file in files} | {"attack": found}


def test_threads_make_no_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone, crowd = (made(tmp_path / str(n), n, monkeypatch) for n in (1, 4))
    assert alone == crowd


def test_products_are_made_by_one_thread_and_settings_put_back() -> None:
    """In a program of its own, where nothing says how many threads there are."""
    code = (
        "import ctypes, numpy as np\n"
        "from shoal.methods.art.threads import one_thread\n"
        "library = ctypes.CDLL(np.linalg._umath_linalg.__file__)\n"
        "number = library.scipy_openblas_get_num_threads64_\n"
        "library.scipy_openblas_set_num_threads64_(3)\n"
        "before = number()\n"
        "try:\n"
        "    with one_thread():\n"
        "        inside = number()\n"
        "        raise ValueError\n"
        "except ValueError:\n"
        "    print(inside, before == number())\n"
    )
    if not hasattr(ctypes.CDLL(np.linalg._umath_linalg.__file__), NUMBER):
        pytest.skip("NumPy was built with another BLAS")
    given = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=given, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["1", "True"]
