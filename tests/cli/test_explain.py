"""`shoal explain`: an error or a check, its reason and its remedy, as docs/errors.md has them."""

from __future__ import annotations

import re
from typing import get_args, get_type_hints

import typer.main

from shoal.auditing.check_words import SAID
from shoal.cli import app
from shoal.cli.explained import collect
from shoal.data.spec import Spec
from shoal.methods.art import Art
from tests.cli.program import refused, shoal_
from tests.docs.blocks import DOCS

PAGE = (DOCS / "errors.md").read_text("utf-8")


CHOICES = {
    "--condition": get_args(get_type_hints(Art)["condition"]),
    "--limit": get_args(get_type_hints(Spec)["limit"]),
}


def _flat(text: str) -> str:
    return " ".join(text.split())


def test_an_error_that_was_met_is_explained() -> None:
    met = shoal_("anonymize", "nowhere.csv", "--qi", "age", "--sensitive", "x", "--out", "o")
    code = met.stderr.strip().rpartition("[")[2].rstrip("]")
    done = shoal_("explain", code)
    assert done.returncode == 0
    assert f"{code}: an error" in done.stdout
    (row,) = [line for line in PAGE.splitlines() if line.startswith(f"| `{code}` | ")]
    sentences = row.strip("| ").split(" | ")[1:]
    assert len(sentences) == 2
    for sentence in sentences:
        assert sentence.replace("\\", "") in _flat(done.stdout)
    assert shoal_("explain", f"[{code}]").stdout == done.stdout


def test_a_check_is_explained_by_its_name_and_by_its_title() -> None:
    for name, said in SAID.items():
        done = shoal_("explain", name)
        for text in (said.title, said.reason, said.remedy):
            assert text in _flat(done.stdout)
        assert said.reason.replace("_", "\\_") in PAGE
    assert shoal_("explain", "left OUT").stdout.startswith("Left out: a check of the verdict")


def test_a_word_that_is_both_shows_both() -> None:
    done = shoal_("explain", "suppression")
    assert "a check of the verdict" in done.stdout
    assert "an error" in done.stdout


def test_without_a_code_all_are_listed() -> None:
    listed = shoal_("explain").stdout
    assert all(f"  {name} " in listed for name in SAID)
    assert "spec-key" in listed


def test_an_unknown_code_names_the_nearest() -> None:
    done = shoal_("explain", "spec-kye")
    refused(done, "explain-code")
    assert 'did you mean "spec-key"?' in done.stderr


def test_a_remedy_names_options_that_there_are_with_values_that_they_take() -> None:
    options = {
        spelled: one
        for command in typer.main.get_command(app).commands.values()  # type: ignore[attr-defined]
        for one in command.params
        for spelled in (*one.opts, *one.secondary_opts)
    }
    errors = [remedy for entry in collect() for remedy in entry.remedies]
    named = 0
    for remedy in (*errors, *(said.remedy for said in SAID.values())):
        for spelled, value in re.findall(r"(?<![\w-])(--[a-z][a-z-]+)(?: ([a-z]\w*))?", remedy):
            assert spelled in options, remedy
            choices = CHOICES.get(spelled)
            assert not (choices and value) or value in choices, remedy
            named += 1
    assert named > 50
