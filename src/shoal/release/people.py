"""Who a release is of, for its publisher alone, so that another release of the same people is
noticed.

The record is a sample of hashes of rows: by all columns, by the columns of the spec, by each
identifier. It lies in the private folder, and nothing in the release speaks of it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.lib.stride_tricks import as_strided

from shoal.arrays import Ints, Words
from shoal.data.spec import Spec
from shoal.errors import InputError
from shoal.file_names import CERTIFICATE
from shoal.release.ledger import CHAIN
from shoal.release.numbering import mix
from shoal.release.pair import PAIR, belong_together
from shoal.wording import plain_percent

PEOPLE = "people.json"
FORMAT = "shoal-people/2"
SAMPLE = 1_000
HEAD, OFTEN = 1 << 14, 16
"""Texts are hashed once each where of the first cells so many hold the same one."""
HELD = 1 << 22
"""So many hashes are held at a time."""
LEAST, MOST = 0.02, 0.9
"""So many of the smaller table's rows are in both if two tables are of the same people: more where
others may be alike by chance."""
_TEXT, _PART, _MISSING = (np.uint64(one) for one in (0x5851F42D, 0x14057B7E, 0x2545F491))


class Sketch(NamedTuple):
    """The smallest hashes of all that a table's rows have in some columns."""

    columns: tuple[str, ...]
    identifies: bool
    """Whether the columns are to tell people apart."""
    hashes: Words
    """In order, each once."""
    often: Ints
    """How many rows have each."""

    def found_in(self, other: Sketch) -> float:
        """The part of what is here once that is there too, as far as both samples tell."""
        top = min((one.hashes[-1] for one in (self, other) if len(one.hashes)), default=0)
        mine = self.hashes[(self.often == 1) & (self.hashes <= top)]
        return float(np.isin(mine, other.hashes).mean()) if len(mine) else 0.0

    @property
    def by_chance(self) -> float:
        """The part of what is here once that a table of as many others may have too (Good and
        Turing: two for each that is here twice)."""
        once = max(1, int((self.often == 1).sum()))
        return min(1.0, 2.0 * float((self.often == 2).sum()) / once)


@dataclass(frozen=True, eq=False)
class People:
    """Who is in a table."""

    rows: int
    table: str
    """A hash of all rows in their order."""
    sketches: tuple[Sketch, ...]
    release: str = ""
    """Which release of them it is."""

    @classmethod
    def of(cls, frames: Iterable[pl.DataFrame], spec: Spec) -> People:
        """From a table's rows, some after the other."""
        taking: list[_Taking] = []
        whole, rows = hashlib.sha256(), 0
        for frame in frames:
            own = {one.name: _of_column(one) for one in frame}
            taking = taking or list(_asked(frame.columns, spec))
            for one in taking:
                one.take(sum((own[name] for name in one.columns), np.zeros(1, np.uint64)))
            every = sum(own.values(), np.zeros(frame.height, np.uint64))
            whole.update(np.asarray(every).tobytes())
            rows += frame.height
        return cls(rows, whole.hexdigest(), tuple(one.sketch() for one in taking))

    @classmethod
    def read(cls, private: Path) -> People | None:
        """The record of a private folder; None if it has none that can be read."""
        try:
            plain = json.loads((private / PEOPLE).read_text(encoding="utf-8"))
            if plain["format"] != FORMAT:
                return None
            sketches = [
                Sketch(
                    tuple(one["columns"]),
                    bool(one["identifies"]),
                    np.array(one["hashes"], np.uint64),
                    np.array(one["often"], np.int64),
                )
                for one in plain["by"]
            ]
            named = str(plain["table"]), tuple(sketches), str(plain["release"])
            return cls(int(plain["rows"]), *named)
        except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
            return None

    def write(self, private: Path) -> None:
        by = [
            one._asdict() | {"hashes": one.hashes.tolist(), "often": one.often.tolist()}
            for one in self.sketches
        ]
        plain = {"format": FORMAT, "rows": self.rows, "table": self.table}
        plain |= {"release": self.release, "by": by}
        (private / PEOPLE).write_text(json.dumps(plain) + "\n", encoding="utf-8")

    def shared(self, other: People) -> tuple[float, Sketch] | None:
        """The part of the smaller table's people who are in both, and by what that is known; None
        if they are other people."""
        of = {(one.columns, one.identifies): one for one in other.sketches}
        found = None
        for one in self.sketches:
            same = of.get((one.columns, one.identifies))
            if same is None:
                continue
            part = max(one.found_in(same), same.found_in(one))
            chance = 0.0 if one.identifies else max(one.by_chance, same.by_chance)
            least = min(MOST, (1 + chance) / 2) if chance > LEAST else LEAST
            if part > least and (found is None or part > found[0]):
                found = part, one
        return found


class Met(NamedTuple):
    """Another release of the same people."""

    private: Path
    part: float
    sketch: Sketch
    same_table: bool
    """Whether it is of the very same rows."""

    @property
    def release(self) -> Path | None:
        """Its folder, if that lies beside the private one."""
        folders = (one.parent for one in self.private.parent.glob(f"*/{CERTIFICATE}"))
        return next((one for one in folders if belong_together(one, self.private)), None)

    @property
    def known_by(self) -> str:
        return f'"{self.sketch.columns[0]}"' if self.sketch.identifies else "their values"


def met(people: People, privates: Sequence[Path], chain: Sequence[str] = ()) -> Iterator[Met]:
    """The releases among those of private folders that are of the same people, but for those of
    the `chain` that is continued, and for the very same release in another format."""
    for private in privates:
        other = People.read(private)
        same = other is not None and other.release != "" and other.release == people.release
        if other is None or same or _certificate(private) in chain:
            continue
        shared = people.shared(other)
        if shared is not None:
            yield Met(private, *shared, other.table == people.table)


def refuse_met(found: Met, together: str = "") -> InputError:
    """The error for a release of people of whom there is one."""
    told = together or "Whoever has both may be certain of what neither reveals alone."
    follow = (
        f'Let this one follow it (--after "{found.private}")'
        if (found.private / CHAIN).is_file()
        else "Nothing can follow it, as it has no ledger: make both with --ledger and --after"
    )
    return InputError(
        "same-people",
        f'"{found.private}" belongs to a release of the same people: about '
        f"{plain_percent(found.part)} of the smaller table's are in both, by {found.known_by}. "
        f"{told}",
        f"{follow}; or say --alone, if only one of them will be published or if they are other "
        "people.",
    )


def beside(path: Path, private: Path) -> list[Path]:
    """The private folders that lie where a release is about to be written, but for its own."""
    places = {path.absolute().parent, private.absolute().parent}
    found = {one.parent for place in places for one in place.glob(f"[!.]*/{PEOPLE}")}
    return sorted(found - {private.absolute()})


def _certificate(private: Path) -> str | None:
    """The hash of the certificate of the release that a private folder belongs to."""
    try:
        return str(json.loads((private / PAIR).read_text(encoding="utf-8"))["certificate"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _asked(columns: Sequence[str], spec: Spec) -> Iterator[_Taking]:
    """By which columns people are known again."""
    yield _Taking(tuple(sorted(columns)), False)
    own = (*spec.qi, *spec.sensitive_columns)
    if set(own) < set(columns):
        yield _Taking(tuple(sorted(own)), False)
    for name in dict.fromkeys((*spec.identifiers, *spec.named_person)):
        yield _Taking((name,), True)


class _Taking:
    """A sketch that is being made."""

    def __init__(self, columns: tuple[str, ...], identifies: bool) -> None:
        self.columns, self.identifies = columns, identifies
        self._held = np.zeros(0, np.uint64)
        self._top = np.iinfo(np.uint64).max

    def take(self, hashes: Words) -> None:
        self._held = np.append(self._held, hashes[hashes <= self._top])
        if len(self._held) > HELD:
            self._top = np.partition(self._held, HELD // 2)[HELD // 2]
            self._held = self._held[self._held <= self._top]

    def sketch(self) -> Sketch:
        hashes, often = np.unique(self._held, return_counts=True)
        # Who has several rows is one person all the same.
        often = np.ones_like(often) if self.identifies else often
        return Sketch(self.columns, self.identifies, hashes[:SAMPLE], often[:SAMPLE])


def _of_column(series: pl.Series) -> Words:
    """A hash for each cell, by column and value; a text that many cells hold is hashed once."""
    name, some = _of_texts(pl.Series([series.name])), series.head(HEAD)
    if series.dtype != pl.String or OFTEN * some.n_unique() > len(some):
        return _mixed(name + _of_values(series))
    shown = series.drop_nulls().unique()
    places = series.cast(pl.Enum(shown)).to_physical().cast(pl.UInt32).fill_null(len(shown))
    hashes = _mixed(name + np.append(_of_values(shown), _MISSING))
    return np.asarray(hashes[places.to_numpy()])


def _of_values(series: pl.Series) -> Words:
    """A hash for each value; a number has the same, however it is written."""
    if series.dtype.is_nested() or series.dtype in (pl.Object, pl.Binary):
        return np.full(len(series), _MISSING)  # what cannot be read as text tells nobody apart
    text = series.cast(pl.String)
    whole = (series if series.dtype.is_integer() else text).cast(pl.Int64, strict=False)
    number = text.cast(pl.Float64, strict=False)
    number = number.set(~number.is_finite().fill_null(True), None)
    whole = whole.set(number.fill_null(0.5) % 1 != 0, None)
    parts = whole.is_null() & number.is_not_null()
    found = whole.fill_null(0).to_numpy().astype(np.int64).view(np.uint64)
    if parts.any():
        near = number.fill_null(0).to_numpy().astype(np.float64)
        even = (near % 1 == 0) & (np.abs(near) < 2**53)
        bits = np.where(even, near, 0).astype(np.int64).view(np.uint64)
        found = np.where(parts, np.where(even, bits, near.view(np.uint64) ^ _PART), found)
    words = text.set((whole.is_not_null() | number.is_not_null()), None)
    if words.null_count() < len(words):
        found = np.where(words.is_not_null(), _of_texts(words.fill_null("")) ^ _TEXT, found)
    return np.where(series.is_null(), _MISSING, found)


def _of_texts(texts: pl.Series) -> Words:
    """By their UTF-8, eight bytes at a time."""
    held = texts.rechunk().to_arrow(compat_level=pl.CompatLevel.oldest())
    _, ends, letters = held.buffers()
    at = np.frombuffer(ends, np.int64)[held.offset : held.offset + len(held) + 1]
    padded = np.zeros(int(at[-1]) + 8, np.uint8)
    padded[: at[-1]] = np.frombuffer(letters or b"", np.uint8)[: at[-1]]
    every = as_strided(padded[:8].view("<u8"), (len(padded) - 7,), (1,))
    start, length = at[:-1], np.diff(at)
    found = _mixed(length.astype(np.uint64))
    some = np.flatnonzero(length)
    for taken in range(0, int(length.max(initial=0)), 8):
        left = length[some] - taken
        some, left = some[left > 0], left[left > 0]
        beyond = (8 * (8 - np.minimum(left, 8))).astype(np.uint64)
        word = every[start[some] + taken] & (np.uint64(2**64 - 1) >> beyond)
        found[some] = _mixed(found[some] ^ word)
    return found


def _mixed(numbers: Words) -> Words:
    """Spread over all 64 bits (splitmix64)."""
    return mix(numbers + np.uint64(0x9E3779B97F4A7C15))
