"""Every field of a certificate, changed in turn, everything else made to fit: verify refuses each,
or lists it among those that it takes on trust."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shoal.errors import InputError
from shoal.release.stated import read_certificate, stated_spec
from shoal.release.verification.trust import BY_THE_TABLE, ON_TRUST
from tests.forging import edit, mend, refused
from tests.release.verification.small import FRAME, saved

Way = tuple[str | int, ...]


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(tmp_path_factory.mktemp("honest"))


def leaves(told: Any, way: Way = ()) -> Iterator[Way]:
    """The ways to everything in a certificate, parts and the whole included."""
    yield way
    if isinstance(told, dict):
        for key, part in told.items():
            yield from leaves(part, (*way, key))
    elif isinstance(told, list):
        for place, part in enumerate(told):
            yield from leaves(part, (*way, place))


def changes(told: Any) -> Iterator[Any]:
    """Other values that could stand in the same place."""
    if isinstance(told, bool):
        yield not told
    elif isinstance(told, int):
        yield from (told + 1, told - 1, told * 2 + 1)
    elif isinstance(told, float):
        yield from (told / 2, told + 0.001)
    elif isinstance(told, str):
        yield from (told + "x", "")
    elif told is None:
        yield from (True, 0)
    elif isinstance(told, list):
        yield [*told, *told[-1:]] or ["x"]
        if told:
            yield told[:-1]
        if len(told) > 1 and told[::-1] != told:
            yield told[::-1]
    elif isinstance(told, dict):
        yield {**told, "note": "approved"}
        for key in told:
            yield {name: part for name, part in told.items() if name != key}
    yield from ("strange", 7, None, [], {}, True)


def put(told: Any, way: Way, value: Any) -> Any:
    if not way:
        return value
    changed = copy.deepcopy(told)
    at = changed
    for step in way[:-1]:
        at = at[step]
    at[way[-1]] = value
    return changed


def trusted(way: Way, parts: Iterator[str] | list[str]) -> bool:
    place = ".".join(str(step) for step in way if not isinstance(step, int))
    return any(place == part or place.startswith(f"{part}.") for part in parts)


def readable(folder: Path) -> bool:
    try:
        stated_spec(read_certificate(folder), folder)
    except InputError:
        return False
    return True


def passing(home: Path, folder: Path, most: int, deepest: int = 99, **given: Any) -> set[Way]:
    """The fields that can be changed without verify seeing it; so many changes of each are tried
    that are no sooner found to be nonsense."""
    certificate = json.loads((home / "release" / "certificate.json").read_text("utf-8"))
    shutil.copytree(home / "release", folder)
    found = set()
    for way in leaves(certificate):
        if way[:1] == ("files",) or len(way) > deepest:
            continue  # hashes and sizes; files are below
        told = certificate
        for step in way:
            told = told[step]
        tried = 0
        for value in changes(told):
            if value == told and type(value) is type(told):
                continue
            changed = json.dumps(put(certificate, way, value))
            (folder / "certificate.json").write_text(changed, encoding="utf-8")
            if not readable(folder):
                continue
            tried += 1
            mend(folder)
            if not refused(folder, **given):
                found.add(way)
            if way in found or tried == most:
                break
    return found


def test_with_the_private_folder_nothing_can_be_changed(honest: Path, tmp_path: Path) -> None:
    assert passing(honest, tmp_path / "release", 1, 2, private=honest / "private") == set()


def estimated(home: Path) -> set[Way]:
    """The figures of who fits odds, which verify holds against its own fit within a tolerance."""
    told = json.loads((home / "release" / "certificate.json").read_text("utf-8"))
    judges = told["audit"]["adversaries"]
    return {
        ("audit", "adversaries", place, figure)
        for place, one in enumerate(judges)
        if "residual" in one
        for figure in ("missing", "problematic", "undecided", "residual", "worst_posterior")
    }


def test_figures_of_a_fit_are_changed_by_little_only(honest: Path, tmp_path: Path) -> None:
    told = json.loads((honest / "release" / "certificate.json").read_text("utf-8"))
    folder = tmp_path / "release"
    shutil.copytree(honest / "release", folder)
    for way in estimated(honest):
        was = told["audit"]["adversaries"][way[2]][way[3]]
        more = was / 2 + 0.001 if way[3] == "worst_posterior" else 2 * was + 9
        (folder / "certificate.json").write_text(json.dumps(put(told, way, more)), "utf-8")
        mend(folder)
        assert refused(folder, table=FRAME), way


def test_with_the_table_only_what_is_taken_on_trust(honest: Path, tmp_path: Path) -> None:
    found = passing(honest, tmp_path / "release", 1, table=FRAME)
    strange = {way for way in found if not trusted(way, list(ON_TRUST))}
    assert strange <= estimated(honest)
    # Nothing is called a matter of trust that is none (models: test_model_view).
    for part in set(ON_TRUST) - {"knowledge.models"}:
        assert any(trusted(way, [part]) for way in found), part


def test_alone_only_what_needs_the_table_too(honest: Path, tmp_path: Path) -> None:
    found = passing(honest, tmp_path / "release", 1)
    strange = {way for way in found if not trusted(way, [*ON_TRUST, *BY_THE_TABLE])}
    assert not strange
    # Nobody is readable here; of those who are: tests/release/verification/test_counting.
    for part in set(BY_THE_TABLE) - {"rows", "groups.readable_by_attributes"}:
        assert any(trusted(way, [part]) for way in found), part


def test_rows_that_add_up_need_the_table(honest: Path, tmp_path: Path) -> None:
    def one_more(certificate: Any) -> None:
        certificate["rows"]["table"] += 1
        certificate["rows"]["suppressed"] += 1

    folder = Path(shutil.copytree(honest / "release", tmp_path / "release"))
    edit(folder, one_more)
    assert not refused(folder)
    assert refused(folder, table=FRAME)
