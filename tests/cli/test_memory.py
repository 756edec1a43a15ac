"""No command takes more memory for a table than --memory allows, libraries and kernels aside."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import shoal
from shoal.data.datasets import HOSPITAL_EVENT, HOSPITAL_QI, HOSPITAL_SENSITIVE, hospital

SMALL, LARGE = 3_000, 200_000
MEMORY = 500_000_000
RUN = """
import contextlib, io, re, resource, sys
from pathlib import Path
from shoal.cli import app

def run(folder):
    words = [one.replace("HOME", folder) for one in sys.argv[3:]]
    with contextlib.redirect_stdout(io.StringIO()):
        return app(words, standalone_mode=False)

run(sys.argv[1])  # loads libraries and kernels
held = 1024 * int(re.search(r"VmData:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
resource.setrlimit(resource.RLIMIT_DATA, (held + MEMORY, held + MEMORY))
run(sys.argv[2])
"""


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Folders of a small table and of a large one, with a spec and a release each."""
    folders = []
    for rows in (SMALL, LARGE):
        home = tmp_path_factory.mktemp(f"of-{rows}")
        frame = hospital(rows, seed=0)
        frame.write_parquet(home / "table.parquet")
        spec = shoal.Spec(
            qi=HOSPITAL_QI, sensitive=HOSPITAL_SENSITIVE, protect=[HOSPITAL_EVENT], r=3
        )
        (home / "spec.toml").write_text(spec.to_toml(), encoding="utf-8")
        made = shoal.anonymize(frame, spec, seed=1)
        made.save(home / "release", private=home / "release-private", format="parquet")
        folders.append(str(home))
    return folders


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="needs Linux")
@pytest.mark.parametrize(
    "command",
    [
        "anonymize HOME/table.parquet --spec HOME/spec.toml --out HOME/new --alone --force",
        "plan HOME/table.parquet --spec HOME/spec.toml --seconds 5",
        "verify HOME/release --table HOME/table.parquet",
        "attack HOME/release --table HOME/table.parquet",
        "count HOME/table.parquet --spec HOME/spec.toml --out HOME/cells.parquet --force",
        "find HOME/table.parquet --spec HOME/spec.toml --seconds 20",
        "init HOME/table.parquet --out HOME/proposed.toml --force",
        "estimate HOME/release --where sex=Female --where diagnosis=HIV",
        "compare HOME/table.parquet --spec HOME/spec.toml --methods art,anatomy",
    ],
)
def test_a_command_keeps_to_its_memory(homes: list[str], command: str) -> None:
    words = [*command.split(), "--memory", str(MEMORY)]
    script = f"MEMORY = {MEMORY}\n{RUN}"
    done = subprocess.run(
        [sys.executable, "-c", script, *homes, *words], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
