"""The forms in which a release can publish people's attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.errors import InputError
from shoal.release.forms.bucketized import Bucketized
from shoal.release.forms.form import Form
from shoal.release.forms.generalized import Generalized

if TYPE_CHECKING:
    from shoal.release import Release

__all__ = ["FORMS", "Form", "fits_form", "form_named"]

_EVERY: tuple[Form, ...] = (Bucketized(), Generalized())
FORMS: dict[str, Form] = {form.name: form for form in _EVERY}


def form_named(name: str) -> Form:
    """The form with this name, or an InputError: a damaged release may name any."""
    if name not in FORMS:
        raise InputError(
            "release-form",
            f'The release is of a form "{name}", which shoal does not know.',
            "`shoal verify` says what is wrong with a release.",
        )
    return FORMS[name]


def fits_form(release: Release) -> bool:
    """Whether a release has the tables of the form that it names, and no others."""
    has_ranges = release.ranges is not None
    return release.form in FORMS and has_ranges == ("ranges" in FORMS[release.form].more_tables)
