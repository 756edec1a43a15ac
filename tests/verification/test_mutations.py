"""Every field of a certificate and every file of a folder, changed in turn, everything else made to
fit: verify refuses each, or lists the field among those that it takes on trust."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.datasets import hospital
from shoal.errors import InputError
from shoal.release.stated import read_certificate, stated_spec
from shoal.verification.trust import BY_THE_TABLE, ON_TRUST
from tests.forging import edit, mend, refused

FRAME = hospital(300, seed=5).select("sex", "region", "age", "diagnosis")
SPEC = shoal.Spec(
    qi=["sex", "region", "age"],
    sensitive="diagnosis",
    protect=[shoal.Event(["HIV", "Schizophrenia"], label="grave"), "Influenza"],
    recode={"age": {"bands": 20}},
    min_support=20,
    r=2,
    limit="prior",
)
Way = tuple[str | int, ...]


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("mutations")
    release = shoal.anonymize(FRAME, SPEC, seed=3, totals=True, max_suppression=1)
    release.save(home / "release", private=home / "private")
    given = {"table": FRAME, "private": home / "private"}
    assert shoal.verify(home / "release", FRAME, private=given["private"]).confirmed
    assert release.totals.height
    return home


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
            if tried == most or not readable(folder):
                continue
            tried += 1
            mend(folder)
            if not refused(folder, **given):
                found.add(way)
                break
    return found


def test_with_the_private_folder_nothing_can_be_changed(honest: Path, tmp_path: Path) -> None:
    assert passing(honest, tmp_path / "release", 1, 2, private=honest / "private") == set()


def test_with_the_table_only_what_is_taken_on_trust(honest: Path, tmp_path: Path) -> None:
    found = passing(honest, tmp_path / "release", 1, table=FRAME)
    strange = {way for way in found if not trusted(way, list(ON_TRUST))}
    assert not strange
    # Nothing is called a matter of trust that is none (models: tests/verification/test_model_view).
    for part in set(ON_TRUST) - {"knowledge.models"}:
        assert any(trusted(way, [part]) for way in found), part


def test_alone_only_what_needs_the_table_too(honest: Path, tmp_path: Path) -> None:
    found = passing(honest, tmp_path / "release", 1)
    strange = {way for way in found if not trusted(way, [*ON_TRUST, *BY_THE_TABLE])}
    assert not strange
    for part in set(BY_THE_TABLE) - {"rows"}:
        assert any(trusted(way, [part]) for way in found), part


def test_rows_that_add_up_need_the_table(honest: Path, tmp_path: Path) -> None:
    def one_more(certificate: Any) -> None:
        certificate["rows"]["table"] += 1
        certificate["rows"]["suppressed"] += 1

    folder = Path(shutil.copytree(honest / "release", tmp_path / "release"))
    edit(folder, one_more)
    assert not refused(folder)
    assert refused(folder, table=FRAME)


# --- Files -------------------------------------------------------------------------------


def lines(change: Callable[[list[str]], list[str]]) -> Callable[[Path], None]:
    def edit(file: Path) -> None:
        text = file.read_text("utf-8").splitlines()
        file.write_text("\n".join(change(text)) + "\n", "utf-8")

    return edit


def bytes_(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def edit(file: Path) -> None:
        file.write_bytes(change(file.read_bytes()))

    return edit


def quoted(text: bytes) -> bytes:
    return text.replace(b"Female", b'"Female"', 1).replace(b"grave", b'"grave"', 1)


FILE_CHANGES = {
    "a space at the end": bytes_(lambda text: text + b" "),
    "an empty line": bytes_(lambda text: text + b"\n"),
    "a note": bytes_(lambda text: text + b"approved\n"),
    "the first line twice": lines(lambda text: [*text[:2], *text[1:]]),
    "no last line": lines(lambda text: text[:-1]),
    "two lines exchanged": lines(lambda text: [text[0], text[2], text[1], *text[3:]]),
    "all lines turned round": lines(lambda text: [text[0], *text[:0:-1]]),
    "other line ends": bytes_(lambda text: text.replace(b"\n", b"\r\n")),
    "one cell in quotes": bytes_(quoted),
    "another digit": bytes_(lambda text: text[::-1].replace(b"1", b"2", 1)[::-1]),
    "a byte order mark": bytes_(lambda text: b"\xef\xbb\xbf" + text),
    "nothing": bytes_(lambda text: b""),
}
"""What may happen to a file; where it changes nothing, there is nothing to see."""


@pytest.mark.parametrize("change", FILE_CHANGES)
@pytest.mark.parametrize(
    "file",
    ["qi.csv", "sensitive.csv", "members.csv", "totals.csv", "README.txt", "datapackage.json"],
)
def test_no_file_can_be_changed(honest: Path, tmp_path: Path, file: str, change: str) -> None:
    folder = Path(shutil.copytree(honest / "release", tmp_path / "release"))
    before = (folder / file).read_bytes()
    FILE_CHANGES[change](folder / file)
    if (folder / file).read_bytes() == before:
        return  # it has nothing of the kind
    mend(folder, texts=False)
    # Totals, and how often values behind labels occur, are the table's.
    needs_table = file in ("totals.csv", "members.csv")
    assert refused(folder, table=FRAME)
    assert refused(folder) or needs_table
    assert refused(folder, private=honest / "private")


def test_no_file_can_be_added(honest: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(honest / "release", tmp_path / "release"))
    (folder / "approval.txt").write_text("approved")
    assert refused(folder)
    certificate = json.loads((folder / "certificate.json").read_text("utf-8"))
    certificate["files"]["approval.txt"] = {"sha256": "0" * 64, "bytes": 0}
    (folder / "certificate.json").write_text(json.dumps(certificate), "utf-8")
    mend(folder)
    assert refused(folder)


def test_no_table_can_be_there_twice(honest: Path, tmp_path: Path) -> None:
    """The one would be hashed, the other read."""
    folder = Path(shutil.copytree(honest / "release", tmp_path / "release"))
    pl.DataFrame({"note": ["Ann has it"]}).write_parquet(folder / "qi.parquet")
    certificate = json.loads((folder / "certificate.json").read_text("utf-8"))
    more = {"qi.parquet": {"sha256": "0" * 64, "bytes": 0}}
    for files in ({**certificate["files"], **more}, {**more, **certificate["files"]}):
        told = json.dumps({**certificate, "files": files})
        (folder / "certificate.json").write_text(told, "utf-8")
        mend(folder)
        assert refused(folder)


@pytest.mark.parametrize("name", ["members.csv", "totals.csv"])
def test_no_table_can_have_another_column(honest: Path, tmp_path: Path, name: str) -> None:
    folder = Path(shutil.copytree(honest / "release", tmp_path / "release"))
    frame = pl.read_csv(folder / name, infer_schema=False)
    frame.with_columns(note=pl.lit("Ann has it")).write_csv(folder / name)
    mend(folder)
    assert refused(folder)
    assert refused(folder, table=FRAME)


def test_ranges_speak_of_published_labels_only(tmp_path: Path) -> None:
    folder = tmp_path / "release"
    release = shoal.anonymize(FRAME, SPEC, seed=3, form="generalized", max_suppression=1)
    release.save(folder)
    assert "what ranges cover" in shoal.verify(folder).on_trust
    frame = pl.read_csv(folder / "ranges.csv", infer_schema=False)
    more = pl.DataFrame({"attribute": ["sex"], "label": ["Ann"], "value": ["has it"]})
    pl.concat([frame, more]).sort(frame.columns).write_csv(folder / "ranges.csv")
    mend(folder)
    assert refused(folder)


@pytest.mark.parametrize("name", ["signatures.json", "approval"])
def test_folders_and_pipes_are_no_files(honest: Path, tmp_path: Path, name: str) -> None:
    folder = Path(shutil.copytree(honest / "release", tmp_path / "release"))
    (folder / name).mkdir()
    (folder / name / "note.txt").write_text("Ann has it")
    assert refused(folder)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"seed"', '"seed\\ud800"'),
        ('"guarantee": "', '"guarantee": "\\ud800'),
        ('"mean_with_event": ', '"mean_with_event": 1' + "0" * 400),
        ('"min_support": ', '"min_support": 1' + "0" * 400),
    ],
)
def test_what_no_number_and_no_text_holds_gets_a_sentence(
    honest: Path, tmp_path: Path, old: str, new: str
) -> None:
    folder = Path(shutil.copytree(honest / "release", tmp_path / "release"))
    text = (folder / "certificate.json").read_text("utf-8")
    assert old in text
    (folder / "certificate.json").write_text(text.replace(old, new), "utf-8")
    with pytest.raises(InputError) as raised:
        shoal.verify(folder, FRAME)
    assert raised.value.code == "certificate-damaged"


def test_a_private_folder_that_is_none_is_said(honest: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError) as raised:
        shoal.verify(honest / "release", private=tmp_path / "nowhere")
    assert raised.value.code == "private-none"


def test_a_link_is_no_file(honest: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(honest / "release", tmp_path / "release"))
    shutil.move(folder / "qi.csv", tmp_path / "elsewhere.csv")
    (folder / "qi.csv").symlink_to(tmp_path / "elsewhere.csv")
    assert refused(folder)


def annotated(table: Any, file: Path) -> None:
    from pyarrow import parquet

    notes = {**(table.schema.metadata or {}), b"carriers": b"1, 5, 9"}
    parquet.write_table(table.replace_schema_metadata(notes), file, compression="zstd")


def in_a_field(table: Any, file: Path) -> None:
    from pyarrow import parquet

    first = table.schema.field(0).with_metadata({b"carriers": b"1, 5, 9"})
    parquet.write_table(table.cast(table.schema.set(0, first)), file, compression="zstd")


def in_parts(table: Any, file: Path) -> None:
    from pyarrow import parquet

    parquet.write_table(table, file, compression="zstd", row_group_size=17)


def with_unread_bytes(table: Any, file: Path) -> None:
    content = file.read_bytes()
    foot = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    file.write_bytes(content[:foot] + b"1, 5, 9" + content[foot:])


@pytest.mark.parametrize("mark", [annotated, in_a_field, in_parts, with_unread_bytes])
def test_marks_in_a_parquet_file_are_seen(
    mark: Callable[[Any, Path], None], tmp_path: Path
) -> None:
    from pyarrow import parquet

    folder = tmp_path / "release"
    shoal.anonymize(FRAME, SPEC, seed=3, max_suppression=1).save(folder, format="parquet")
    assert not refused(folder, table=FRAME)
    mark(parquet.read_table(folder / "qi.parquet"), folder / "qi.parquet")
    mend(folder)
    assert refused(folder)


def test_carriers_first_are_seen(tmp_path: Path) -> None:
    """The order of lines, and the order of groups, both with every hash mended."""
    release = shoal.anonymize(FRAME, SPEC.with_(recode={}), seed=3, max_suppression=1)
    release.save(tmp_path / "release", private=tmp_path / "private")
    folder = tmp_path / "release"
    text = pl.read_csv(folder / "qi.csv", infer_schema=False)
    carries = pl.Series(FRAME["diagnosis"].is_in(["HIV", "Schizophrenia", "Influenza"]))
    assert release.row_groups is not None
    people = FRAME.with_columns(gid=pl.Series(release.row_groups), first=~carries).filter(
        pl.col("gid") > 0
    )
    ordered = people.sort("gid", "first").select(pl.col(text.columns).cast(pl.String))
    assert ordered.sort(text.columns).equals(text.sort(text.columns))
    assert not ordered.equals(text)
    ordered.write_csv(folder / "qi.csv")
    mend(folder)
    found = shoal.verify(folder)
    assert [check.detail for check in found.checks if not check.passed] == [
        "people of a group are not in the order of their attributes"
    ]
