"""verify: is a release what its certificate says it is, and what was asked for?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from shoal.api.inputs import Known
from shoal.data.spec import Spec
from shoal.data.table import Table
from shoal.engines import Engine, default_engine, engine_of
from shoal.release.stated import read_certificate, stated_spec
from shoal.release.verification.files import Claim
from shoal.release.verification.verify import Verification
from shoal.release.verification.verify import verify as verify_folder


def verify(
    path: str | Path,
    table: Any = None,
    *,
    spec: Spec | None = None,
    private: str | Path | None = None,
    chain: Sequence[str | Path] | None = None,
    knowledge: Known = None,
    hierarchies: Mapping[str, str | Path] | None = None,
    key: str | Path | None = None,
    engine: Engine | None = None,
) -> Verification:
    """Checks whether a release folder is what its certificate says, and what was asked for.

    By itself: hashes, schema, sizes and counts. With the original table every posterior is
    recomputed from what is published; rows of a large file are never in memory as a whole.

    Args:
        path: The folder of the release.
        table: The original table (a frame, a path or URL, or a Table): recompute every posterior
            from it.
        spec: What the release must have been made for.
        private: The publisher's private folder: it says who is in which group of a generalized
            release whose ranges overlap, who is missing, and what a model foretold.
        chain: The folders of all releases before it, in order: their groups must be published
            again as they were.
        knowledge: The outside knowledge that the release was judged against.
        hierarchies: The files that columns were recoded by, by column; looked for in the working
            folder unless given.
        key: A public key: the release must be signed with it.
        engine: Who counts the table; Polars on this machine unless given.

    Returns:
        Each check, and whether the certificate is confirmed.

    Raises:
        InputError: There is no release that can be read, or the table is another.

    >>> import shoal
    >>> hospital = shoal.datasets.hospital(2000, seed=0)
    >>> spec = shoal.Spec(
    ...     qi=["sex", "region"], sensitive="diagnosis", protect=[["HIV", "Schizophrenia"]], r=5
    ... )
    >>> shoal.anonymize(hospital, spec).save("release")
    >>> shoal.verify("release", hospital, spec=spec).confirmed
    True
    >>> shoal.verify("release", spec=spec.with_(r=10)).confirmed
    False
    """
    original = table.frame if isinstance(table, Table) else table
    holds = engine or engine_of(original) or default_engine()
    found = verify_folder(
        path,
        table=original,
        private=private,
        chain=chain,
        knowledge=knowledge,
        hierarchies=hierarchies,
        key=key,
        engine=holds,
    )
    if spec is None:
        return found
    folder = Path(path)
    stated = stated_spec(read_certificate(folder), folder)
    asked = spec.published()
    if stated != asked and original is not None:  # events may be written as ranges or patterns
        asked = holds.count(original, spec).spec.published()
    check = Claim("what was asked for", stated == asked, _differences(stated, asked))
    return replace(found, checks=(*found.checks, check))


def _differences(stated: Spec, asked: Spec) -> str:
    """Where a release was made for something else than was asked for."""
    other = [one for one in fields(Spec) if getattr(stated, one.name) != getattr(asked, one.name)]
    shown = stated.to_mapping(), asked.to_mapping()
    told = [
        f"{one.name} is {shown[0].get(one.name, one.default)!r}, not "
        f"{shown[1].get(one.name, one.default)!r}"
        for one in other
    ]
    return "; ".join(told)
