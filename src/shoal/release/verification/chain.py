"""Is a release the next one of a chain: all that came before stands in it as it was?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from shoal.engines import GID
from shoal.errors import InputError
from shoal.file_names import CERTIFICATE
from shoal.release import Release
from shoal.release.folder import load
from shoal.release.ledger import CHAIN, read_ledger
from shoal.release.pair import sha256
from shoal.release.stated import read_certificate
from shoal.release.verification.files import Claim


def check_chain(
    folder: Path, certificate: Mapping[str, Any], earlier: Sequence[str | Path]
) -> Iterator[Claim]:
    """Whether these are all releases before it, in order, and every group of the last of them is
    published again as it was; for those before that one, its own certificate says the same."""
    folders = [Path(one) for one in earlier]
    named = certificate.get("after", {"releases": []})["releases"]
    hashes = [sha256(one / CERTIFICATE) for one in folders]
    same = hashes == named
    yield Claim.of("chain", same, "other releases come before it, or in another order")
    for number, one in enumerate(folders):
        before = read_certificate(one).get("after", {"releases": []})["releases"]
        same = before == hashes[:number]
        yield Claim.of(f"chain, {one.name}", same, "it follows others")
    if folders:
        lost = _contents(load(folders[-1])).join(
            _contents(load(folder)), on=("people", "values"), how="left", suffix="_now"
        )
        missing = lost.filter(pl.col("often") > pl.col("often_now").fill_null(0)).height
        detail = f"{missing:,} are gone or changed" if missing else ""
        yield Claim("groups of earlier releases", not missing, detail)


def check_ledger(folder: Path, certificate: Mapping[str, Any], private: Path) -> Iterator[Claim]:
    """Whether the private folder has the ledger that the certificate vouches for."""
    if "ledger" not in certificate and not (private / CHAIN).is_file():
        return
    try:
        plain, _ = read_ledger(private)
        same = plain["releases"][-1] == sha256(folder / CERTIFICATE)
        yield Claim.of("ledger", same, "of another release")
    except InputError as wrong:
        yield Claim("ledger", False, str(wrong))


def _contents(release: Release) -> pl.DataFrame:
    """The different contents of groups, and how many groups have each."""
    told = []
    for name, frame in (("people", release.qi), ("values", release.sensitive)):
        texts = [pl.col(one).cast(pl.String).fill_null("\x00") for one in frame.columns[1:]]
        line = pl.concat_str(texts, separator="\x1f").alias(name)
        told.append(frame.select(GID, line).group_by(GID).agg(pl.col(name).sort().str.join("\x1e")))
    both = told[0].join(told[1], on=GID)
    return both.group_by("people", "values").agg(pl.len().cast(pl.Int64).alias("often"))
