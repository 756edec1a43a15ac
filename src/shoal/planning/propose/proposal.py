"""The proposal: guesses with their reasons, and the commented TOML file that they make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from shoal.data.spec import Event, Recipe, support_for
from shoal.data.spec.toml_text import toml_string
from shoal.data.table.alike import SAME_BUT_FOR, alike_values
from shoal.planning.propose.feasible import PROPOSED_R
from shoal.wording import plain_percent

Shares = tuple[tuple[str, float], ...]
Role = Literal["sensitive", "qi", "identifier", "person", "weight", "unpublished"]
ALONE: tuple[Role, ...] = ("person", "weight")
"""Roles of one column."""
SHOWN_VALUES = 20
RUN = {
    True: "These settings held when they were run once.",
    False: "These settings did not hold when they were run: `shoal find` tries others.",
    None: "No run of these settings came to its end: only that shows whether they hold.",
}


@dataclass(frozen=True)
class Guess:
    """What a column seems to be, and why."""

    column: str
    role: Role
    reason: str


@dataclass(frozen=True)
class ProposedRecoding:
    """What a column seems to need before it is anonymized, and why."""

    column: str
    missing: tuple[str, ...]
    nominal: bool
    reason: str
    labels: tuple[tuple[str, str], ...] = ()
    """What its codes stand for, by which its values are guessed at."""

    def recipe(self) -> Recipe | None:
        """What is left to do once codes are labels."""
        if not self.missing and not self.nominal:
            return None
        return Recipe(missing=self.missing, nominal=self.nominal)


@dataclass(frozen=True)
class Proposal:
    """A guessed spec, to be read and corrected by a person."""

    rows: int
    guesses: tuple[Guess, ...]
    """One for each column, in the table's order."""
    values: Shares
    """The values of the proposed sensitive column with their shares, commonest first."""
    bands: tuple[tuple[str, float], ...]
    """Band widths that suit numeric QIs with many values."""
    max_attributes: int | None
    """A limit for the views, if the QIs make too many."""
    titles: tuple[tuple[str, str], ...] = ()
    """What published columns mean in words."""
    events: tuple[Event, ...] = ()
    """Protected events; without any, each value is one."""
    recodings: tuple[ProposedRecoding, ...] = ()
    r: int | None = None
    """The largest of a few that planning does not rule out; None if nothing could be tried."""
    held: bool | None = None
    """Whether what is proposed held when it was run; None where no run came to its end."""
    common: Shares = ()
    """Values that too many people have to be an event."""
    left_out: tuple[tuple[Event, str], ...] = ()
    """Events that cannot work beside the others, and why."""
    decide: tuple[str, ...] = ()
    """What a person must decide before the proposal can be used."""

    def columns(self, role: Role) -> list[Guess]:
        """The guesses of one role."""
        return [guess for guess in self.guesses if guess.role == role]

    def to_toml(self) -> str:
        """The proposal as a spec file, with the reason for every guess as a comment."""
        blocks = [
            f"# A proposal from {self.rows:,} rows and {len(self.guesses)} columns.\n"
            "# Every role below is a guess with its reason: read, correct, then use it.\n"
            + "".join(f"# A PERSON MUST DECIDE: {one}\n" for one in self.decide),
            _sensitive_block(self),
            "# Quasi-identifiers: published, and known to an outsider.\n"
            + _list("qi", self.columns("qi"), none="No column looks like one: name them here."),
            "# Identifiers: name people directly, and are never published.\n"
            + _list("identifiers", self.columns("identifier"), none="No column looks like one."),
            _person_block(self.columns("person")),
            _weight_block(self.columns("weight")),
            _unpublished_block(
                [one for role in ALONE for one in self.columns(role)[1:]]
                + self.columns("unpublished")
            ),
            _strength_block(self),
            _knowledge_block(self),
            _titles_block(self.titles),
            _recode_block(self.recodings),
        ]
        return "\n".join(block for block in blocks if block)


def _sensitive_block(proposal: Proposal) -> str:
    head = "# The sensitive column: what nobody may be linked to.\n"
    if len(proposal.columns("sensitive")) > 1:
        head = "# The sensitive columns: what nobody may be linked to, read alone and together.\n"
        return head + _list("sensitive", proposal.columns("sensitive"), none="")
    candidates = proposal.columns("sensitive")
    if not candidates:
        return head + '# No name suggests one: write it here.\nsensitive = ""\n'
    return head + f"sensitive = {toml_string(candidates[0].column)}  # {candidates[0].reason}\n"


def _list(key: str, guesses: list[Guess], *, none: str) -> str:
    if not guesses:
        return f"# {none}\n{key} = []\n"
    lines = [f"    {toml_string(guess.column)},  # {guess.reason}\n" for guess in guesses]
    return f"{key} = [\n{''.join(lines)}]\n"


def _person_block(guesses: list[Guess]) -> str:
    if not guesses:
        return ""
    column, reason = guesses[0].column, guesses[0].reason
    return (
        "# Rows are not people: this column says whose they are, and is never published.\n"
        f"person = {toml_string(column)}  # {reason}\n"
        "# One row each, with the protected value if any row has one; or first, all and more\n"
        'rows_per_person = "event"\n'
    )


def _weight_block(guesses: list[Guess]) -> str:
    if not guesses:
        return ""
    column, reason = guesses[0].column, guesses[0].reason
    return (
        "# The survey weight: how many people of the population a row stands for. Name it among\n"
        "# qi as well to publish it, in bands (see docs/howto/survey-weights.md).\n"
        f"weight = {toml_string(column)}  # {reason}\n"
    )


def _unpublished_block(guesses: list[Guess]) -> str:
    if not guesses:
        return ""
    lines = [f"#   {toml_string(guess.column)}: {guess.reason}\n" for guess in guesses]
    return "# Not published, because no role names them:\n" + "".join(lines)


def _strength_block(proposal: Proposal) -> str:
    lines = [
        "# Nobody may be linked to a protected event with a probability above 1/r.",
        *_r_lines(proposal.r, proposal.held),
    ]
    if proposal.events:
        lines += ["", "# Protected events, a guess: name what would harm."]
        lines += ["protect = [", *map(_event, proposal.events), "]"]
    for value, share in proposal.common:
        lines += [
            f"# Left out: {toml_string(value)} is so common that no r above {1 / share:.3g} can "
            "hold for it."
        ]
    few = proposal.left_out[:SHOWN_VALUES]
    lines += [f"# Left out: {toml_string(one.label)}: {why}." for one, why in few]
    if len(proposal.left_out) > len(few):
        lines += [f"# Left out: {len(proposal.left_out) - len(few)} more."]
    if proposal.values:
        lines += [
            "",
            "# Without protected events each value is one. The values and their shares:",
            *(
                f"#   {toml_string(name)}: {plain_percent(part)}"
                for name, part in proposal.values[:SHOWN_VALUES]
            ),
        ]
        if len(proposal.values) > SHOWN_VALUES:
            lines.append(f"#   and {len(proposal.values) - SHOWN_VALUES} rarer ones")
        if not proposal.events:
            lines += _protect_lines([value for value, _ in proposal.values])
    return "\n".join(lines) + "\n"


def _r_lines(r: int | None, held: bool | None) -> list[str]:
    if r is None:
        why = "is a start, not a finding"
    elif r == PROPOSED_R[0]:
        why = "is a start that `shoal plan` does not rule out"
    else:
        why = f"is the largest of {', '.join(map(str, PROPOSED_R))} at which something can work"
    r = r or PROPOSED_R[0]
    return [
        f"# {r} {why}: choose it by the harm that a link would do.",
        f"# {RUN[held]}",
        f"r = {r}",
    ]


def _event(event: Event) -> str:
    of = f", column = {toml_string(event.column[0])}" if event.column else ""
    return f"    {{ values = [{', '.join(map(toml_string, event.values))}]{of} }},"


def _titles_block(titles: tuple[tuple[str, str], ...]) -> str:
    if not titles:
        return ""
    lines = [f"{toml_string(name)} = {toml_string(title)}\n" for name, title in titles]
    return "# What columns mean in words, published with them.\n[titles]\n" + "".join(lines)


def _recode_block(recodings: tuple[ProposedRecoding, ...]) -> str:
    """Comes last: what follows the head of a table belongs to it."""
    if not recodings:
        return ""
    lines = [
        "# Columns that are recoded before anything else; only the result is published.",
        "[recode]",
    ]
    for one in recodings:
        parts = []
        if one.missing:
            codes = {label: code for code, label in one.labels}
            missing = (toml_string(codes.get(text, text)) for text in one.missing)
            parts.append(f"missing = [{', '.join(missing)}]")
        if one.labels:
            told = (f"{toml_string(code)} = {toml_string(label)}" for code, label in one.labels)
            parts.append(f"labels = {{ {', '.join(told)} }}")
        if one.nominal:
            parts.append("nominal = true")
        lines.append(f"{toml_string(one.column)} = {{ {', '.join(parts)} }}  # {one.reason}")
    return "\n".join(lines) + "\n"


def _protect_lines(values: list[str]) -> list[str]:
    """The rarest value as an event, or the values that are probably one, each as one event."""
    alike = alike_values(values)
    if not alike:
        return [f"# protect = [[{toml_string(values[-1])}]]"]
    events = ", ".join(f"[{', '.join(map(toml_string, group))}]" for group in alike)
    return [
        f"# Values that {SAME_BUT_FOR}: protect them as one, or correct the table.",
        f"# protect = [{events}]",
    ]


def _knowledge_block(proposal: Proposal) -> str:
    lines = [
        "# The adversary knows the distribution in every group of at least this many rows (by the",
        "# number of rows, unless you give another):",
        f"# min_support = {support_for(proposal.rows)}",
    ]
    if proposal.max_attributes is not None:
        lines += [
            "# So many QIs make more views than shoal judges, unless their size is limited:",
            f"max_attributes = {proposal.max_attributes}",
        ]
    if proposal.bands:
        bands = ", ".join(f"{toml_string(name)} = {width:g}" for name, width in proposal.bands)
        lines += ["# Numeric QIs with many values, which may be known in bands too:"]
        lines += [f"# bands = {{ {bands} }}"]
    return "\n".join(lines) + "\n"
