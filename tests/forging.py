"""What a careful forger does: after an edit, everything else is made to fit it."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from polars.exceptions import PolarsError

from shoal.auditing.checks import checks_of, verdict
from shoal.auditing.findings import Judged
from shoal.errors import InputError
from shoal.plain import plain
from shoal.release import Release
from shoal.release.folder import README, data_package, table_files
from shoal.release.pair import sha256
from shoal.release.readme import readme_text
from shoal.release.stated import as_json
from shoal.release.typed import PACKAGE
from shoal.release.verification.verify import verify


def edit(folder: Path, change: Callable[[Any], None], *, texts: bool = True) -> None:
    """Changes the certificate, and makes the rest of the folder fit."""
    file = folder / "certificate.json"
    content = json.loads(file.read_text(encoding="utf-8"))
    change(content)
    file.write_text(json.dumps(content), encoding="utf-8")
    mend(folder, texts=texts)


def listed_anew(content: Any) -> None:
    """The checks and the verdict of a certificate, as its figures say."""
    audit = content["audit"]
    nearest = {
        one["name"]: (one["worst"], one["limit"])
        for one in audit["checks"]
        if one["worst"] is not None
    }
    found = checks_of(Judged.of(audit), nearest)
    audit["checks"], audit["robust"] = plain(found), verdict(found)


def mend(folder: Path, *, texts: bool = True) -> None:
    """New pages and descriptions, as far as they can be made, and new hashes."""
    if texts:
        # What cannot be read cannot be described.
        with suppress(InputError, LookupError, TypeError, AttributeError, ValueError, PolarsError):
            _write_texts(folder)
    file = folder / "certificate.json"
    content = json.loads(file.read_text(encoding="utf-8"))
    for name, claimed in content.get("files", {}).items():
        if (folder / name).is_file():
            claimed["sha256"] = sha256(folder / name)
            claimed["bytes"] = (folder / name).stat().st_size
    file.write_text(json.dumps(content, indent=2), encoding="utf-8")


def refused(folder: Path, **given: Any) -> bool:
    """Whether verify refutes a release, or says in a sentence that it cannot be read."""
    try:
        return not verify(folder, **given).confirmed
    except InputError:
        return True


def _write_texts(folder: Path) -> None:
    release = Release.load(folder)
    names = table_files(file.name for file in folder.iterdir())
    package, page = as_json(data_package(release, names)), readme_text(release, names)
    (folder / PACKAGE).write_text(package, encoding="utf-8")
    (folder / README).write_text(page, encoding="utf-8")
