"""Numbers in columns of text: found if every cell reads as one and loses nothing by it.

Codes with a leading zero or a plus sign, whole numbers too long for 64 bits, and decimals so long
that two of them would become one number, stay text. `?`, `NA` and the like are text too; only an
empty cell is a missing value. Numbers may be written as 1234.5, 1,234.5, 1.234,5, 1 234,5, 1'234.5
or 1,23,456.5, one way in a column, with one unit (%, a currency, kg, a word) before or behind all
of them; where a column's cells leave open which sign stands before decimals, or have different
units, that is asked for. Words that differ (12 apples, 1 pear) are no units.
"""

from __future__ import annotations

import polars as pl

from shoal.errors import InputError

SAMPLE = 1000
_INTEGER = r"^-?(0|[1-9][0-9]*)$"
_NUMBER = r"^-?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_TOO_LONG = r"^-?[0-9]{16}"
_LONG = r"[1-9](\.?[0-9]){15}"
"""Up to 15 significant digits, different decimals are different numbers of 64 bits."""
_EXPONENT = r"([eE][+-]?[0-9]+)?"
_SPACES = r"' \x{a0}\x{202f}\x{2019}"
"""What stands between thousands besides points and commas."""
_NEAR = r" \x{a0}\x{202f}"
_MONEY = r"[€$£¥%‰]|EUR|USD|GBP|CHF"
_UNIT = (
    rf"{_MONEY}|[kmµ]?g|mcg|lbs?|oz|[kcm]?m[²³]?|[kcm]?m[23]|ft|[mcd]?[lL]|ms|min|hrs?|[hs]|[kM]?W|kWh|"
    r"k?cal|k?J|mmHg|bpm|IU|°[CF]|m?mol/[lL]|[mµn]?g/[md]?[lL]|kg/m[2²]|km/h|[kMGT]B"
)
_WORD = r"\pL+"
_ANY = rf"^[-+0-9.,eE{_SPACES}]+$"
_BODY = rf"[0-9.,][-+0-9.,eE{_SPACES}]*?"
_KNOWN = rf"^(-?)(?:({_MONEY})[{_NEAR}]?)?({_BODY})$|^(-?{_BODY})[{_NEAR}]?({_UNIT})$"
_MEASURED = rf"{_KNOWN}|^(-?{_BODY})[{_NEAR}]({_WORD})$"
"""A number with a unit before or behind it, or without any: groups 2, 5, 7, and the others."""


def _patterns(thousands: str, decimal: str) -> tuple[str, str]:
    """Numbers with whole parts as they are, and in groups of three; as in India, of two and three
    between commas."""
    digits = r"[1-9][0-9]{0,2}"
    grouped = rf"0|{digits}(\{thousands}[0-9]{{3}})*|{digits}([{_SPACES}][0-9]{{3}})*"
    grouped += r"|[1-9][0-9]?(,[0-9]{2})+,[0-9]{3}" if thousands == "," else ""
    return tuple(
        rf"^-?(({whole})(\{decimal}[0-9]*)?|\{decimal}[0-9]+){_EXPONENT}$"
        for whole in ("0|[1-9][0-9]*", grouped)
    )  # type: ignore[return-value]


_WRITTEN = {",": _patterns(".", ","), ".": _patterns(",", ".")}
"""By the sign before decimals."""


def typed(
    frame: pl.DataFrame, *, decimal: str | None = None, separator: str | None = None
) -> pl.DataFrame:
    """The frame with each text column of numbers turned into numbers. Without a `decimal`, columns
    that leave the sign open go by those that do not, and are asked about if none says; so are
    decimal commas in a table that commas separate."""
    if decimal not in (None, *_WRITTEN):
        raise InputError(
            "decimal",
            f"The sign before decimals is {decimal!r}.",
            'Give --decimal , or --decimal . (in Python decimal="," or ".").',
        )
    texts = [column for column in frame if column.dtype == pl.String]
    signs = {column.name: _signs(column, separator, strict=decimal is None) for column in texts}
    known = {sign for sign in signs.values() if sign in _WRITTEN}
    known -= {","} if separator == "," else set()
    usual = decimal or (known.pop() if len(known) == 1 else None)
    made = []
    for column in texts:
        possible = signs[column.name]
        if possible is None:
            continue
        alone = possible == "," and separator == "," and decimal is None
        if alone or (possible == ",." and usual is None):
            raise _ask(column)
        sign = usual if usual and usual in possible else possible
        if decimal == "." and sign == ",":
            continue
        made.append(_numbers(column, sign))
    return frame.with_columns(made)


def _signs(column: pl.Series, separator: str | None, *, strict: bool) -> str | None:
    """The signs that may stand before the decimals of numbers, an empty text if there is none at
    all; None if they are no numbers."""
    cells = _stripped(column.drop_nulls())
    if not len(cells) or not _all_match(cells, _ANY):
        if strict:
            _refuse_units(cells, separator)
        return None
    if _all_match(cells, _INTEGER):
        return ""
    signed = bool(cells.str.contains("[.,]").any())
    if _all_match(cells, _NUMBER):
        thousands = separator not in (None, ",") and _all_match(cells, _WRITTEN[","][1])
        return (",." if thousands else ".") if signed else ""
    signs = [sign for sign, ways in _WRITTEN.items() if any(_all_match(cells, one) for one in ways)]
    if not signed:
        return "" if signs else None
    either = "|".join(way for ways in _WRITTEN.values() for way in ways)
    if not signs and strict and _all_match(cells, either):
        raise InputError(
            "decimal",
            f'The column "{column.name}" holds numbers in two ways, with points and with commas '
            "before their decimals.",
            "Write them in one way; with --decimal . or --decimal , (in Python decimal=) it stays "
            "text.",
        )
    return "".join(signs) or None


def _ask(column: pl.Series) -> InputError:
    cells = column.drop_nulls()
    shown = cells.filter(cells.str.contains("[.,]"))[0].strip()
    return InputError(
        "decimal",
        f'The column "{column.name}" holds "{shown}", and nothing says whether its sign stands '
        "before decimals.",
        'Give --decimal , if commas do, or --decimal . if points do (in Python decimal=",").',
    )


def _numbers(column: pl.Series, decimal: str) -> pl.Series:
    """The column as numbers, unless it loses something by that."""
    texts = _stripped(column)
    if decimal == "," or not _all_match(texts.drop_nulls(), _NUMBER):
        thousands = "." if decimal == "," else ","
        texts = texts.str.replace_all(rf"[{_SPACES}\{thousands}]", "")
        texts = texts.str.replace(",", ".", literal=True)
    cells = texts.drop_nulls()
    if _all_match(cells, _INTEGER):
        numbers = texts.cast(pl.Int64, strict=False)
    elif not cells.str.contains(_TOO_LONG).any():
        numbers = texts.cast(pl.Float64, strict=False)
        numbers = numbers.set(numbers.is_infinite(), None)
        if _merges(texts, numbers):
            return column
    else:
        return column
    return numbers if numbers.null_count() == column.null_count() else column


def _merges(texts: pl.Series, numbers: pl.Series) -> bool:
    """Whether decimals that differ in value, one of them long, become the same number."""
    long = numbers.filter(texts.str.contains(_LONG)).unique()
    if not len(long):
        return False
    # From here on alike: 0.5, .5, 0.50
    near = texts.filter(numbers.is_in(long.implode()))
    plain = near.str.replace(r"^(-?)\.", "${1}0.").str.replace(r"(\.[0-9]*?)0+$", "${1}")
    return plain.str.strip_suffix(".").n_unique() > len(long)


def _all_match(cells: pl.Series, pattern: str) -> bool:
    """Whether all match; most that do not are seen by the first of them."""
    return all(part.str.contains(pattern).all() for part in (cells.head(SAMPLE), cells))


def _stripped(cells: pl.Series) -> pl.Series:
    """Cells without spaces around them, and without a unit that all of them have."""
    cells = cells.str.strip_chars(" ")
    held = cells.drop_nulls()
    if held.head(1).str.contains(_ANY).any() or not _all_match(held, _MEASURED):
        return cells
    return _bare(cells) if _units(held).n_unique() == 1 else cells


def _units(cells: pl.Series) -> pl.Series:
    return cells.str.replace(_MEASURED, "$2$5$7")


def _bare(cells: pl.Series) -> pl.Series:
    return cells.str.replace(_MEASURED, "$1$3$4$6")


def _refuse_units(cells: pl.Series, separator: str | None) -> None:
    """An InputError for numbers of several units, or of which some have none."""
    if not _all_match(cells, _KNOWN) or _signs(_bare(cells), separator, strict=False) is None:
        return
    units = _units(cells)
    other = cells.filter(units != units[0])[0]
    raise InputError(
        "decimal",
        f'The column "{cells.name}" holds numbers with different units, or some without one, such '
        f'as "{cells[0]}" and "{other}".',
        "Write all of them in one unit, or none; with --decimal . or --decimal , (in Python "
        "decimal=) they stay text.",
    )
