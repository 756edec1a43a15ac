"""The page on fuzzing, with the last long runs as their record has them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RECORD = Path(__file__).resolve().parents[1] / "fuzzing" / "runs.json"

TEXT = """# Fuzzing

Random input of every kind, judged by something that knows the right answer or by what must never
happen. Every try has a seed, and whatever fails is printed with the command that repeats it.

- `groups`: groups of two to six people and up to four values, with zeros and odds of ten million
  to one among the chances, in batches of 2,000 that make a table. A whole audit of it, by the
  joint and the binary adversary and with both limits, is held against every possible world,
  written down and weighed: posteriors, who is above the limit, the verdict. So are
  `joint_posterior`, `joint_bounds` and `binary_posterior` of some of the groups.
- `tables`: tables of 8 to 21 people; specs with one event or several, sets and members, both
  limits, one sensitive column or two; people in no group, pooled groups; groups at random, and by
  ART, Anatomy and Mondrian. The verdict, the problematic people, the worst posterior, counting and
  suppression disclosure are held against plain lists, exact fractions and every possible world (of
  two columns, each adversary's worst posterior and problematic people). ART must link nobody above
  the limit. The all-views adversary is held against the list of all worlds with the
  groups' cases, where that is short.
- `persons`: tables of 8 to 21 rows in which people have several, one event or two, both limits;
  groups at random, pooled ones among them, and releases. The chance that any row of a person has
  an event is held against all worlds of all groups: nobody's is above what audit and certificate
  say, nobody above the limit is promised anything, and against the binary adversary everybody is
  decided.
- `readers`: damaged files of every format that shoal reads give one sentence or an answer, never a
  traceback, an abort or a hang.
- `kills`: a run that is killed while it replaces a release leaves the old pair of folders or the
  new.

A false "robust" is the failure that matters most, and is named so.

```
make fuzz ARGS="--seconds 60 --seed 2"
python -m fuzzing tables --seconds 600 --seed 3
```

`make test` runs some seconds of each.

## The last long runs

"""
AFTER = """
A run with `--record fuzzing/runs.json` is written there, and `python -m tools` makes this page.

Below a chance of 1e-9 groups are not tried: what is left to 1 counts as a rounded nothing there,
where no other value of the table is possible.
"""


def fuzzed_page(made: str) -> str:
    """docs/fuzzing.md"""
    runs: dict[str, dict[str, Any]] = json.loads(RECORD.read_text("utf-8"))
    lines = ["| trial | date | how many | failed | seed | seconds |", "| --- " * 6 + "|"]
    lines += [
        f"| `{name}` | {run['date']} | {run['count']:,} | {run['failed']:,} | {run['seed']} | "
        f"{run['seconds']:,} |"
        for name, run in sorted(runs.items())
    ]
    return made + TEXT + "\n".join(lines) + "\n" + AFTER
