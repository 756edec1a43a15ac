"""verify: is a release what its certificate says it is?

From the folder alone: hashes, counts, pages, order and spelling, and who signed it. With the
original table: every posterior is recomputed from the published tables by the auditor's own judge,
which shares no code with ART.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.auditing.check_words import in_short
from shoal.auditing.checks import Check
from shoal.auditing.checks import verdict as verdict_on
from shoal.auditing.findings import Judged
from shoal.data.spec.recipe import public_recipes, with_files
from shoal.display import card, counted
from shoal.engines import Engine, default_engine
from shoal.errors import InputError
from shoal.knowledge import Knowledge
from shoal.plain import plain
from shoal.release.folder import load
from shoal.release.pair import ROW_GROUPS, belong_together, by_row, has_record, is_recorded
from shoal.release.stated import read_certificate
from shoal.release.verification.chain import check_chain, check_ledger
from shoal.release.verification.files import Claim, check_files, check_lookup, check_tables
from shoal.release.verification.recompute import coded, recompute
from shoal.release.verification.texts import check_texts, check_types
from shoal.release.verification.trust import check_signers, taken_on_trust
from shoal.release.verification.weights import check_weights
from shoal.wording import adversaries_words, limit_named, verdict_words, visible


@dataclass(frozen=True)
class Verification:
    """All checks of one release."""

    recomputed: bool
    """Whether posteriors were recomputed from the original table."""
    verdict: tuple[Check, ...]
    """The checks of its verdict, as the certificate lists them; of an older one that lists none,
    as its figures tell."""
    worst_posterior: float
    """The largest posterior that the certificate states."""
    adversaries: tuple[str, ...]
    """Whom the certificate is about."""
    limit: str
    """The limit that it judges by: absolute or prior."""
    events: tuple[tuple[str, float], ...]
    """The protected events by their labels, each with its r."""
    views: tuple[tuple[str, ...], ...]
    """The sets of attributes in which it was judged."""
    min_support: int
    """How many rows must share attributes before their distribution is known."""
    on_trust: tuple[str, ...]
    """What was not seen, but taken from the certificate."""
    signed: str
    """Who vouches for it, in words."""
    checks: tuple[Claim, ...]

    def __repr__(self) -> str:
        lines = (": ".join(line) for line in self._figures())
        return "\n  ".join([self._title(), *lines])

    def _repr_html_(self) -> str:
        return card(self._title(), self._figures())

    def _title(self) -> str:
        how = "every probability recomputed" if self.recomputed else "from the release alone"
        return f"Verification: {'confirmed' if self.confirmed else 'refuted'} ({how})"

    def _figures(self) -> list[tuple[str, str]]:
        """What the certificate says, and which checks failed."""
        wrong = [check for check in self.checks if not check.passed]
        robust = f"{verdict_words(self.robust)} to the {adversaries_words(self.adversaries)}"
        robust += limit_named(self.limit)
        figures = [
            ("the certificate says", f"{robust}; {in_short(self.verdict)}"),
            ("judged", self.judged_words()),
            ("checks", f"{len(self.checks) - len(wrong):,} of {len(self.checks):,} passed"),
        ]
        figures += [(f"wrong: {visible(one.name)}", visible(one.detail)) for one in wrong[:3]]
        trust = ", ".join(self.on_trust) or "nothing"
        return [*figures, ("taken on trust", trust), ("signed", self.signed)]

    def judged_words(self) -> str:
        """By which r, in which views and with how much support it was judged."""
        by_r: dict[float, list[str]] = {}
        for label, r in self.events:
            by_r.setdefault(r, []).append(f'"{visible(label)}"')
        limits = "; ".join(f"r = {r:g} for {_few(labels)}" for r, labels in by_r.items())
        views = _few([" + ".join(visible(name) for name in view) for view in self.views])
        shown = f"{counted(len(self.views), 'view')} ({views})" if self.views else "no view"
        return f"{limits}; {shown}; min_support {self.min_support:,}"

    @property
    def robust(self) -> bool | None:
        """The verdict on what the certificate says: a confirmed one may well say False."""
        return verdict_on(self.verdict)

    @property
    def confirmed(self) -> bool:
        return all(check.passed for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        events = [{"label": label, "r": r} for label, r in self.events]
        found = {"confirmed": self.confirmed, "robust": self.robust}
        return {**found, **plain(self), "events": events}


def _few(texts: Sequence[str], most: int = 7) -> str:
    """The first of a list, and how many more there are."""
    more = len(texts) - most
    return ", ".join(texts[:most]) + (f" and {more:,} more" if more > 0 else "")


def verify(
    path: str | Path,
    *,
    table: Any = None,
    private: str | Path | None = None,
    chain: Sequence[str | Path] | None = None,
    knowledge: Knowledge | str | Path | None = None,
    hierarchies: Mapping[str, str | Path] | None = None,
    key: str | Path | None = None,
    engine: Engine | None = None,
) -> Verification:
    """Checks a release folder; with the original `table`, which the engine counts, also its
    certificate.

    A generalized release whose ranges overlap needs the publisher's `private` folder to tell who is
    in which group, and where people are missing only that folder tells who; a release judged
    against outside knowledge needs that `knowledge` again, and what a model says of everybody is in
    the private folder too: without it the model's view is not judged. `hierarchies` are the files
    that columns were recoded by; else they lie in the working folder. With the file of a public
    `key` the release must be signed with it. `chain` are the releases before it, in order.
    """
    folder = Path(path)
    certificate = read_certificate(folder)
    if private is not None and not has_record(Path(private)):
        raise InputError(
            "private-none",
            f'"{private}" holds no {ROW_GROUPS}, so it is no private folder of a release.',
            "Name the folder that was written with the release, or leave --private out.",
        )
    claimed = Judged.of(certificate["audit"])

    def outcome(checks: list[Claim], *, recomputed: bool) -> Verification:
        return Verification(
            checks=tuple(checks),
            recomputed=recomputed,
            verdict=claimed.checks,
            worst_posterior=claimed.worst_posterior,
            adversaries=claimed.names,
            limit=certificate["limit"],
            events=tuple((event["label"], event["r"]) for event in certificate["events"]),
            views=tuple(tuple(view) for view in certificate["knowledge"]["views"]),
            min_support=certificate["knowledge"]["min_support"],
            on_trust=taken_on_trust(
                certificate,
                recomputed=recomputed,
                recorded=is_recorded(private),
                by_row=by_row(private),
            ),
            signed=signers.words,
        )

    signers = check_signers(folder, key)
    files = [*check_files(folder, certificate), *signers.checks]
    if not all(check.passed for check in files):
        return outcome(files, recomputed=False)
    release = load(folder)
    checks = [*files, *check_tables(release)]
    whole = all(check.passed for check in checks)
    if whole:
        checks.append(check_weights(release))
        whole = checks[-1].passed
    if whole:
        checks += [check_lookup(release), *check_texts(folder, release)]
    if private is not None:
        paired = belong_together(folder, Path(private))
        checks.append(Claim.of("private folder", paired, "of another release"))
        checks += check_ledger(folder, certificate, Path(private))
    if chain is not None and whole:
        checks += check_chain(folder, certificate, chain)
    if table is None or not whole:
        return outcome(checks, recomputed=False)
    # Only the working folder is searched for files that a certificate names.
    recipes = with_files(public_recipes(release.spec.recode), hierarchies or {})
    asked = release.spec.with_(recode=recipes)
    original = (engine or default_engine()).count(table, asked)
    if original.persons is not None:
        told = certificate["person"]
        same = all(told[key] == count for key, count in original.persons.to_dict().items())
        checks.append(Claim.of("rows of people", same, "the table has others"))
    if original.spec.protect != release.spec.protect:
        checks.append(Claim("events", False, "the certificate names no values of the table"))
    labels = [event.label for event in original.events]
    if labels != [event["label"] for event in certificate["events"]]:
        return outcome([*checks, Claim("events", False, "they are others")], recomputed=False)
    original, code, strange = coded(release, original)
    if strange:
        return outcome([*checks, Claim("people", False, strange)], recomputed=True)
    checks.append(check_types(folder, release, original))
    checks += recompute(release, original, code, private, knowledge)
    return outcome(checks, recomputed=True)
