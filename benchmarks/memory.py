"""One run from file to release in this process; prints its memory as JSON.

    python -m benchmarks.memory TABLE.parquet OUT

`base` is what Python, the libraries and the loaded kernels hold before the table is read; `peak`
the most that is held from then on.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

from benchmarks.settings import hospital_subject
from shoal.pipeline import anonymize
from shoal.sources import read_table

_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def main(source: str, out: str) -> None:
    """Loads the kernels with a small table first, then runs on the table asked for."""
    small = hospital_subject(3_000)
    anonymize(small.frame, small.spec.with_(min_support=20), max_suppression=1)
    base = _start()
    frame = read_table(source)
    size = frame.estimated_size()
    anonymize(frame, small.spec).save(Path(out), format="parquet")
    print(json.dumps({"base": base, "peak": _peak(), "table": size}))


def _start() -> int:
    """The memory held now; where the system allows it, peaks are counted afresh from here."""
    if not _CLEAR.exists():
        return _peak()
    _CLEAR.write_text("5")
    return _read("VmRSS")


def _peak() -> int:
    if _STATUS.exists():
        return _read("VmHWM")
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used if sys.platform == "darwin" else used * 1024


def _read(name: str) -> int:
    for line in _STATUS.read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"{_STATUS} does not say {name}")


if __name__ == "__main__":
    main(*sys.argv[1:])
