"""How many people who are alone in a release are so in the population."""

from __future__ import annotations

import numpy as np

from shoal.data.table import Table
from shoal.groups.population import Population
from shoal.release import Release
from shoal.release.verification.files import Claim
from shoal.release.verification.values import PublishedLines
from shoal.wording import REFERENCE


def check_population(release: Release, table: Table, lines: PublishedLines) -> list[Claim]:
    """How many who are alone are so in the population, where survey weights tell it. A reference
    table is the publisher's."""
    looked = release.judged.lookup
    claimed = None if looked is None else looked.population
    if looked is None or (claimed is not None and claimed.by == REFERENCE):
        return []
    people = np.bincount(lines.signature, lines.everybody, len(table.signatures)).astype(np.int64)
    found = None if release.form == "generalized" else Population.of(table, people)
    same = found == claimed
    return [Claim("alone in the population", same, "" if same else f"it is {found}")]
