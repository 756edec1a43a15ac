"""What a certificate says of its adversaries has to fit together, and to be readable."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.data.datasets import HOSPITAL_SENSITIVE, hospital
from shoal.errors import InputError
from shoal.release.verification.verify import verify

SPEC = shoal.Spec(qi=["sex", "region"], sensitive=HOSPITAL_SENSITIVE, protect=[["HIV"]], r=4)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("made") / "release"
    shoal.anonymize(hospital(2000, 2), SPEC).save(path)
    return path


def edited(folder: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    file = folder / "certificate.json"
    text = file.read_text(encoding="utf-8")
    certificate = json.loads(text)
    change(certificate["audit"])
    copy = folder.with_name(f"{folder.name}-edited")
    copy.mkdir(exist_ok=True)
    for one in folder.iterdir():
        (copy / one.name).write_bytes(one.read_bytes())
    (copy / "certificate.json").write_text(json.dumps(certificate), encoding="utf-8")
    return copy


def test_as_it_was_made_it_is_confirmed(folder: Path) -> None:
    assert verify(edited(folder, lambda _: None)).confirmed


@pytest.mark.parametrize(
    "change",
    [
        lambda audit: [one.update(worst_posterior=0.01) for one in audit["adversaries"]],
        lambda audit: audit["adversaries"][0].update(robust=False),
        lambda audit: audit["adversaries"][0].update(robust=None),
        lambda audit: audit.update(robust=None),
    ],
)
def test_adversaries_that_disagree_with_the_whole_are_refuted(folder: Path, change: Any) -> None:
    assert not verify(edited(folder, change)).confirmed


@pytest.mark.parametrize(
    "change",
    [
        lambda audit: audit.update(adversaries=[]),
        lambda audit: audit.update(adversaries=[{"name": "joint"}]),
        lambda audit: audit["adversaries"][0].update(name=5),
        lambda audit: audit["adversaries"][0].update(worst_posterior=None),
        lambda audit: audit["adversaries"][0].update(problematic="no"),
        lambda audit: audit.update(worst_posterior=None),
        lambda audit: audit.pop("adversaries"),
        lambda audit: audit.pop("counter"),
        lambda audit: audit["counter"].pop("classes"),
        lambda audit: audit["counter"].update(classes="many"),
    ],
)
def test_a_damaged_list_of_adversaries_gets_a_sentence(folder: Path, change: Any) -> None:
    with pytest.raises(InputError) as raised:
        verify(edited(folder, change))
    assert raised.value.code == "certificate-damaged"
