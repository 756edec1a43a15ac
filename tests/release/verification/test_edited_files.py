"""Every file of a release folder, changed in turn, everything else made to fit: verify refuses."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.errors import InputError
from tests.forging import edit, mend, refused
from tests.release.verification.small import FRAME, SPEC, saved


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(tmp_path_factory.mktemp("honest"))


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
    ["qi.csv", "sensitive.csv", "members.csv", "README.txt", "datapackage.json"],
)
def test_no_file_can_be_changed(honest: Path, tmp_path: Path, file: str, change: str) -> None:
    folder = Path(shutil.copytree(honest / "release", tmp_path / "release"))
    before = (folder / file).read_bytes()
    FILE_CHANGES[change](folder / file)
    if (folder / file).read_bytes() == before:
        return  # it has nothing of the kind
    mend(folder, texts=False)
    # How often values behind labels occur is the table's.
    needs_table = file == "members.csv"
    assert refused(folder, table=FRAME)
    assert refused(folder) or needs_table
    assert refused(folder, private=honest / "private")


@pytest.fixture
def reworded(honest: Path, tmp_path: Path) -> Path:
    """A release that earlier code of this version wrote, in other words."""
    folder = Path(shutil.copytree(honest / "release", tmp_path / "release"))
    text = (folder / "README.txt").read_text("utf-8")
    (folder / "README.txt").write_text(text.replace("Nobody is left out. ", "All are here. "))
    edit(folder, lambda told: told.update(software=told["software"][:-1]), texts=False)
    return folder


def test_what_earlier_code_wrote_in_other_words_is_confirmed(honest: Path, reworded: Path) -> None:
    for table in (None, FRAME):
        found = shoal.verify(reworded, table)
        assert found.confirmed, found
        assert "README.txt, which other code wrote" in found.on_trust
    assert "README.txt" not in str(shoal.verify(honest / "release").on_trust)


def test_a_page_of_earlier_code_belongs_to_its_certificate(honest: Path, reworded: Path) -> None:
    """Whose hash is not mended is refuted; whose is, by the private folder."""
    assert refused(reworded, private=honest / "private")
    text = (reworded / "README.txt").read_text("utf-8")
    (reworded / "README.txt").write_text(text.replace("300", "301"), "utf-8")
    assert refused(reworded)


@pytest.mark.parametrize("figure", ["300 people", "2-robust", "20 rows"])
def test_a_page_with_other_figures_is_refuted(honest: Path, tmp_path: Path, figure: str) -> None:
    folder = Path(shutil.copytree(honest / "release", tmp_path / "release"))
    text = (folder / "README.txt").read_text("utf-8")
    assert figure in text
    (folder / "README.txt").write_text(text.replace(figure, f"1{figure}"), "utf-8")
    mend(folder, texts=False)
    assert refused(folder)


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


def test_no_table_can_have_another_column(honest: Path, tmp_path: Path) -> None:
    name = "members.csv"
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
def test_folders_are_no_files(honest: Path, tmp_path: Path, name: str) -> None:
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
