"""README.txt's script for R: everybody with each value that they may have, and its weight, as in
`Release.table`; a first count; and plausible tables, as in `Release.draw` but for "(other)"."""

from __future__ import annotations

import re
from collections.abc import Callable

from shoal.release.utility.published import COUNT
from shoal.release.utility.script import Script

TEXT = """library(data.table)
read <- function(file, kinds) setDT(read.csv(file, colClasses = unname(kinds), na.strings = "",
  check.names = FALSE, col.names = names(kinds), encoding = "UTF-8"))
people <- read({qi}, c({people}))
held <- read({sensitive}, c({held})){apart}
held${case} <- {cases}
groups <- held[, .({size} = sum({count}), {number} = sum({count} * {case})), by = "gid"]
people <- groups[people, on = "gid"]
{chances}
everybody <- held[people, on = "gid", allow.cartesian = TRUE]
everybody${weight} <- with(everybody, {count} * ifelse({case}, {chance} / {number},
  (1 - {chance}) / ({size} - {number})))
# How many people?
with(everybody, sum({weight}[which({asked})]))
# A plausible table: draw several, and combine what each of them gives by Rubin's rules.
draw <- function() {{
  drawn <- people[, .(gid, .part = {chance}, .line = .I)][sample(.N)][order(gid)]
  drawn[, .chosen := diff(floor(c(0, cumsum(.part)) + runif(1))) > 0, by = "gid"]
  drawn <- drawn[sample(.N)][order(gid, -.chosen)]
  slots <- held[rep(seq_len(nrow(held)), held${count})]
  slots <- slots[order(slots$gid, -slots${case})]
  cbind(people[drawn$.line, c({attributes}), with = FALSE], slots[, c({values}), with = FALSE])
}}"""
EQUAL = "people${chance} <- people${number} / people${size}"
WEIGHTED = """people${given} <- nafill(people${given}, fill = 0)
people[, {chance} := sum({given}), by = "gid"]
people${chance} <- with(people, ifelse({chance} > 0,
  pmin(1, {given} * {number} / {chance}), {number} / {size}))"""
APART = '\nheld <- held[, .({count} = sum({count})), by = c("gid", {first})]'
RESERVED = {
    *("if", "else", "repeat", "while", "function", "for", "next", "break", "in"),
    *("TRUE", "FALSE", "NULL", "Inf", "NaN", "NA"),
}


def r_script(script: Script, names: dict[str, str]) -> str:
    """With data.table alone, to be run in the folder, whose files have these names."""
    own = {name: _name(one) for name, one in script.own(".{}").items()}
    own["given"] = "" if script.weight is None else _name(script.weight)
    first = script.values[0]
    cases = "TRUE" if script.all_cases else "FALSE"
    if script.cases:
        cases = f"held${_name(first)} %in% c({', '.join(r_text(one.text) for one in script.cases)})"
    return TEXT.format(
        qi=r_text(names["qi"]),
        sensitive=r_text(names["sensitive"]),
        people=_kinds({_name(name): kind for name, kind in script.people.items()}),
        held=_kinds(
            {
                own["count"] if name == COUNT else _name(name): kind
                for name, kind in script.held.items()
            }
        ),
        apart=APART.format(first=r_text(_shown(first)), **own) if script.apart else "",
        cases=cases,
        chances=(EQUAL if script.weight is None else WEIGHTED).format(**own),
        asked=" & ".join(
            f"{_name(one.column)} == {one.text if one.numeric else r_text(one.text)}"
            for one in script.asked
        ),
        attributes=", ".join(map(r_text, map(_shown, script.attributes))),
        values=", ".join(map(r_text, map(_shown, script.values))),
        **own,
    )


def _kinds(numeric: dict[str, bool]) -> str:
    return ", ".join(
        f'{name} = "{"numeric" if kind else "character"}"' for name, kind in numeric.items()
    )


def _name(name: str) -> str:
    """A name in R, in whose backticks few characters may be named by number."""
    plain = re.fullmatch(r"\.?[A-Za-z][A-Za-z0-9._]*", name) and name not in RESERVED
    return name if plain else _quoted(_shown(name), "`", "\\{:03o}")


def r_text(text: str) -> str:
    """A text in R."""
    return _quoted(text, '"', "\\U{{{:x}}}", str.isascii)


def _shown(name: str) -> str:
    """A column's name without signs that R could not be shown."""
    return "".join(
        one if one.isascii() or one.isprintable() else f"<U+{ord(one):04X}>" for one in name
    )


def _quoted(
    text: str, quote: str, number: str, usual: Callable[[str], bool] = str.isprintable
) -> str:
    parts = [
        f"\\{one}"
        if one in ("\\", quote)
        else one
        if one.isprintable() and usual(one)
        else number.format(ord(one))
        for one in text
    ]
    return quote + "".join(parts) + quote
