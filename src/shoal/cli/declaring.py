"""Options made from what is declared: a command names its parameters, and what each means is read
where it is said once (`shoal.declared`): in the command's own docstring, in that of the verb of
`shoal.api` with the same name, in Spec, in the methods, or here for what every command shares.

Parameters before the `/` of a command are its arguments. `asked` stands for the options of a spec,
`tuned` for those of the methods, `reading` for those that say how files are written, `reports`
for files of reports, `stated` for what a person can say of a release; typer makes
options from a signature, so they stand there in their place, and a call gathers them again.
"""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, get_args, get_origin

import typer
from typer.core import TyperCommand

from shoal.cli.options import ONE_OF, SpecOptions
from shoal.cli.report import EDITIONS
from shoal.data.spec import Limit
from shoal.data.spec.spec import parameters
from shoal.declared import arguments_of, docstring_of, fields_of, summary_of
from shoal.memory import memory_limit
from shoal.methods.registry import method_names, parameters_of
from shoal.names import ADVERSARIES, ATTACKERS, ENGINES, READING

SHARED = {
    "table": "The table: a file, a folder, a pattern such as 'part-*.csv', a URL, or - for what is "
    "piped in.",
    "spec": "TOML file with the spec; options override it.",
    "separator": "The CSV's separator, if it is not found out.",
    "encoding": "The CSV's encoding, such as latin-1 (utf-8).",
    "decimal": "The sign before the decimals of numbers in a CSV, if it is not found out: , or .",
    "sheet": "The sheet of a workbook, or the file in a zip archive, if it holds several.",
    "engine": "Who counts the rows (polars).",
    "report": "Write an HTML report, internal edition with rows, to this file.",
    "public_report": "Write the edition that may be published to this file.",
    "memory": "How much memory tables may take, such as 2GB (half of the machine's); what would "
    "take more is refused.",
    "json": "Print JSON for machines.",
    "output_format": "Print the checks for a machine that runs pipelines: as annotations of "
    "GitHub, SARIF 2.1.0 or JUnit; the exit code stays the same.",
}
SPELLED = {
    "sensitive": "Repeat it for several.",
    "protect": "One value, or 'a|b' for several as one; also '>= 40', '290..319', 'B2*', 'not a', "
    "'@codes.txt', '@icd.csv:node'; 'a|b@r=5' gives it its own r; 'column=a|b' says of which of "
    "several sensitive columns it is.",
    "recode": "age:bands=10, age:missing=98,99, age:quantiles=5, age:cuts=18,65, day:date=month, "
    "code:nominal, icd:hierarchy=icd.csv with icd:level=2, job:rare=50.",
    "k": "Of mondrian and mask: the fewest rows of a group.",
}
"""How it is written on the command line, behind what it means."""
METAVARS = {
    **dict.fromkeys(("qi", "view", "rare_unknown", "identifiers"), "A,B,..."),
    **dict.fromkeys(("sensitive", "person", "weight", "key", "groups", "column"), "COLUMN"),
    **dict.fromkeys(
        ("knowledge", "population", "spec", "report", "public_report", "context"), "FILE"
    ),
    "memory": "SIZE",
    "private": "FOLDER",
    "released": "FILE",
    "with_": "RELEASE",
    "rows_per_person": "RULE",
    "protect": "EVENT",
    "r": "NUMBER",
    "recode": "COLUMN:HOW",
    "known_band": "QI=WIDTH",
    "hierarchy": "COLUMN=FILE",
    "importance": "QI=NUMBER",
    "title": "COLUMN=WORDS",
    "engine": "|".join(ENGINES),
    "adversary": "|".join(ADVERSARIES),
    "attacker": "|".join(ATTACKERS),
    "method": "|".join(method_names()),
}
MAIN, ART, OTHERS = "Options", "Parameters of the method art", "Parameters of other methods"
STATED = "What else an assessment asks for"
HEADINGS = {
    MAIN: (
        *("out", "groups", "released", "key", "spec", "qi", "sensitive", "protect", "r", "limit"),
        *("method", "report", "purpose", "recipient", "release_model", "reviewer"),
    ),
    "Columns, and whose rows they are": (
        *("identifiers", "person", "rows_per_person", "recode", "k", "hierarchy"),
        *("title", "population", "publish_members", "publish_apart"),
    ),
    "What outsiders are taken to know": (
        *("min_support", "max_attributes", "view", "known_band", "rare_unknown", "knowledge"),
        *("weight", "model", "adversary"),
    ),
    "Releases that follow each other": ("after", "ledger", "alone", "chain", "releases", "with_"),
    "How it is run": (
        *(*READING, "engine", "memory", "format", "private", "public_report"),
        *("seed", "output_format"),
    ),
    ART: (),
    OTHERS: (),
    STATED: (),
}
"""The same option stands under the same heading wherever it is; what is named nowhere stands under
the first, behind the others."""


class Headed(TyperCommand):
    """A command whose help shows the options that people use, and the others under headings."""

    def headed(self) -> dict[str, list[Any]]:
        """Its options by heading."""
        found: dict[str, list[Any]] = {heading: [] for heading in HEADINGS}
        for one in self.params:
            if one.param_type_name == "option":
                found[one.rich_help_panel or MAIN].append(one)  # type: ignore[attr-defined]
        for heading, names in HEADINGS.items():
            place = {name: at for at, name in enumerate(names)}
            found[heading].sort(key=lambda one: place.get(one.name, len(place)))
        return {heading: options for heading, options in found.items() if options}

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Writes them, for `--help`."""
        arguments = [one for one in self.params if one.param_type_name == "argument"]
        sections = {"Arguments": arguments, **self.headed()}
        sections.setdefault(MAIN, []).extend(self.get_params(ctx)[len(self.params) :])
        for heading, options in sections.items():
            records = [one.get_help_record(ctx) for one in options]
            if shown := [record for record in records if record is not None]:
                with formatter.section(heading):
                    formatter.write_dl(shown)


def as_command(command: Callable[..., None], *, memory: bool = True) -> Callable[..., None]:
    """A function as typer takes it, each of its parameters with its option; --memory holds while
    it runs."""
    own = inspect.signature(command, eval_str=True).parameters
    meanings = _meanings(command)
    made = {name: options() for name, options in _gathered().items() if name in own}
    shown: list[inspect.Parameter] = []
    for name, one in own.items():
        shown += made.get(name) or [_with_option(one, meanings)]
    if memory:
        shown.append(_option("memory", str | None, SHARED["memory"]))

    @functools.wraps(command)
    def run(**given: Any) -> None:
        limit = given.pop("memory", None) if memory else None
        for name in made:
            told = {one.name: given.pop(one.name) for one in made[name]}
            said = {option: value for option, value in told.items() if value is not None}
            given[name] = SpecOptions(said) if name == "asked" else said
        places = [given.pop(one.name) for one in own.values() if one.kind is one.POSITIONAL_ONLY]
        with nullcontext() if limit is None else memory_limit(limit):
            command(*places, **given)

    run.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    run.__doc__ = summary_of(command.__doc__ or "")
    return run


def _meanings(command: Callable[..., None]) -> dict[str, str]:
    """What is said of the parameters of a command, by the names that options have."""
    import shoal.api

    verb = Path(shoal.api.__path__[0]) / f"{command.__name__}.py"
    told = docstring_of(verb.read_text("utf-8"), command.__name__) if verb.is_file() else ""
    said = {
        ONE_OF.get(name, name): text.partition(" In Python")[0]
        for name, text in arguments_of(told).items()
    }
    return said | SHARED | arguments_of(command.__doc__ or "")


def _with_option(one: inspect.Parameter, meanings: dict[str, str]) -> inspect.Parameter:
    if get_origin(one.annotation) is Annotated:
        return one.replace(kind=one.KEYWORD_ONLY)
    if one.kind is one.POSITIONAL_ONLY:
        argument = typer.Argument(help=meanings[one.name])
        made = Annotated[one.annotation, argument]  # type: ignore[name-defined]
        return one.replace(kind=one.KEYWORD_ONLY, annotation=made)
    return _option(one.name, one.annotation, meanings[one.name], default=one.default)


def _option(
    name: str, kind: Any, text: str, *, default: Any = None, heading: str = "", of: str = ""
) -> inspect.Parameter:
    found = next((one for one, names in HEADINGS.items() if name in names), MAIN)
    spelled, plain = f"--{name.rstrip('_').replace('_', '-')}", _plain(kind)
    repeated = get_origin(plain) is list
    if plain is bool and default is None:
        spelled += f"/--no-{spelled[2:]}"
    option = typer.Option(
        *(["-r"] if name == "r" else []),
        spelled,
        help=" ".join(filter(None, (text, SPELLED.get(name, "Repeatable." if repeated else "")))),
        metavar=of or METAVARS.get(name),
        rich_help_panel=heading or found,
    )
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind, option],
    )


def _plain(kind: Any) -> Any:
    """A type without `| None`."""
    return get_args(kind)[0] if isinstance(kind, UnionType) else kind


def _gathered() -> dict[str, Callable[[], list[inspect.Parameter]]]:
    """What is options behind one name of a command."""
    return {
        "asked": _spec_options,
        "tuned": _method_options,
        "reading": lambda: [_option(name, str | None, SHARED[name]) for name in READING],
        "reports": lambda: [_option(name, Path | None, SHARED[name]) for name in EDITIONS],
        "stated": _statement_options,
    }


def _statement_options() -> list[inspect.Parameter]:
    """One option for each text that a person can state of a release."""
    context = Path(__file__).parents[1] / "workbench" / "project" / "context.py"
    texts = [one for one in fields_of(context.read_text("utf-8"), "Context") if one.type == "str"]
    first = HEADINGS[MAIN]
    return [
        _option(name, str | None, text, heading=MAIN if name in first else STATED, of="TEXT")
        for name, text in ((one.name, one.help) for one in texts)
    ]


@functools.cache
def _spec_options() -> list[inspect.Parameter]:
    """One option for each field of Spec, and the file that has them all."""
    kinds: dict[str, Any] = {"int | None": int | None, "bool": bool, "Limit": Limit | None}
    kinds |= dict.fromkeys(("str", "str | None", "float"), str | None)
    options = [
        _option(
            ONE_OF.get(field.name, field.name),
            kinds.get(field.type, list[str] | None),
            field.help,
            default=False if field.type == "bool" else None,
        )
        for field in parameters()
    ]
    return [_option("spec", Path | None, SHARED["spec"]), *options]


@functools.cache
def _method_options() -> list[inspect.Parameter]:
    """One option per name: methods that share a parameter's name share the option."""
    kinds: dict[str, Any] = {}
    texts: dict[str, list[str]] = {}
    for method in method_names():
        for one in parameters_of(method):
            kind = _option_type(one.type)
            if kind is not None and one.name != "k":  # an option of the spec
                kinds.setdefault(one.name, kind)
                usual = "" if one.default is None else f" ({one.default})"
                texts.setdefault(one.name, []).append(f"{method}{usual}: {one.help}")
    art = {one.name for one in parameters_of("art")}
    return [
        _option(name, kind | None, " ".join(texts[name]), heading=ART if name in art else OTHERS)
        for name, kind in kinds.items()
    ]


def _option_type(annotation: str) -> Any:
    """The type of a parameter that can be written on a command line, or None."""
    plain = annotation.removesuffix(" | None")
    if plain.startswith("Literal["):
        choices = ast.literal_eval(f"({plain[len('Literal[') : -1]},)")
        return Literal[choices]
    return {"int": int, "float": float, "str": str, "bool": bool}.get(plain)
