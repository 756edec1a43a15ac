"""The ledger of a chain of releases: the state of one is where the next begins.

It lies in the private folder and says of every row of the release's table who it is (a keyed hash),
what the table has of them, and in which group they are published. The next release keeps all groups
as they are, adds newcomers in groups of their own, and names all certificates before it by their
hashes; its own certificate holds a keyed hash of its ledger. So a ledger that was changed,
reordered or shortened is not that of the release that was published.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shoal.arrays import Bools, Floats, IntArray, Ints
from shoal.data.sources import read_table, write_table
from shoal.data.spec import Spec
from shoal.data.table import Table
from shoal.data.table.frames import free_name
from shoal.data.table.persons import check_identifiers
from shoal.engines import GID, Dealt
from shoal.errors import InputError
from shoal.groups import Anonymizer, Grouping
from shoal.release.tables import numbered
from shoal.wording import people as counted_people

LEDGER, CHAIN, PUBLISHED = "ledger.parquet", "chain.json", "published_certificate.json"
FORMAT = "shoal-ledger/1"
SAME = ("qi", "sensitive", "recode", "k", "publish_members", "publish_apart")
"""What no later release of a chain may ask for otherwise: it would publish the same groups in
another way."""


@dataclass(frozen=True, eq=False)
class Ledger:
    """The state of a chain, before a release is added or after."""

    key: bytes
    """The secret of its hashes."""
    column: str | None
    """The column that says who somebody is; None: all that is published of them."""
    releases: tuple[str, ...]
    """The SHA-256 of the certificates so far, in order."""
    people: pl.DataFrame
    """One line for each row of the table, as it stands there, with `names.who`; those published
    before come first."""
    kept: int
    """How many were published before."""
    group: IntArray
    """The group of each of these, 0 to K-1."""
    pooled: Bools
    """Of each of their groups."""
    weight: Floats | None
    left: int = 0
    """How many of them are in the new table no more."""
    changed: int = 0
    """Of how many it has something else."""

    @property
    def who(self) -> str:
        return _names(self.people.columns)[0]

    @property
    def words(self) -> str:
        """Who came, left and changed."""
        new = self.people.height - self.kept
        return (
            f"{counted_people(self.kept)} published before stay in their groups; {new:,} are new. "
            f"Of the former {self.left:,} are in the table no more and {self.changed:,} have other "
            "values now: what was published of them stays."
        )

    @property
    def frame(self) -> pl.DataFrame:
        """The table: people published before as they were, and newcomers."""
        return self.people.drop(self.who)

    def groups(self, table: Table) -> Grouping:
        """Those that are published already."""
        rows = np.full(table.rows, -1, np.int32)
        rows[: self.kept] = self.group
        return Grouping.of_rows(table, rows, pooled=self.pooled)

    def newcomers(self, table: Table) -> Table:
        """Those of the table who were never published."""
        if self.kept == table.rows:
            raise InputError(
                "ledger-nobody",
                "Nobody is new since the release before, which has everybody already.",
                "Give a table with people who were never published.",
            )
        return table.only(np.arange(self.kept, table.rows))

    def few(self, table: Table, new: Table) -> InputError:
        """The error for newcomers who are too few to hide those of them who have an event."""
        rows = np.arange(self.kept)
        cases = np.bincount(self.group, table.row_event[rows] >= 0, len(self.pooled))
        hiding = float(np.bincount(self.group)[cases > 0].sum() / max(cases.sum(), 1))
        return InputError(
            "ledger-few",
            f"{counted_people(new.rows)} are new, {new.carriers:,} of them with a protected value: "
            "too few to hide these among.",
            f"Wait for more people. In earlier groups {hiding:.1f} people were published for each "
            f"case; at that rate these need about {hiding * new.carriers:,.0f}.",
        )

    def fewer(self, new: Table, least: int) -> InputError:
        """The error for newcomers who are fewer than a group has."""
        return InputError(
            "ledger-few",
            f"{counted_people(new.rows)} {'is' if new.rows == 1 else 'are'} new, and a group has "
            f"{least:,} or more: in a smaller one values can be read.",
            f"Wait for {counted_people(least - new.rows)} more.",
        )

    def joined(self, table: Table, found: Grouping, dealt: Dealt) -> tuple[Grouping, Dealt, Bools]:
        """All groups, those of newcomers as they were `found` and dealt, numbered as they are
        published; and which of them were published before."""
        known = len(self.pooled)
        rows = np.full(table.rows, -1, np.int32)
        rows[: self.kept] = self.group
        rows[self.kept :] = np.where(dealt.group >= 0, dealt.group + known, -1)
        pooled = np.zeros(len(found.copies), bool) if found.pooled is None else found.pooled
        pooled = np.append(self.pooled, np.repeat(pooled, found.copies))
        weight = None
        if self.weight is not None or dealt.weight is not None:
            weight = np.full(table.rows, np.nan)
            weight[: self.kept] = np.nan if self.weight is None else self.weight
            weight[self.kept :] = np.nan if dealt.weight is None else dealt.weight
        made = Grouping.of_rows(
            table,
            rows,
            weights=weight,
            pooled=pooled if pooled.any() else None,
            claims=found.claims,
        )
        grouping, number = numbered(table, made)
        rows[rows >= 0] = number[rows[rows >= 0]]
        told = np.zeros(len(number), bool)
        told[number[:known]] = True
        return grouping, Dealt(rows, table.row_value, weight), told


def begin(frame: pl.DataFrame, spec: Spec, column: str | None, key: bytes) -> Ledger:
    """The ledger of a first release."""
    _check(spec)
    check_identifiers(frame, spec)
    people = _people(frame, spec, column, key)
    nobody = np.zeros(0, np.int32)
    return Ledger(key, column, (), people, 0, nobody, np.zeros(0, bool), None)


def follow(frame: pl.DataFrame, spec: Spec, private: Path, column: str | None) -> Ledger:
    """The ledger of a release that is to follow the one of a private folder."""
    _check(spec)
    check_identifiers(frame, spec)
    plain, lines = read_ledger(private)
    _check_same(spec, Spec.from_toml(private / "spec.toml"))
    if column not in (None, plain["column"]):
        raise InputError(
            "ledger-key",
            f'The ledger knows people by {_by(plain["column"])}, and not by "{column}".',
            "Leave --key out.",
        )
    key = bytes.fromhex(plain["key"])
    who, gid, pooled, weight, before = _names(lines.columns)
    known = lines.filter(pl.col(gid) >= 0)
    columns = [name for name in lines.columns if name not in (gid, pooled, weight, before)]
    own = [name for name in columns if name != who]
    try:
        given = frame.with_columns(pl.col(name).cast(lines.schema[name]) for name in own)
    except (pl.exceptions.PolarsError, TypeError):
        raise InputError(
            "ledger-columns",
            "A column of the table holds something else than in the release before.",
            "Give the columns the types that they had.",
        ) from None
    people = _people(given, spec, plain["column"], key)
    again = people.join(known.select(columns), on=who, how="inner", suffix=" (before)")
    same = [pl.col(name).eq_missing(pl.col(f"{name} (before)")) for name in own]
    newcomers = people.join(known.select(who), on=who, how="anti", maintain_order="left")
    ids, group = np.unique(known[gid].to_numpy(), return_inverse=True)
    pools = np.zeros(len(ids), bool)
    pools[group[known[pooled].to_numpy()]] = True
    weights = known[weight].fill_null(np.nan).to_numpy() if weight in lines.columns else None
    return Ledger(
        key,
        plain["column"],
        tuple(plain["releases"]),
        pl.concat([known.select(columns), newcomers.select(columns)]),
        known.height,
        group.astype(np.int32),
        pools,
        weights,
        left=known.height - again.height,
        changed=again.height - again.filter(pl.all_horizontal(same)).height,
    )


def read_ledger(private: Path) -> tuple[dict[str, Any], pl.DataFrame]:
    """What a private folder says of its chain, and the people of its ledger; an InputError unless
    it is that of the certificate beside it."""
    if not (private / CHAIN).is_file():
        raise InputError(
            "ledger-none",
            f'"{private}" is no private folder with a ledger.',
            "Name the private folder of a release that was made with --ledger; to publish beside "
            "one without it, judge both (shoal audit --releases).",
        )
    try:
        plain = json.loads((private / CHAIN).read_text(encoding="utf-8"))
        content = (private / LEDGER).read_bytes()
        certificate = (private / PUBLISHED).read_bytes()
        told = json.loads(certificate)
        earlier = told.get("after", {"releases": []})["releases"]
        whole = (
            plain["format"] == FORMAT
            and plain["releases"] == [*earlier, hashlib.sha256(certificate).hexdigest()]
            and hmac.compare_digest(told["ledger"], sealed(bytes.fromhex(plain["key"]), content))
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        whole = False
    if not whole:
        raise InputError(
            "ledger-forged",
            f'The ledger in "{private}" is not the one that its release was published with.',
            "Give the private folder as it was written; without it, nothing can follow that "
            "release safely.",
        )
    return plain, read_table(private / LEDGER)


@dataclass(frozen=True, eq=False)
class Line:
    """Who is published, as the ledger of a private folder says it."""

    key: str
    column: str | None
    people: pl.DataFrame
    """Who was published, with what of them, the gid of their group and, if they have one, their
    weight."""
    who: str
    told: tuple[str, ...]
    """The columns of gid and weight."""
    columns: tuple[str, ...]
    """What it has of everybody."""

    @classmethod
    def read(cls, private: Path) -> Line:
        plain, lines = read_ledger(private)
        who, gid, pooled, weight, before = _names(lines.columns)
        told = tuple(name for name in (gid, weight) if name in lines.columns)
        own = tuple(name for name in lines.columns if name not in (who, *told, pooled, before))
        people = lines.filter(pl.col(gid) >= 0).select(*own, who, *told)
        return cls(plain["key"], plain["column"], people, who, told, own)


def whose(frame: pl.DataFrame, ledger: Line) -> pl.Series:
    """Who a table's rows are, as a ledger calls them; of the table of another ledger of its chain,
    as that one does."""
    if ledger.who in frame.columns:
        return frame[ledger.who]
    return _who(frame, ledger.columns, ledger.column, bytes.fromhex(ledger.key))


def told_before(private: Path) -> Ints:
    """The gids of the groups of a release that earlier ones published too."""
    lines = read_ledger(private)[1]
    _, gid, _, _, before = _names(lines.columns)
    told = lines.filter(pl.col(before) & (pl.col(gid) >= 0))
    return np.unique(told[gid].to_numpy())


def sealed(key: bytes, content: bytes) -> str:
    """What a certificate says of a ledger: nothing to whoever has not its key."""
    return hmac.new(key, content, hashlib.sha256).hexdigest()


def write_ledger(
    ledger: Ledger, gid: IntArray, pooled: Bools, weight: Floats | None, folder: Path
) -> str:
    """Writes everybody with their group, and gives what the certificate says of it."""
    _, gid_name, pooled_name, weight_name, before = _names(ledger.people.columns)
    told = [pl.Series(gid_name, gid), pl.Series(pooled_name, pooled)]
    told.append(pl.Series(before, np.arange(len(gid)) < ledger.kept))
    told += [] if weight is None else [pl.Series(weight_name, weight, nan_to_null=True)]
    write_table(ledger.people.with_columns(told), folder / LEDGER)
    return sealed(ledger.key, (folder / LEDGER).read_bytes())


def write_chain(ledger: Ledger, certificate: bytes, folder: Path) -> None:
    """Writes which releases there are, this one last."""
    plain = {
        "format": FORMAT,
        "key": ledger.key.hex(),
        "column": ledger.column,
        "releases": [*ledger.releases, hashlib.sha256(certificate).hexdigest()],
    }
    (folder / CHAIN).write_text(json.dumps(plain, indent=2) + "\n", encoding="utf-8")
    (folder / PUBLISHED).write_bytes(certificate)


def secret(seed: int) -> bytes:
    """The key of a chain that begins with a run of this seed."""
    return hashlib.sha256(f"ledger {seed}".encode()).digest()


def _names(columns: Sequence[str]) -> list[str]:
    """The columns of a ledger beside those of the table."""
    parts = ("who", GID, "pooled", "weight", "before")
    taken = [name for name in columns if not name.startswith("(ledger) ")]
    return [free_name(f"(ledger) {one}", taken) for one in parts]


def _people(frame: pl.DataFrame, spec: Spec, column: str | None, key: bytes) -> pl.DataFrame:
    """Everybody's columns, and who they are."""
    own = [*spec.qi, *spec.sensitive_columns]
    who = _who(frame, own, column, key)
    return frame.select(own).with_columns(who.alias(_names(own)[0]))


def _who(frame: pl.DataFrame, own: Sequence[str], column: str | None, key: bytes) -> pl.Series:
    missing = [
        name for name in (*own, *([] if column is None else [column])) if name not in frame.columns
    ]
    if missing:
        raise InputError(
            "ledger-column",
            f'The table has no column "{missing[0]}".',
            f"Columns: {', '.join(frame.columns)}.",
        )
    if column is None:
        texts = frame.select(
            pl.concat_str(
                [pl.col(name).cast(pl.String).fill_null("\x00") for name in own], separator="\x1f"
            ).alias("text")
        )
        often = pl.int_range(pl.len()).over("text").cast(pl.String)
        text = texts.select(pl.concat_str(["text", often], separator="\x1e"))["text"]
    else:
        text = frame[column].cast(pl.String)
        if text.null_count() or text.n_unique() < len(text):
            raise InputError(
                "ledger-key-repeats",
                f'"{column}" does not name everybody once.',
                "Name a column that differs between people (--key), and give one row for each.",
            )
    who = [hashlib.blake2b(one.encode(), key=key, digest_size=16).hexdigest() for one in text]
    return pl.Series("who", who, dtype=pl.String)


def _by(column: str | None) -> str:
    return "all that is published of them" if column is None else f'"{column}"'


def _check(spec: Spec) -> None:
    """An InputError for what no chain of releases can be made of."""
    reasons = {
        "people with several rows": spec.person is not None,
        "several sensitive columns": len(spec.sensitive_columns) > 1,
        "groups of k, for which columns are recoded anew": spec.k is not None,
        "columns whose recoding depends on the table (quantiles, rare)": any(
            one.quantiles or one.rare for _, one in spec.recode
        ),
    }
    for reason, given in reasons.items():
        if given:
            raise InputError(
                "ledger-spec",
                f"A chain of releases is not kept for {reason}.",
                "Leave --ledger and --after out, or that out of the spec.",
            )


def _check_same(spec: Spec, before: Spec) -> None:
    """An InputError for a spec by which groups would be published in another way than before."""
    for name in SAME:
        if getattr(spec, name) != getattr(before, name):
            raise InputError(
                "ledger-other",
                f"{name} is another than in the release before, whose groups are published again "
                "as they are.",
                "Ask for the same; or publish it beside, if `shoal audit --releases` says that "
                "both can be known.",
            )


def check_same(table: Table, method: Anonymizer, private: Path) -> None:
    """An InputError if protected values are others than in the release before, or if a method
    publishes more or less than true values of whole groups."""
    before = Spec.from_toml(private / "spec.toml")
    known = {(event.label, event.values) for event in before.protect or ()}
    if before.protect is not None and known != {(one.label, one.values) for one in table.events}:
        raise InputError(
            "ledger-other",
            "The protected values are others than in the release before, whose groups are "
            "published again as they are.",
            "Protect the same values.",
        )
    plain = {"form": "bucketized", "condition": "joint"}
    if method.name != "art" or any(getattr(method, name) != way for name, way in plain.items()):
        raise InputError(
            "ledger-method",
            f"{method.name} makes no groups that can follow a release.",
            "Use art, in the form bucketized, with the condition joint.",
        )
