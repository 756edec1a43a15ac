"""Guesses the role of every column of a table.

Names are the strongest hint (`age`, `diagnosis`, `patient_id`), then uniqueness, then what values
look like (answers of yes and no, codes for missing values, codes of categories), then how a column
depends on the sensitive one. Nothing is decided: the proposal is a commented TOML file to correct.
Columns that nothing speaks for stay unpublished, which is the safe side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from math import ceil, comb
from typing import Any

import polars as pl

from shoal.data.spec import MAX_QI, MISSING, Codebook, Event, Spec, Variable
from shoal.data.spec.toml_text import toml_string
from shoal.data.table.alike import SAME_BUT_FOR, alike_values
from shoal.data.table.frames import to_polars
from shoal.data.table.recoding import by_labels
from shoal.errors import InputError
from shoal.knowledge import MAX_VIEWS
from shoal.planning.propose.feasible import Feasible, feasible, without_rare
from shoal.planning.propose.naming import ENOUGH_ROWS as NAMING_ROWS
from shoal.planning.propose.naming import MOST_ALONE
from shoal.planning.propose.proposal import Guess, Proposal, ProposedRecoding, Role, Shares
from shoal.planning.propose.values import (
    CODE_WORDS,
    COUNTING_WORDS,
    NAMING_WORDS,
    NUMBERING_WORDS,
    PEOPLE_WORDS,
    QI_WORDS,
    SAMPLING_WORDS,
    SENSITIVE_WORDS,
    WEIGHING_WORDS,
    YesNo,
    held_by_one,
    illness_in,
    is_nominal,
    missing_codes,
    words_of,
    yes_no,
)
from shoal.planning.settings import round_width
from shoal.wording import plain_percent

UNIQUE_SHARE = 0.95
ENOUGH_ROWS = 20
"""In fewer rows than these, being unique says nothing."""
ROWS_PER_VALUE = 5
"""In fewer rows per value than these, one column may follow from another by chance."""
FEW_VALUES = 50
UNHINTED_QIS = 8
BANDED_FROM = 20
FAMILY, SELDOM = 3, 0.3
"""So many columns with the same answers, and so few who say yes, speak for an illness."""
COMMON = 1 / 3
"""What so many people have is proposed for no event: r of 3 is impossible for it."""
SECONDS = 10.0
"""How long a proposal is run."""
MANY_VALUES = 50
"""Nobody sees at a glance which of so many values would harm."""
HIGHEST = 0.05
"""Of numbers with many values, the highest of so many people are proposed for an event."""


def propose_spec(
    frame: Any, codebook: Codebook | None = None, *, seconds: float = SECONDS
) -> Proposal:
    """Guesses the roles of a table's columns (pandas, Polars or PyArrow frame), with what its file
    says of them, and runs what it proposes for about so many seconds."""
    told = codebook or {}
    data = by_labels(to_polars(frame), {name: dict(one.labels) for name, one in told.items()})
    if not data.height or not data.width:
        raise InputError("table-empty", "The table has no rows.", "Give a table with people in it.")
    distinct = {column.name: _distinct(column) for column in data}
    said = {column.name: _said(column, told, distinct[column.name]) for column in data}
    guesses = {
        column.name: _by_itself(column, distinct[column.name], said[column.name]) for column in data
    }
    sensitive = _sensitive(guesses, distinct, data, said)
    events = _illnesses(data, guesses, said, sensitive)
    common: Shares = ()
    if events:
        sensitive = None
    values = () if sensitive is None else _shares(data[sensitive.column])
    if sensitive is not None:
        events, common = _events_of(data[sensitive.column], values, said[sensitive.column].missing)
        guesses[sensitive.column] = _with_alike(sensitive, values)
        guesses |= _given_away(data, distinct, guesses, sensitive.column)
    if not _with_role("qi", guesses):
        guesses |= _unhinted(guesses, distinct, data.height)
    guesses |= _said_twice(data, distinct, guesses)
    guesses |= _beyond_limit(guesses)
    decide = [
        f"{toml_string(name)} repeats ({distinct[name]:,} values): say in "
        "rows_per_person which rows of a person are taken."
        for name in _with_role("person", guesses)[:1]
    ]
    sensitives = _with_role("sensitive", guesses)
    found, problem = _tried(data, guesses, said, events, seconds)
    decide += [problem] if problem else []
    if found is not None:
        guesses |= _made_room(guesses, found, len(sensitives) > 1)
        events = found.events
    qi = _with_role("qi", guesses)
    every = {value for value, _ in values} == {one for event in events for one in event.values}
    return Proposal(
        rows=data.height,
        guesses=tuple(_titled(guess, said[guess.column].title) for guess in guesses.values()),
        values=values,
        bands=tuple(
            (name, _width(data[name], said[name].missing))
            for name in qi
            if _is_long(data[name], distinct) and not is_nominal(data[name], said[name])
        ),
        max_attributes=_max_attributes(len(qi)),
        titles=tuple(
            (guess.column, said[guess.column].title)
            for guess in guesses.values()
            if guess.role in ("qi", "sensitive") and said[guess.column].title
        ),
        events=() if every and len(events) == len(values) else _of_columns(guesses, events),
        recodings=tuple(_recodings(data, guesses, said)),
        r=None if found is None else found.r,
        held=None if found is None else found.held,
        common=common,
        left_out=() if found is None or len(sensitives) > 1 else found.left_out,
        decide=tuple(decide),
    )


def _tried(
    data: pl.DataFrame,
    guesses: dict[str, Guess],
    said: Codebook,
    events: tuple[Event, ...],
    seconds: float,
) -> tuple[Feasible | None, str]:
    """What can work, or what a person must decide before anything can."""
    sensitive, qi = _with_role("sensitive", guesses), _with_role("qi", guesses)
    needed = {"the sensitive column": sensitive, "the QIs": qi}
    if missing := [words for words, names in needed.items() if not names]:
        return None, f"Name {' and '.join(missing)}."
    if not events:
        return None, "A third of the people or more have each value: say which would harm whom."
    recode = {
        one.column: recipe
        for one in _recodings(data, guesses, said)
        if (recipe := one.recipe()) is not None
    }
    spec = Spec(
        qi=qi,
        sensitive=sensitive,
        r=2,
        weight=next(iter(_with_role("weight", guesses)), None),
        protect=_of_columns(guesses, events),
        recode=recode,
        max_attributes=_max_attributes(len(qi)),
    )
    try:
        rare = without_rare(data, spec)
        for name in rare:
            reason = "too few people share a value; a QI if you make it coarser"
            guesses[name] = Guess(name, "unpublished", reason)
        if rare:
            return _tried(data, guesses, said, events, seconds)
        found = feasible(data, spec, seconds, _whose(guesses))
    except InputError as error:
        return None, f"It could not be tried: {error}"
    if found is None:
        return None, "Nothing can work at r = 2 for these values, beside any QI: name rarer ones."
    if len(events) > MANY_VALUES and len(sensitive) == 1:
        return found, f"{toml_string(sensitive[0])} has many values: say which would harm whom."
    if found.held is False:
        return found, "What is proposed did not hold when it was run: `shoal find` tries more."
    return found, ""


def _with_role(role: Role, guesses: dict[str, Guess]) -> list[str]:
    return [name for name, guess in guesses.items() if guess.role == role]


def _whose(guesses: dict[str, Guess]) -> dict[str, Any]:
    """What a spec says of people with several rows."""
    person = _with_role("person", guesses)
    return {"person": person[0], "rows_per_person": "event"} if person else {}


def _of_columns(guesses: dict[str, Guess], events: tuple[Event, ...]) -> tuple[Event, ...]:
    """The events, with their columns where several are sensitive."""
    several = len(_with_role("sensitive", guesses)) > 1
    return events if several else tuple(replace(event, column=()) for event in events)


def _made_room(guesses: dict[str, Guess], found: Feasible, several: bool) -> dict[str, Guess]:
    """Columns that are left out so that something can work."""
    changed = {}
    for name in found.dropped:
        reason = f"a QI by its name ({guesses[name].reason}), but with it no r can be kept"
        changed[name] = Guess(name, "unpublished", reason)
    for event, why in found.left_out if several else ():
        (name,) = event.column
        reason = f"could be sensitive too ({guesses[name].reason}), but {why}"
        changed[name] = Guess(name, "unpublished", reason)
    return changed


def _events_of(
    column: pl.Series, values: Shares, missing: tuple[str, ...]
) -> tuple[tuple[Event, ...], Shares]:
    """Events for a column whose name says that it is sensitive, and values that are too common:
    each value, those that are probably one together; of many numbers the highest."""
    told = [(value, share) for value, share in values if value not in (*missing, MISSING)]
    if column.dtype.is_numeric() and len(told) > BANDED_FROM:
        numbers = column.filter(~column.cast(pl.String).is_in(list(missing))).drop_nulls().sort()
        least = numbers[-ceil(HIGHEST * len(numbers))]
        if (numbers >= least).sum() > COMMON * len(numbers):
            return (), ()
        return (Event((f">= {least}",), label=f"{column.name} >= {least}"),), ()
    share, groups = dict(told), alike_values(value for value, _ in told)
    joined = {value for group in groups for value in group}
    groups += [(value,) for value, _ in told if value not in joined]
    rare = [group for group in groups if sum(share[value] for value in group) < COMMON]
    common = tuple((value, part) for value, part in told if not any(value in one for one in rare))
    return tuple(Event(group) for group in rare), common


def _titled(guess: Guess, title: str) -> Guess:
    """The guess, after what the column is called in words."""
    return replace(guess, reason=f"{toml_string(title)}: {guess.reason}") if title else guess


def _said(column: pl.Series, told: Codebook, distinct: int) -> Variable:
    """What a file says of a column, or what its values seem to say."""
    found = told.get(column.name, Variable())
    if found.missing or distinct < 2:
        return found
    return replace(found, missing=missing_codes(column))


def _words(name: str, said: Variable) -> set[str]:
    return words_of(f"{name} {said.title}")


def _by_itself(column: pl.Series, distinct: int, said: Variable) -> Guess:
    """The role that a column's own name and values suggest."""

    def guess(role: Role, reason: str) -> Guess:
        return Guess(column.name, role, reason)

    words = _words(column.name, said)
    filled = len(column) - column.null_count()
    if distinct == 0:
        return guess("unpublished", f"it holds {column.dtype}, neither text nor numbers")
    if distinct == 1:
        return guess("unpublished", "everybody has the same value")
    if reason := _weighing(column, words):
        return guess("weight", reason)
    identifier: Role = "identifier" if distinct == filled else "unpublished"
    if naming := words & NAMING_WORDS:
        return guess(identifier, f"its name says {_any(naming)}")
    numbering = words & NUMBERING_WORDS
    if numbering and (distinct >= filled / 2 or (words & PEOPLE_WORDS and distinct > FEW_VALUES)):
        if distinct < filled:
            return guess(
                "person",
                f"its name says {_any(numbering)}, and it repeats: {distinct:,} values in "
                f"{filled:,} rows",
            )
        return guess("identifier", f"its name says {_any(numbering)}, {distinct:,} values")
    if distinct >= UNIQUE_SHARE * filled and filled >= ENOUGH_ROWS:
        if column.dtype.is_float():
            return guess("unpublished", f"a measurement: {distinct:,} values in {filled:,} rows")
        return guess(identifier, f"nearly unique: {distinct:,} values in {filled:,} rows")
    if filled >= NAMING_ROWS and column.dtype == pl.String:
        alone = held_by_one(column)
        if alone > MOST_ALONE * filled:
            return guess(
                "unpublished",
                f"nearly unique: {alone:,} of its {distinct:,} values are in one row only",
            )
    kind = "numeric" if column.dtype.is_numeric() else "categorical"
    if known := words & QI_WORDS:
        return guess("qi", f"its name says {_any(known)}; {kind}, {distinct:,} values")
    return guess(
        "unpublished",
        f"nothing speaks for it ({kind}, {distinct:,} values); a QI if outsiders can know it",
    )


def _weighing(column: pl.Series, words: set[str]) -> str:
    """Why a column seems to be a survey weight; empty if it does not. A mean of 1 tells it from
    what people weigh."""
    named = words & WEIGHING_WORDS or (words & {"weight", "weights"} and words & SAMPLING_WORDS)
    if not column.dtype.is_numeric() or column.null_count() or not (column > 0).all():
        return ""
    mean = float(column.cast(pl.Float64).mean() or 0)  # type: ignore[arg-type]
    if not named and not (words & {"weight", "weights"} and abs(mean - 1) < 0.01):
        return ""
    return f"a survey weight by its name; {column.sum():,.0f} people stand behind {len(column):,}"


def _sensitive(
    guesses: dict[str, Guess], distinct: dict[str, int], data: pl.DataFrame, said: Codebook
) -> Guess | None:
    """The best candidate for the sensitive column; the others learn that they were one."""
    rows = data.height
    candidates: list[tuple[int, str, str]] = []
    for name, guess in guesses.items():
        words = _words(name, said[name])
        if words & COUNTING_WORDS:
            continue
        ranks = [SENSITIVE_WORDS.index(word) for word in words if word in SENSITIVE_WORDS]
        spread = distinct[name] <= rows / 2 or rows < ENOUGH_ROWS
        number = data[name].dtype.is_numeric() and not words & (NAMING_WORDS | NUMBERING_WORDS)
        plain = number or (spread and guess.role not in ("identifier", "person"))
        if ranks and distinct[name] > 1 and plain:
            candidates.append((min(ranks), name, SENSITIVE_WORDS[min(ranks)]))
    if not candidates:
        return None
    candidates.sort(key=lambda candidate: candidate[0])
    for _, name, word in candidates[1:]:
        reason = f'another candidate for the sensitive column: its name says "{word}"'
        if word == candidates[0][2]:
            reason += "; sensitive may be a list of both, with events of each"
        guesses[name] = Guess(name, "unpublished", reason)
    _, name, word = candidates[0]
    return Guess(name, "sensitive", f'its name says "{word}"; {distinct[name]:,} values')


def _illnesses(
    data: pl.DataFrame, guesses: dict[str, Guess], said: Codebook, named: Guess | None
) -> tuple[Event, ...]:
    """Columns of yes and no that could be sensitive, each with its event: those whose name says an
    illness, and three or more alike in which few say yes. Where a name says what the sensitive
    column is, they are candidates only."""
    answers: dict[str, YesNo] = {}
    for name, guess in guesses.items():
        if guess.role == "unpublished" and _distinct(data[name]) > 1:
            found = yes_no(data[name], said[name].missing)
            if found is None:
                continue
            if found.share < COMMON:
                answers[name] = found
            elif word := illness_in(_words(name, said[name])):
                reason = f"its name says {toml_string(word)}, but {plain_percent(found.share)} say "
                reason += f"{toml_string(found.yes)}: too many for an event"
                guesses[name] = Guess(name, "unpublished", reason)
    alike = Counter((one.yes, one.no) for one in answers.values())
    chosen = {}
    for name, one in answers.items():
        many, word = alike[one.yes, one.no], illness_in(_words(name, said[name]))
        family = many >= FAMILY and one.share <= SELDOM
        if word is None and not family:
            continue
        reason = f"{toml_string(one.yes)} or {toml_string(one.no)}, {plain_percent(one.share)} "
        reason += toml_string(one.yes) + (f"; its name says {toml_string(word)}" if word else "")
        reason += f"; one of {many} such columns" if family else ""
        chosen[name] = (one.yes, reason)
    if named is not None and named.column not in chosen:
        for name, (_, reason) in chosen.items():
            guesses[name] = Guess(name, "unpublished", f"could be sensitive too: {reason}")
        return ()
    for name, (_, reason) in chosen.items():
        guesses[name] = Guess(name, "sensitive", reason)
    return tuple(Event((yes,), column=(name,)) for name, (yes, _) in chosen.items())


def _recodings(
    data: pl.DataFrame, guesses: dict[str, Guess], said: Codebook
) -> Iterator[ProposedRecoding]:
    """What published columns seem to need before anything else."""
    for name, guess in guesses.items():
        if guess.role not in ("qi", "sensitive"):
            continue
        codes, labels = said[name].missing, said[name].labels
        nominal = is_nominal(data[name], said[name]) if guess.role == "qi" else None
        shown = ", ".join(map(toml_string, codes))
        reasons = [f"{shown} may mean that nothing is known"] if codes else []
        reasons += [f"categories: {nominal}"] if nominal else []
        reasons += ["codes with labels"] if labels else []
        if reasons:
            why = "; ".join(reasons)
            yield ProposedRecoding(name, codes, nominal is not None, why, labels)


def _with_alike(sensitive: Guess, values: Shares) -> Guess:
    """The guess, with a remark on values that are probably one."""
    groups = alike_values(value for value, _ in values)
    if not groups:
        return sensitive
    shown = " and ".join(toml_string(value) for value in groups[0])
    return replace(sensitive, reason=f"{sensitive.reason}; {shown} {SAME_BUT_FOR}")


def _given_away(
    data: pl.DataFrame, distinct: dict[str, int], guesses: dict[str, Guess], sensitive: str
) -> dict[str, Guess]:
    """Columns that fix the sensitive value, or follow from it: publishing them publishes it."""
    given_away = {}
    for name, guess in guesses.items():
        largest = max(distinct[name], distinct[sensitive])
        if guess.role not in ("qi", "unpublished") or distinct[name] < 2:
            continue
        if data.height < ROWS_PER_VALUE * largest or name == sensitive:
            continue
        pairs = data.select(sensitive, name).n_unique()
        if pairs == distinct[sensitive]:
            reason = f"it follows from {toml_string(sensitive)}, so it gives that away"
        elif pairs == distinct[name]:
            reason = f"{toml_string(sensitive)} follows from it"
        else:
            continue
        given_away[name] = Guess(name, "unpublished", reason)
    return given_away


def _unhinted(guesses: dict[str, Guess], distinct: dict[str, int], rows: int) -> dict[str, Guess]:
    """Without any name that speaks for a QI: the columns with few values."""
    few = [
        name
        for name, guess in guesses.items()
        if guess.role == "unpublished"
        and guess.reason.startswith("nothing")
        and distinct[name] <= min(FEW_VALUES, rows / 2)
    ]
    reason = "no name speaks for it, but it has only {} values"
    return {name: Guess(name, "qi", reason.format(distinct[name])) for name in few[:UNHINTED_QIS]}


def _said_twice(
    data: pl.DataFrame, distinct: dict[str, int], guesses: dict[str, Guess]
) -> dict[str, Guess]:
    """QIs that another QI says already, value for value."""
    qi = _with_role("qi", guesses)
    said_twice: dict[str, Guess] = {}
    for position, name in enumerate(qi):
        for first in qi[:position]:
            same = (
                distinct[first] == distinct[name] and data.height >= ROWS_PER_VALUE * distinct[name]
            )
            if same and data.select(first, name).n_unique() == distinct[name]:
                reason = f"it says the same as {toml_string(first)}, value for value"
                said_twice[name] = Guess(name, "unpublished", reason)
                break
    return said_twice


def _beyond_limit(guesses: dict[str, Guess]) -> dict[str, Guess]:
    qi = _with_role("qi", guesses)
    reason = f"it could be a QI, but shoal judges at most {MAX_QI}"
    return {name: Guess(name, "unpublished", reason) for name in qi[MAX_QI:]}


def _distinct(column: pl.Series) -> int:
    """How many values a column has, a missing one counted as one; 0 if it holds no plain values."""
    if column.dtype.is_nested() or column.dtype in (pl.Object, pl.Binary, pl.Duration):
        return 0
    return column.n_unique()


def _any(words: set[str]) -> str:
    return toml_string(min(words))


def _shares(column: pl.Series) -> Shares:
    text = column.cast(pl.String).fill_null(MISSING).alias("text")
    counts = text.value_counts().sort(["count", "text"], descending=[True, False])
    return tuple((value, count / len(column)) for value, count in counts.iter_rows())


def _is_long(column: pl.Series, distinct: dict[str, int]) -> bool:
    is_code = bool(words_of(column.name) & CODE_WORDS)
    return column.dtype.is_numeric() and distinct[column.name] > BANDED_FROM and not is_code


def _width(column: pl.Series, missing: tuple[str, ...]) -> float:
    """A round width that makes about eight bands."""
    numbers = column.cast(pl.Float64).drop_nulls()
    numbers = numbers.filter(numbers.is_finite() & ~numbers.is_in([float(one) for one in missing]))
    wide = float(numbers.max() or 0) - float(numbers.min() or 0)  # type: ignore[arg-type]
    return round_width(wide / 8)


def _max_attributes(qi: int) -> int | None:
    total = 0
    for size in range(1, qi + 1):
        total += comb(qi, size)
        if total > MAX_VIEWS:
            return size - 1
    return None
