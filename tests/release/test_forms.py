"""Forms: each is found by its name, and a release that lacks its form's tables is told so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.groups import FormName
from shoal.release.forms import FORMS, fits_form, form_named
from shoal.release.record import Record
from shoal.release.utility.published import same_groups

FRAME = pl.DataFrame(
    {
        "age": [20 + row % 10 for row in range(60)],
        "disease": ["HIV" if row % 30 == 0 else "flu" for row in range(60)],
    }
)
SPEC = shoal.Spec(qi=["age"], sensitive="disease", r=3, protect=["HIV"], min_support=10)


@pytest.fixture(scope="module", params=get_args(FormName))
def release(request: Any) -> shoal.Release:
    return shoal.anonymize(FRAME, SPEC, form=request.param)


def test_every_name_has_its_form() -> None:
    assert tuple(FORMS) == get_args(FormName)
    assert [form_named(name).name for name in FORMS] == list(FORMS)


def test_a_release_has_the_tables_of_its_form(release: shoal.Release) -> None:
    assert fits_form(release)
    more = set(form_named(release.form).more_tables)
    assert set(release.frames) == {"qi", "sensitive", "members"} | more


def test_tables_of_another_form_do_not_fit(release: shoal.Release) -> None:
    (other,) = set(FORMS) - {release.form}
    assert not fits_form(replace(release, form=other))  # type: ignore[arg-type]


def test_people_are_found_again_in_the_table(release: shoal.Release) -> None:
    assert release.row_groups is not None
    qi, _ = same_groups(release, apart=True)
    record = Record.of_rows(release.row_groups, None, release.made.table)
    found, problem = form_named(release.form).people(release, qi, release.made.table, record)
    assert not problem
    assert found is not None
    kept = release.row_groups >= 0
    truth = zip(release.row_groups[kept], release.made.table.row_signature[kept], strict=True)
    everybody = np.repeat(np.arange(len(found.people)), found.people)
    gid = qi.first[found.group[everybody]]
    assert sorted(zip(gid, found.signature[everybody], strict=True)) == sorted(truth)


def test_a_form_that_nobody_knows_is_an_input_error(release: shoal.Release) -> None:
    strange = replace(release, form="folded")  # type: ignore[arg-type]
    assert not fits_form(strange)
    with pytest.raises(shoal.InputError, match="folded") as caught:
        strange.count()
    assert caught.value.code == "release-form"


def test_ranges_that_are_missing_are_an_input_error() -> None:
    release = shoal.anonymize(FRAME, SPEC, form="generalized")
    with pytest.raises(shoal.InputError, match="no table of ranges") as caught:
        replace(release, ranges=None).count({"age": 20})
    assert caught.value.code == "release-ranges"
