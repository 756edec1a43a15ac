"""The options that every command shares, and the Spec they make."""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from shoal.data.spec import Spec, check_keys, parse_event
from shoal.data.spec.places import read_spec_file
from shoal.data.spec.recipe import parse_recipes
from shoal.engine_names import ENGINES
from shoal.errors import InputError, nearest
from shoal.memory import memory_limit
from shoal.methods.registry import FORMER, method_names, parameters_of

TableArgument = Annotated[str, typer.Argument(help="The table: a file, a folder, or a URL.")]
SeparatorOption = Annotated[
    str | None, typer.Option("--separator", help="The CSV's separator, if it is not found out.")
]
EncodingOption = Annotated[
    str | None, typer.Option("--encoding", help="The CSV's encoding, such as latin-1 (utf-8).")
]
RecodedByOption = Annotated[
    list[str] | None,
    typer.Option(
        "--hierarchy", help="The file that a column was recoded by, repeatable: icd=icd.csv."
    ),
]
KnowledgeOption = Annotated[
    str | None,
    typer.Option("--knowledge", help="File of outside knowledge instead of the table's own."),
]
ModelOption = Annotated[
    Literal["boosting", "logistic", "kernel"] | None,
    typer.Option(
        "--model", help="What a model of all QIs, fitted to other people, tells is known too."
    ),
]
GroupsOption = Annotated[
    str | None, typer.Option("--groups", help="The column that labels the groups.")
]
ReleasedOption = Annotated[
    str | None,
    typer.Option(
        "--released",
        help="A released file, whose QI columns define the classes; or the folder of a release.",
    ),
]
KeyOption = Annotated[
    str | None,
    typer.Option("--key", help="Column that aligns the released file (default: row by row)."),
]
HierarchyOption = Annotated[
    list[str] | None,
    typer.Option("--hierarchy", help="A QI's hierarchy file, repeatable: age=age.csv."),
]
AdultHierarchiesOption = Annotated[
    bool, typer.Option("--adult-hierarchies", help="Use the hierarchies that come for Adult.")
]
MemoryOption = Annotated[
    str | None,
    typer.Option(
        "--memory",
        help="How much memory tables may take, such as 2GB (half of the machine's); what would "
        "take more is refused.",
    ),
]
EngineOption = Annotated[
    str | None,
    typer.Option("--engine", help=f"Who counts the rows: {', '.join(ENGINES)} (polars)."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


def make_engine(name: str | None, *, separator: str | None, encoding: str | None) -> Any:
    """The engine that is asked for."""
    from shoal.engines import engine_named

    return engine_named(name or ENGINES[0], separator=separator, encoding=encoding)


@dataclass(frozen=True, kw_only=True)
class SpecOptions:
    """What a user says of the spec, in the order that --help shows."""

    spec: Annotated[
        Path | None, typer.Option("--spec", help="TOML file with the spec; options override it.")
    ] = None
    qi: Annotated[
        list[str] | None,
        typer.Option("--qi", help="Quasi-identifier columns: a,b,c; may be repeated."),
    ] = None
    sensitive: Annotated[
        list[str] | None,
        typer.Option("--sensitive", help="The sensitive column; repeat it for several."),
    ] = None
    protect: Annotated[
        list[str] | None,
        typer.Option(
            "--protect",
            help="A protected event, repeatable: one value, or 'a|b' for several as one; also "
            "'>= 40', '290..319', 'B2*', 'not a', '@codes.txt', '@icd.csv:node'; 'a|b@r=5' gives "
            "it its own r; 'column=a|b' says of which of several sensitive columns it is. "
            "Default: each value.",
        ),
    ] = None
    r: Annotated[str | None, typer.Option("-r", "--r", help="Nobody above a chance of 1/r.")] = None
    limit: Annotated[
        Literal["absolute", "prior"] | None,
        typer.Option(
            "--limit",
            help="absolute: 1/r for everybody; prior: 1/r, or what is known of a person "
            "beforehand if that is more (absolute).",
        ),
    ] = None
    k: Annotated[
        int | None,
        typer.Option(
            "--k",
            help="At least so many people share every published combination of QI values: columns "
            "are recoded further for it. Of mondrian and mask: the fewest rows of a class.",
        ),
    ] = None
    min_support: Annotated[
        int | None,
        typer.Option(
            "--min-support",
            help="Rows that must share QI values to be known (10 to 100, by the table's rows).",
        ),
    ] = None
    max_attributes: Annotated[
        int | None, typer.Option("--max-attributes", help="Largest number of QIs in a view (all).")
    ] = None
    view: Annotated[
        list[str] | None,
        typer.Option("--view", help="An explicit view, repeatable: a,b. Default: every QI subset."),
    ] = None
    recode: Annotated[
        list[str] | None,
        typer.Option(
            "--recode",
            help="Make a column coarser before anything else, repeatable: age:bands=10, "
            "age:missing=98,99, age:quantiles=5, age:cuts=18,65, day:date=month, code:nominal, "
            "icd:hierarchy=icd.csv with icd:level=2, job:rare=50.",
        ),
    ] = None
    known_band: Annotated[
        list[str] | None,
        typer.Option(
            "--known-band",
            help="age=10: the adversary also knows age in bands of 10; nothing is coarsened.",
        ),
    ] = None
    rare_unknown: Annotated[
        str | None,
        typer.Option(
            "--rare-unknown",
            help="QIs, a,b: the adversary has no figures by them but for values with min_support "
            "rows. Else numbers are also known in quantile bands, and text with thousands of "
            "values is refused.",
        ),
    ] = None
    band: Annotated[list[str] | None, typer.Option("--band", hidden=True)] = None
    knowledge: KnowledgeOption = None
    identifiers: Annotated[
        str | None, typer.Option("--identifiers", help="Columns that name people: a,b.")
    ] = None
    person: Annotated[
        str | None,
        typer.Option(
            "--person",
            help="The column that names the person (or household) where rows are not people.",
        ),
    ] = None
    rows_per_person: Annotated[
        str | None,
        typer.Option(
            "--rows-per-person",
            help="What becomes of a person's rows: one each by 'first', 'last by COLUMN' or "
            "'event'; or 'first 3', or all, with the chance of any bounded (all).",
        ),
    ] = None
    publish_members: Annotated[
        bool,
        typer.Option(
            "--publish-members", help="Publish a set event's member values, not its label."
        ),
    ] = False
    publish_apart: Annotated[
        bool,
        typer.Option(
            "--publish-apart",
            help="Permute each of several sensitive columns by itself within a group, so that "
            "nobody can cross them.",
        ),
    ] = False

    def make_spec(self, released: str | None = None) -> Spec:
        """The spec of the file, with what the other options say instead; without a file, that of a
        release of shoal's own."""
        if self.band:
            name, _, width = self.band[0].rpartition("=")
            raise InputError(
                "band-option",
                f"--band {self.band[0]} could mean two things.",
                f"Write --recode {name}:bands={width} to make it coarser, or --known-band "
                f"{self.band[0]} for an adversary who also knows it in bands.",
            )
        source = str(self.spec) if self.spec else "The spec"
        given: dict[str, Any] = read_spec_file(self.spec) if self.spec else _stated(released)
        check_keys(given, source=source)
        options: dict[str, Any] = {
            "qi": [name for text in self.qi for name in _split(text) or ()] if self.qi else None,
            "sensitive": self.sensitive or None,
            "protect": [parse_event(text) for text in self.protect] if self.protect else None,
            "r": self.r,
            "limit": self.limit,
            "k": self.k,
            "min_support": self.min_support,
            "max_attributes": self.max_attributes,
            "views": [_split(text) for text in self.view] if self.view else None,
            "bands": dict(_band(text) for text in self.known_band) if self.known_band else None,
            "rare_unknown": _split(self.rare_unknown),
            "knowledge": self.knowledge,
            "identifiers": _split(self.identifiers),
            "person": self.person,
            "rows_per_person": self.rows_per_person,
            "publish_members": self.publish_members or None,
            "publish_apart": self.publish_apart or None,
        }
        if self.recode:
            given["recode"] = {**given.get("recode", {}), **parse_recipes(self.recode)}
        given.update({key: value for key, value in options.items() if value is not None})
        for key, option in (("qi", "--qi a,b,c"), ("sensitive", "--sensitive X"), ("r", "-r 10")):
            if key not in given:
                raise InputError(
                    "spec-missing",
                    f'Nothing says "{key}".',
                    f"Add {option}, or put it into --spec.",
                )
        return Spec.from_mapping(given, source=source)


def _stated(released: str | None) -> dict[str, Any]:
    """What a release says of its own spec; nothing for a file of another tool."""
    if released is None:
        return {}
    from shoal.api.released import spec_of_own

    own = spec_of_own(released)
    return {} if own is None else own.to_mapping()


def with_spec_options(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command whose parameter `asked` is SpecOptions one option for each of its fields."""
    shared = inspect.signature(SpecOptions, eval_str=True).parameters
    return _with_options(
        command, "asked", list(shared.values()), lambda given: SpecOptions(**given)
    )


def with_memory_option(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command the option --memory, which holds while it runs."""
    own = inspect.signature(command, eval_str=True)

    @functools.wraps(command)
    def limited(*, memory: str | None = None, **given: Any) -> None:
        with nullcontext() if memory is None else memory_limit(memory):
            command(**given)

    option = inspect.Parameter(
        "memory", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=MemoryOption
    )
    limited.__signature__ = own.replace(  # type: ignore[attr-defined]
        parameters=[*own.parameters.values(), option]
    )
    return limited


def with_method_options(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command whose parameter `tuned` is a mapping one option for each parameter that a
    method of the registry has and that fits on a command line; it holds those that were given."""

    def told(given: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in given.items() if value is not None}

    return _with_options(command, "tuned", _method_options(), told)


def _with_options(
    command: Callable[..., None],
    place: str,
    options: list[inspect.Parameter],
    gathered: Callable[[dict[str, Any]], Any],
) -> Callable[..., None]:
    """Typer makes the options of a command from its signature, so they stand there in place of one
    parameter; a call gathers them again."""
    own = inspect.signature(command, eval_str=True)

    @functools.wraps(command)
    def gather(**given: Any) -> None:
        mine = {option.name: given.pop(option.name) for option in options}
        command(**given, **{place: gathered(mine)})

    shown: list[inspect.Parameter] = []
    for name, parameter in own.parameters.items():
        shown += options if name == place else [parameter]
    gather.__signature__ = own.replace(parameters=shown)  # type: ignore[attr-defined]
    return gather


def _method_options() -> list[inspect.Parameter]:
    """One option per name: methods that share a parameter's name share the option."""
    kinds: dict[str, Any] = {}
    helps: dict[str, list[str]] = {}
    for method in method_names():
        for one in parameters_of(method):
            kind = _option_type(one.type)
            if kind is not None and one.name != "k":  # an option of the spec
                kinds.setdefault(one.name, kind)
                usual = "" if one.default is None else f" ({one.default})"
                helps.setdefault(one.name, []).append(f"{method}{usual}: {one.help}")
    # What was an option once is still taken, for the sentence that says what became of it.
    former = {name for gone in FORMER.values() for name in gone} - kinds.keys()
    shown = {name: typer.Option(_spelled(name), help=" ".join(helps[name])) for name in kinds}
    hidden = {name: typer.Option(_spelled(name), hidden=True) for name in sorted(former)}
    return [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[kinds.get(name, str) | None, option],
        )
        for name, option in (shown | hidden).items()
    ]


def _spelled(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _option_type(annotation: str) -> Any:
    """The type of a parameter that can be written on a command line, or None."""
    plain = annotation.removesuffix(" | None")
    if plain.startswith("Literal["):
        choices = ast.literal_eval(f"({plain[len('Literal[') : -1]},)")
        return Literal[choices]
    return {"int": int, "float": float, "str": str, "bool": bool}.get(plain)


def read_hierarchies(given: list[str] | None, *, adult: bool, qi: Sequence[str]) -> dict[str, Any]:
    """Hierarchies by attribute, from `name=file` options and from the package.

    A file for a column that is no QI is refused: it would change nothing.
    """
    from shoal.data.table.hierarchy import adult_hierarchies, read_hierarchy

    hierarchies: dict[str, Any] = dict(adult_hierarchies()) if adult else {}
    for name, file in (named_file(text, "--hierarchy") for text in given or ()):
        if name not in qi:
            raise InputError(
                "hierarchy-column",
                f'--hierarchy names "{name}", which is no QI{nearest(name, qi)}.',
                f"QIs: {', '.join(qi)}.",
            )
        hierarchies[name] = read_hierarchy(file, name=name)
    return hierarchies


def recoded_by(given: Sequence[str] | None) -> dict[str, str]:
    """The files that columns were recoded by, by column."""
    return dict(named_file(text, "--hierarchy") for text in given or ())


def named_file(text: str, option: str) -> tuple[str, str]:
    """The two sides of `name=file`."""
    name, mark, file = text.partition("=")
    if not mark or not name or not file:
        raise InputError(
            "option-form", f'{option} "{text}" is not understood.', "Write it as name=file."
        )
    return name, file


def _split(text: str | None) -> list[str] | None:
    return [part.strip() for part in text.split(",") if part.strip()] if text is not None else None


def _band(text: str) -> tuple[str, float]:
    name, _, width = text.rpartition("=")
    try:
        return name, float(width)
    except ValueError:
        raise InputError(
            "band-width", f'--known-band "{text}" is not understood.', "Write it as age=10."
        ) from None
