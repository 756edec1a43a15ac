"""find: settings that hold for a table, each of them run.

Every setting is run as `anonymize` would: groups from a seed, then the judgement of the usual
adversaries. Several ways to change a spec are followed in turn. Each begins where partners are
plenty, and goes towards what was asked as long as its settings hold, away from it where they fail.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import Any

import polars as pl

from shoal import compiling
from shoal.auditing.adversaries.adversary import USUAL, judging
from shoal.auditing.audit import audit as judge
from shoal.auditing.checks import largest_chance
from shoal.data.spec import Spec
from shoal.data.table import Table
from shoal.data.table.hierarchy import Hierarchy
from shoal.display import counted
from shoal.engines import Engine
from shoal.errors import InputError
from shoal.groups import Grouping, Progress, silent
from shoal.knowledge import Knowledge
from shoal.planning.comparison.trial import Trial, equip
from shoal.planning.plan import Ran
from shoal.planning.settings import SMALLER_R, Setting, settings
from shoal.release.drawing import Draw, draw
from shoal.release.utility import Workload
from shoal.wording import percent, verdict_words, visible

QUERIES = 500
LEAST, LIKELY, PLENTY, STEP = 1.1, 1.3, 2.0, 1.25
"""Slack: below the first no run is made, below the second it waits, at the third each way begins,
and by the last a setting has more of it than one that failed."""
LOOKING, RUNNING, AGAIN = 0.25, 0.2, 1.5
"""Shares of the time: to look for settings, and for one run at most; the best is run once more, and
so many times what it took is kept for that."""
PATIENCE = 0.6
"""The share of the time left that one r may take, where several are tried."""
SECOND = 1
"""The other seed, by which the best setting has to hold too."""


@dataclass(frozen=True)
class Tried:
    """One setting, and what came of it."""

    changes: tuple[str, ...]
    spec: Spec
    robust: bool | None
    """None where no verdict was reached."""
    why: str | None
    """Why there is no release, if there is none."""
    detail_lost: float
    distance: float
    seconds: float
    runs: int = 1
    suppressed: int | None = None
    suppressed_with_event: int | None = None
    largest_chance: float | None = None
    """Of a protected value, by any check."""
    error: float | None = None
    """The mean relative error of counts of cases, by the setting's own QIs."""
    error_all: float | None = None
    """The mean relative error of counts of any sensitive values."""

    @property
    def words(self) -> str:
        return ", ".join(self.changes) or "as asked"

    @property
    def stopped(self) -> bool:
        """Whether it took longer than it might."""
        return self.robust is None and self.why is not None

    @property
    def verdict(self) -> str:
        return self.why or verdict_words(self.robust)

    def to_dict(self) -> dict[str, Any]:
        return {**vars(self), "changes": list(self.changes), "spec": self.spec.to_mapping()}


@dataclass(frozen=True)
class Found:
    """Settings that were run, best first."""

    tried: tuple[Tried, ...]
    rows: int
    seconds: float
    looked_at: int
    """Settings that were weighed by their bounds."""
    obstacle: str | None = None
    """Why no setting was worth a run."""

    @property
    def holding(self) -> tuple[Tried, ...]:
        return tuple(one for one in self.tried if one.robust)

    @property
    def recommended(self) -> Tried | None:
        return next(iter(self.holding), None)

    def __repr__(self) -> str:
        lines = [f"{visible(one.words)}: {visible(one.verdict)}" for one in self.tried[:5]]
        held = f"{len(self.holding)} of {counted(len(self.tried), 'setting')} that were run hold"
        return "\n  ".join([f"Found: {held}", *([self.obstacle] if self.obstacle else []), *lines])

    def to_dict(self) -> dict[str, Any]:
        tried = [one.to_dict() for one in self.tried]
        return {**vars(self), "holding": len(self.holding), "tried": tried}

    def to_frame(self) -> pl.DataFrame:
        """One line per setting."""
        lines = [
            {**one.to_dict(), "changes": one.words, "spec": one.spec.to_toml()}
            for one in self.tried
        ]
        return pl.DataFrame(lines, infer_schema_length=None)


class _TimeUp(Exception):  # noqa: N818
    """A run was stopped."""


@contextmanager
def stopped_after(seconds: float) -> Iterator[None]:
    """Raises _TimeUp in what runs inside, in this thread, when one of shoal's functions is called
    next: a signal would arrive in compiled code too, which does not survive that. What takes time
    once, to compile kernels, does not count."""
    before = sys.getprofile()
    with compiling.clock() as spent:

        def watch(frame: FrameType, event: str, _: object) -> None:
            if event == "call" and spent() > seconds:
                home = frame.f_globals.get("__name__", "")
                if home.startswith("shoal.") and home not in (__name__, "shoal.compiling"):
                    raise _TimeUp

        sys.setprofile(watch)
        try:
            yield
        finally:
            sys.setprofile(before)


def run_setting(setting: Setting, *, seed: int, seconds: float) -> Tried:
    """Runs a setting for so many seconds at most."""
    tried = Tried(
        setting.changes, setting.spec, None, None, setting.detail_lost, setting.distance, 0.0
    )
    with compiling.clock() as spent:
        try:
            with stopped_after(seconds):
                made = _measured(setting.make(), seed)
        except _TimeUp:
            made = {"why": f"stopped after {seconds:.0f} s"}
        except InputError as error:
            made = {"robust": False, "why": f"refused: {error.code}"}
        return replace(tried, seconds=spent(), **made)


def _made(table: Table, known: Knowledge, seed: int, engine: Engine | None = None) -> Draw:
    """Groups as `anonymize` makes them. The engine deals rows where they are people's."""
    method = equip("art", {"knowledge": known}, None)
    by_row = table.persons is not None and table.persons.of_row is not None

    def judged(grouping: Grouping) -> Draw:
        dealt = engine.deal(table, grouping, seed=seed) if engine and by_row else None
        answered = grouping.claims.get("readers", ())
        audit = judge(
            table,
            grouping,
            knowledge=known,
            adversary=[*answered, *judging(USUAL, known, table.spec)],
            rows=None if dealt is None else dealt.group,
        )
        return Draw(grouping, dealt, audit)

    def search(asked: Table, one: int) -> Grouping:
        return method.anonymize(asked, seed=one)

    return draw(table, search, judged, seed=seed, blind=True)


def _measured(table: Table, seed: int) -> dict[str, Any]:
    made = _made(table, Knowledge.of(table), seed)
    found, trial = made.audit, Trial.of(table, made.grouping, seconds=None)
    errors: dict[str, Any] = {}
    if table.several is None and found.published:
        errors = trial.errors(Workload(queries=QUERIES))
    return {
        "robust": found.robust,
        "suppressed": found.suppressed,
        "suppressed_with_event": found.suppressed_carriers,
        "largest_chance": largest_chance(found.checks, found.worst_posterior),
        "error": errors.get("relative_error_protected"),
        "error_all": errors.get("relative_error"),
    }


@dataclass(eq=False)
class _Way:
    """Settings that change the same things, and how far it was followed."""

    settings: list[Setting] = field(default_factory=list)
    nearest: float = float("inf")
    """The distance of the nearest setting that holds."""
    failed: float = LEAST
    """The largest slack that did not do."""
    aim: float = PLENTY
    tries: int = 0

    def next(self, costly: float) -> Setting | None:
        """The nearest to what was asked of those with enough slack, or with most; none that is as
        large as one that took too long."""
        open_ = [
            one
            for one in self.settings
            if one.slack > self.failed and one.distance < self.nearest and one.cost < costly
        ]
        enough = [one for one in open_ if one.slack >= self.aim]
        if enough:
            return min(enough, key=lambda one: (one.distance, -one.slack))
        return max(open_, key=lambda one: one.slack, default=None)

    def turn(self, one: Setting) -> tuple[float, float]:
        """Whose turn it is, of several the smallest search. What is hardly likely to hold waits
        for two turns."""
        return self.tries + 2.0 * (one.slack < LIKELY), one.cost

    def learn(self, one: Setting, robust: bool | None) -> None:
        self.settings.remove(one)
        self.tries += 1
        if robust:
            self.nearest = one.distance
            self.aim = (self.failed * min(one.slack, 2 * self.aim)) ** 0.5
        else:
            self.failed = max(self.failed, one.slack)
            self.aim = one.slack * STEP


def find(
    table: Table,
    spec: Spec | None = None,
    *,
    seconds: float = 60.0,
    hierarchies: Mapping[str, tuple[str, Hierarchy]] | None = None,
    importance: Mapping[str, float] | None = None,
    seed: int = 0,
    progress: Progress = silent,
    told: Callable[[Found], None] | None = None,
) -> Found:
    """Runs settings for about so many seconds; `spec` is the table's as it was given. After each
    run, what came of all so far is `told`."""
    asked = spec or table.spec
    if table.persons is not None and table.persons.of_row is not None:
        raise InputError(
            "find-person",
            f'People have several rows by "{asked.person}", and settings are run on counted rows.',
            "Find a setting for one row per person (--rows-per-person first, or event).",
        )
    with compiling.clock() as spent:
        search = _Search(table, seconds, seed, progress, told, spent)
        # Too many for r = 2 without any column, and the largest limit prior has no slack at all.
        if table.event_r.max() < min(SMALLER_R) or 2 * table.event_rows.max() <= table.rows:
            search.look_at(settings(table, asked, hierarchies, importance))
            search.run_what_was_asked()
            search.run_ways()
            search.run_again()
        return search.found()


@dataclass(eq=False)
class _Search:
    """What was looked at, and what was run of it so far."""

    table: Table
    seconds: float
    seed: int
    progress: Progress
    told: Callable[[Found], None] | None
    spent: Callable[[], float]
    looked: list[Setting] = field(default_factory=list)
    ran: dict[Setting, Tried] = field(default_factory=dict)
    ways: dict[tuple[str, ...], _Way] = field(default_factory=dict)

    def left(self) -> float:
        return self.seconds - self.spent()

    def found(self) -> Found:
        tried = tuple(sorted(self.ran.values(), key=_rank))
        obstacle = None if tried else _obstacle(self.table)
        return Found(tried, self.table.rows, self.spent(), len(self.looked), obstacle)

    def look_at(self, near: Iterator[list[Setting]]) -> None:
        """Settings near to what was asked, by the ways that they go, as long as there is time."""
        for several in near:
            self.looked += several
            if self.left() < self.seconds * (1.0 - LOOKING):
                break
        for setting in self.looked:
            self.ways.setdefault(setting.kind, _Way()).settings.append(setting)

    def run_what_was_asked(self) -> None:
        (first,) = self.ways.pop(()).settings
        if first.slack >= 1.0:
            self._run(first, self.seconds * RUNNING)
            if self.ran[first].robust:
                self._again_holds(first)

    def run_ways(self) -> None:
        """One setting after another of the way whose turn it is, unless what was asked holds."""
        if any(one.robust for one in self.ran.values()):
            return
        costly = min((one.cost for one in self.ran if self.ran[one].stopped), default=float("inf"))
        while True:
            seconds = (one.seconds for one in self.ran.values() if one.robust)
            again = AGAIN * max(seconds, default=0.0)
            ways = self.ways.values()
            open_ = [(way, one) for way in ways if (one := way.next(costly)) is not None]
            if self.left() < again + 1.0 or not open_:
                return
            way, chosen = min(open_, key=lambda pair: pair[0].turn(pair[1]))
            self._run(chosen, min(self.seconds * RUNNING, self.left() - again))
            if self.ran[chosen].stopped:
                costly = min(costly, chosen.cost)
            way.learn(chosen, self.ran[chosen].robust)

    def run_again(self) -> None:
        """What was stopped, if nothing else holds; and by a second seed what is best."""
        stopped = [one for one in self.ran if self.ran[one].stopped]
        held = any(one.robust for one in self.ran.values())
        if stopped and not held and self.left() > self.seconds * RUNNING:
            self._run(min(stopped, key=lambda one: one.cost), self.left())
        for one in sorted(self.ran, key=lambda one: _rank(self.ran[one])):
            ran = self.ran[one]
            if not ran.robust or ran.runs > 1 or self._again_holds(one):
                break

    def _run(self, one: Setting, longest: float) -> None:
        trying = visible(", ".join(one.changes) or "what was asked")
        self.progress(f"trying {trying}", int(self.spent()), int(self.seconds))
        self.ran[one] = run_setting(one, seed=self.seed, seconds=max(1.0, longest))
        if self.told is not None:
            self.told(self.found())

    def _again_holds(self, one: Setting) -> bool:
        """Whether it holds with the second seed, or that takes too long to tell."""
        longest = max(AGAIN * self.ran[one].seconds, self.left())
        second = run_setting(one, seed=self.seed + SECOND, seconds=longest)
        if second.robust:
            self.ran[one] = replace(self.ran[one], runs=2)
        elif not second.stopped:
            self.ran[one] = replace(
                self.ran[one], robust=False, why="held in one of two runs", runs=2
            )
        return second.robust is True or second.stopped


def run_asked(
    table: Table, known: Knowledge, *, seconds: float, engine: Engine | None = None
) -> Ran:
    """What `anonymize` makes of a table, if that takes no longer than so many seconds."""
    r = float(table.event_r.max())
    try:
        with stopped_after(seconds):
            return Ran(r, _made(table, known, 0, engine).audit.robust)
    except _TimeUp:
        return Ran(r, stopped=True)
    except InputError as error:
        return Ran(r, False, refused=error.code)


def try_r(
    table: Table, known: Knowledge, *, seconds: float, most: float, engine: Engine | None = None
) -> list[Ran]:
    """Whether a table's own r holds, and the nearest larger or smaller ones up to `most`, each of
    them run as `anonymize` would, for about so many seconds."""
    asked, tried = float(table.event_r.max()), list[Ran]()
    several = any(event.r for event in table.events)  # a larger r is none of theirs

    def run(r: float) -> bool:
        one = table.with_limits(lambda own: r if r > asked else min(own, r))
        longest = PATIENCE * (seconds - spent())
        tried.append(run_asked(one, known, seconds=longest, engine=engine))
        return tried[-1].robust is True

    with compiling.clock() as spent:
        held = asked <= most and run(asked)
        above = [] if several else [r for r in SMALLER_R if asked < r <= most]
        others = above if held else [r for r in SMALLER_R if r < asked]
        while others and spent() < seconds - 0.5:  # by halves
            middle = len(others) // 2
            held = run(others[middle])
            others = others[middle + 1 :] if held else others[:middle]
        return sorted(tried, key=lambda one: one.r)


def _rank(one: Tried) -> tuple[bool, bool, float, float]:
    """What holds first, then what is nearest, then what errs least."""
    return (
        one.robust is not True,
        one.robust is True and one.runs < 2,
        one.distance,
        one.error or 0.0,
    )


def _obstacle(table: Table) -> str:
    share = float((table.event_rows / table.rows).max())
    event = table.events[int(table.event_rows.argmax())]
    return (
        f'{percent(share)} of the people have "{visible(event.label)}", so that with an absolute '
        f"limit no r above {1 / share:.2f} is possible, whatever columns are published; no "
        "setting was run."
    )
