"""Two kinds of failure: the user's (fixable, explained) and ours (a bug)."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class ShoalError(Exception):
    """Base of everything that shoal raises on purpose."""


class InputError(ShoalError):
    """Something about the input is wrong; says what it is and what to do about it.

    `code` is a short stable word (listed in docs/errors.md), `problem` one sentence on
    what is wrong, `remedy` one sentence on what would be right.
    """

    def __init__(self, code: str, problem: str, remedy: str) -> None:
        self.code, self.problem, self.remedy = code, problem, remedy
        super().__init__(f"{problem} {remedy}")

    def __reduce__(self) -> tuple[type[InputError], tuple[str, str, str]]:
        return type(self), (self.code, self.problem, self.remedy)


class InternalError(ShoalError):
    """A promise of shoal's own code was broken: please report it."""


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint ' (did you mean "x"?)' for a misspelt name, or an empty string."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f' (did you mean "{close[0]}"?)' if close else ""


def unknown(code: str, problem: str, name: str, known: Iterable[str]) -> InputError:
    """The error for a name that is none of those known, with a hint at the nearest of them."""
    known = list(known)
    remedy = f"Choose among: {', '.join(known)}."
    return InputError(code, f"{problem}{nearest(name, known)}.", remedy)


def missing_extra(what: str, package: str) -> InputError:
    """The error for something that needs a package which is not installed. It names the package
    itself: an extra of shoal can be had only where pip finds shoal."""
    return InputError(
        "extra-missing",
        f"{what} needs the package {package}, which is not installed.",
        f"Install it with: pip install {package}.",
    )
