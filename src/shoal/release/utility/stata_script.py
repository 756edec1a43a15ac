"""README.txt's script for Stata: everybody with each value that they may have, and its weight, as
in `Release.table`; and a first count."""

from __future__ import annotations

import re

from shoal.release.labelled import NUMBERED
from shoal.release.labelled import called as names_in
from shoal.release.utility.published import COUNT
from shoal.release.utility.script import Cell, Script

HOW = "local how varnames(nonames) rowrange(2) stringcols(_all) bindquote(strict)\n"
TEXT = """{held}{apart}
generate byte {case} = {cases}
bysort gid: egen double {number} = total({count} * {case})
bysort gid: egen double {size} = total({count})
tempfile held
save "`held'"
{people}
generate double {person} = _n{total_of}
joinby gid using "`held'"
generate double {chance} = {chances}
generate double {weight} = {count} * cond({case}, {chance} / {number}, ///
  (1 - {chance}) / ({size} - {number}))
* How many people?
summarize {weight} if {asked}, meanonly
display r(sum)"""
EQUAL = "{number} / {size}"
WEIGHTED = "cond({total} > 0, min({given} * {number} / {total}, 1), {number} / {size})"
TOTAL = "\nbysort gid: egen double {total} = total({given})"
APART = "\ncollapse (sum) {count}, by(gid {first})"
SIGNS = re.compile(r"[^\w ,.:;-]")
"""What is left out of a comment."""


def stata_script(script: Script, names: dict[str, str]) -> str:
    """For Stata 14 and newer, to be run in the folder, whose files, in CSV or in Stata's form,
    have these names."""
    own = script.own("s_{}")
    called = names_in([*script.people, *script.held])
    csv = names["qi"].endswith(".csv")
    opened = _imported if csv else _used
    told = own | {"given": called.get(script.weight or "", ""), "first": called[script.values[0]]}
    cases = "1" if script.all_cases else "0"
    for cell in script.cases:
        cases += f"\nreplace {own['case']} = 1 if {_equals(called, cell)}"
    return (HOW if csv else "") + TEXT.format(
        held=opened(names["sensitive"], script.held, called | {COUNT: own["count"]}),
        people=opened(names["qi"], script.people, called),
        apart=APART.format(**told) if script.apart else "",
        cases=cases,
        total_of="" if script.weight is None else TOTAL.format(**told),
        chances=(EQUAL if script.weight is None else WEIGHTED).format(**told),
        asked=" & ".join(_equals(called, one) for one in script.asked),
        **own,
    )


def _imported(file: str, numeric: dict[str, bool], called: dict[str, str]) -> str:
    read = f'import delimited using {_text(file)}, `how\' encoding("utf-8") clear'
    return f"{read}\n{_columns(numeric, called)}"


def _used(file: str, numeric: dict[str, bool], called: dict[str, str]) -> str:
    renamed = f"\nrename {COUNT} {called[COUNT]}" if COUNT in numeric else ""
    return f"use {_text(file)}, clear{renamed}"


def _columns(numeric: dict[str, bool], called: dict[str, str]) -> str:
    """Columns are read by number; then they are named, and numbers are read as such."""
    numbered = " ".join(f"v{place + 1}" for place in range(len(numeric)))
    lines = [f"rename ({numbered}) ({' '.join(called[name] for name in numeric)})"]
    lines += [
        f"* {called[name]} is {SIGNS.sub(' ', name)}"
        for name in numeric
        if NUMBERED.fullmatch(called[name])
    ]
    numbers = " ".join(called[name] for name, is_number in numeric.items() if is_number)
    return "\n".join([*lines, f"destring {numbers}, replace"])


def _equals(called: dict[str, str], cell: Cell) -> str:
    return f"{called[cell.column]} == {cell.text if cell.numeric else _text(cell.text)}"


def _text(text: str) -> str:
    """A text; what Stata would read as something else is named by number."""
    parts = [
        one if one.isprintable() and one not in "\"'`$\\" else f'" + uchar({ord(one)}) + "'
        for one in text
    ]
    return '"' + "".join(parts) + '"'
