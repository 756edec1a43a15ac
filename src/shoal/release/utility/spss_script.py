"""README.txt's syntax for SPSS and PSPP: how much of a value everybody in groups stands for, and a
first count, as in `Release.count`."""

from __future__ import annotations

from shoal.release.labelled import called as names_in
from shoal.release.utility.published import COUNT
from shoal.release.utility.script import Cell, Script

TEXT = """GET FILE={sensitive}.
COMPUTE {case} = {cases}.
COMPUTE {number} = {held} * {case}.
COMPUTE {total} = {held} * ({value}).
COMPUTE {chance} = {total} * {case}.
AGGREGATE OUTFILE=* /BREAK=gid /{size}=SUM({held}) /{number}=SUM({number})
  /{total}=SUM({total}) /{case}=SUM({chance}).
MATCH FILES /FILE={qi} /TABLE=* /BY gid.
{chances}
COMPUTE {weight} = 0.
IF ({number} > 0) {weight} = {case} * {chance} / {number}.
IF ({number} < {size}) {weight} = {weight}
  + ({total} - {case}) * (1 - {chance}) / ({size} - {number}).
EXECUTE.
* How many people? {weight} is how much of the value each of them stands for.
COMPUTE {count} = {weight}{where}.
DESCRIPTIVES VARIABLES={count} /STATISTICS=SUM."""
EQUAL = "COMPUTE {chance} = {number} / {size}."
WEIGHTED = """RECODE {given} (SYSMIS=0) (ELSE=COPY) INTO {person}.
AGGREGATE OUTFILE=* MODE=ADDVARIABLES /BREAK=gid /{given_in_all}=SUM({person}).
COMPUTE {chance} = {number} / {size}.
IF ({given_in_all} > 0) {chance} = MIN(1, {person} * {number} / {given_in_all})."""


def spss_script(script: Script, names: dict[str, str]) -> str:
    """To be run in the folder, whose files have these names."""
    own = script.own("s_{}")
    called = names_in([*script.people, *script.held])
    told = own | {
        "given": called.get(script.weight or "", ""),
        "given_in_all": f"{own['size']}_all",
    }
    cases = " OR\n  ".join(_equals(called, cell) for cell in script.cases) or "0"
    *where, value = script.asked
    return TEXT.format(
        qi=_text(names["qi"]),
        sensitive=_text(names["sensitive"]),
        cases="1" if script.all_cases else f"({cases})",
        value=_equals(called, value),
        held=COUNT,
        chances=(EQUAL if script.weight is None else WEIGHTED).format(**told),
        where="".join(f" * ({_equals(called, one)})" for one in where),
        **own,
    )


def _equals(called: dict[str, str], cell: Cell) -> str:
    return f"{called[cell.column]} = {cell.text if cell.numeric else _text(cell.text)}"


def _text(text: str) -> str:
    if not text.isprintable():
        return f"X'{text.encode().hex()}'"
    return "'" + text.replace("'", "''") + "'"
