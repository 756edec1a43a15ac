"""The page on certificates: what each part says, and who can see whether it is true."""

from __future__ import annotations

from typing import Any

from shoal.release.stated import FORMAT, UNCHECKED, schema
from shoal.release.verification.trust import BY_THE_TABLE, ON_TRUST

INTRO = f"""# Certificates

Every release folder holds a `certificate.json`: what is claimed of the release, in plain data.
Its form is that of a [JSON Schema](certificate.schema.json), and its `format` names the
version, now `{FORMAT}`. `shoal verify` reads `{UNCHECKED}`, the one before, too, and says what such
certificates do not say.

`shoal verify RELEASE` holds every word and every file against the others: hashes and sizes,
counts, README.txt and datapackage.json (made again, byte for byte), the order of groups and
lines, how cells are written, and all that cannot be true at once. With `--table ORIGINAL` every
posterior and count is computed again from what is published. With `--private FOLDER` the
certificate has to be the one that was written with that folder, to the last byte, and who is
missing is counted. With `--expect spec.toml` the release has to be what was asked for, and
with `--key KEY.pub` it has to be [signed](../howto/publish.md#sign-it). What none of these
could see is printed as *taken on trust*.

"""

TRUST = """
## What is taken on trust

Some parts say how the release came about, which its tables do not show. They are held against
the verdicts (whoever the method claims to answer has to be convinced, and a method that changes
no values may not have changed any), but a forger who has only the release can change them,
unless `--private` or `--key` is given:

"""

TABLE = """
Without `--table` some parts are only seen to fit together:

"""

REST = """
datapackage.json and the order of lines are compared if this version of shoal made them, README.txt
if these very sources did (`software` ends in their hash). Those of others are taken on trust, and
verify says so; in any case each file has the hash that the certificate states.
"""


def certificate_page(made: str) -> str:
    """docs/reference/certificate.md"""
    trust = "".join(f"- `{part}`: {words}\n" for part, words in ON_TRUST.items())
    table = "".join(f"- `{part}`: {words}\n" for part, words in BY_THE_TABLE.items())
    parts = "## Its parts\n\n| part | type | what it says |\n| --- | --- | --- |\n"
    parts += "".join(_lines(schema(), ()))
    return made + INTRO + parts + TRUST + trust + TABLE + table + REST


def _lines(part: dict[str, Any], way: tuple[str, ...]) -> list[str]:
    """One line for each part, and those of its own parts."""
    found = []
    for name, inner in part.get("properties", {}).items():
        told = _resolved(inner)
        items = _resolved(told.get("items", {}))
        words = inner.get("description", told.get("description", ""))
        found.append(f"| `{'.'.join((*way, name))}` | {_kind(told)} | {words} |\n")
        found += _lines(told, (*way, name)) + _lines(items, (*way, f"{name}[]"))
    return found


def _resolved(part: dict[str, Any]) -> dict[str, Any]:
    name = part.get("$ref", "").removeprefix("#/$defs/")
    return schema()["$defs"][name] if name else part


def _kind(part: dict[str, Any]) -> str:
    if "const" in part:
        return f"`{part['const']}`"
    if "enum" in part:
        return " or ".join(f"`{one}`" for one in part["enum"])
    kind = part.get("type", "")
    return kind if isinstance(kind, str) else " or ".join(kind)
