"""verify: is a release what its certificate says it is, and what was asked for?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from shoal.api.inputs import Known, frame_of
from shoal.release.stated import read_certificate
from shoal.spec import Spec
from shoal.table import Table
from shoal.verification.files import Check
from shoal.verification.verify import Verification
from shoal.verification.verify import verify as verify_folder


def verify(
    path: str | Path,
    table: Any = None,
    *,
    spec: Spec | None = None,
    private: str | Path | None = None,
    knowledge: Known = None,
    hierarchies: Mapping[str, str | Path] | None = None,
) -> Verification:
    """Checks a release folder: hashes, schema, sizes and counts.

    With the original `table` (a frame, a path or URL, or a Table) every posterior is recomputed
    from what is published. With a `spec`, the release must also be what that asks for. A
    generalized release whose ranges overlap needs the publisher's `private` folder to tell who is
    in which group, and where people are missing only that folder tells who; a release judged
    against outside knowledge needs that `knowledge` again, and one judged with a model the private
    folder, without which the model's view is not judged. Columns that were recoded by a hierarchy
    need its file again: `hierarchies` by column, or in the working folder under its name.

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
    original = None if table is None else frame_of(table)
    found = verify_folder(
        path, table=original, private=private, knowledge=knowledge, hierarchies=hierarchies
    )
    if spec is None:
        return found
    stated = Spec.from_mapping(read_certificate(Path(path))["spec"])
    same = stated == spec.published()
    if not same and original is not None:  # events may be written as ranges or patterns
        same = stated == Table.from_frame(original, spec).spec.published()
    check = Check("spec", same, "" if same else "the release was made for another one")
    return replace(found, checks=(*found.checks, check))
