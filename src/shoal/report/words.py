"""How the report speaks of posteriors, of few people and of commands."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from shoal.auditing.findings import Kind
from shoal.data.storage import redact
from shoal.wording import percent

FEW = 5
"""The public edition says nothing about fewer people than this."""
_LEADS: dict[str, str] = {"exact": "", "bound": "at most ", "estimate": "about "}


def judged(posterior: float, kind: Kind, *, limit: float) -> str:
    """A posterior with what is known of it: "9.8 %", "at most 9.8 %", "about 9.8 %"."""
    over = limit if posterior > limit + 1e-12 else None
    return _LEADS[kind] + percent(posterior, over=over, up=kind == "bound")


def hidden_count(count: int, *, public: bool) -> str:
    """A number of people; in the public edition a small one is only called small."""
    return f"fewer than {FEW}" if public and 0 < count < FEW else f"{count:,}"


def command_line(arguments: Sequence[str]) -> str:
    """A command as it can be typed again, without passwords."""
    return shlex.join(["shoal", *(redact(argument) for argument in arguments)])
