"""Study: what varies, over which values, for which methods. Read from a small TOML file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from shoal._version import __version__
from shoal.auditing.adversaries.adversary import as_adversaries
from shoal.data.spec import Spec
from shoal.data.spec.toml_text import read_toml
from shoal.errors import InputError, nearest
from shoal.release.utility import Workload

FACTORS = ("qi_size", "r", "dimensions", "selectivity", "min_support")
FOLDER = Path(__file__).with_name("paper")
PAPER = ("qi-size", "r", "qd", "s", "min-support", "adversaries")


@dataclass(frozen=True)
class Entry:
    """One method of a study, under the name that figures show."""

    name: str
    method: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One measurement: a method on a table, with everything that decides its outcome."""

    study: str
    factor: str
    value: float
    entry: Entry
    spec: Spec
    workload: Workload
    adversaries: tuple[str, ...]
    coverage: bool
    seed: int

    def release_key(self) -> str:
        """The same for all cells that share a release, and so one run of the method."""
        return _digest(
            [self.spec.to_mapping(), self.entry.method, dict(self.entry.parameters), self.seed]
        )

    def key(self, data: str) -> str:
        """The same for the same measurement by the same version, in whichever study it stands."""
        asked = [vars(self.workload), list(self.adversaries), self.coverage]
        return _digest([__version__, data, self.release_key(), asked])


@dataclass(frozen=True, kw_only=True)
class Study:
    """A figure's worth of cells."""

    name: str
    title: str
    factor: str
    values: tuple[float, ...]
    spec: Spec
    methods: tuple[Entry, ...]
    label: str = ""
    """How the factor is called in figures."""
    log: bool = False
    """Whether the factor is drawn on a logarithmic axis."""
    adult: bool = False
    """Whether the data are UCI's Adult, with the hierarchies that come with shoal."""
    coverage: bool = False
    """Whether to compute the linear program's bound on how many carriers can be published."""
    adversaries: tuple[str, ...] = ("joint",)
    measures: tuple[str, ...] = ()
    """What the panels show; empty means the paper's four."""
    hierarchies: Mapping[str, str] = field(default_factory=dict)
    """Hierarchy files by attribute, relative to the study's file."""
    workload: Workload = field(default_factory=Workload)

    def cells(self, *, repeat: int = 1, seed: int = 0) -> list[Cell]:
        """Every measurement of the study."""
        return [
            Cell(
                study=self.name,
                factor=self.factor,
                value=value,
                entry=entry,
                spec=self._spec(value),
                workload=replace(self._workload(value), seed=seed + run),
                adversaries=self.adversaries,
                coverage=self.coverage,
                seed=seed + run,
            )
            for value in self.values
            for entry in self.methods
            for run in range(repeat)
        ]

    def _spec(self, value: float) -> Spec:
        if self.factor == "qi_size":
            return self.spec.with_(qi=self.spec.qi[: int(value)])
        if self.factor == "min_support":
            return self.spec.with_(min_support=int(value))
        return self.spec.with_(r=value) if self.factor == "r" else self.spec

    def _workload(self, value: float) -> Workload:
        if self.factor == "dimensions":
            return replace(self.workload, dimensions=int(value))
        if self.factor == "selectivity":
            return replace(self.workload, selectivity=float(value))
        return self.workload


def read_studies(what: str, *, quick: bool = False) -> list[Study]:
    """The studies that a name stands for: `paper`, one of its studies, or a TOML file."""
    if what == "paper" or what in PAPER:
        names = PAPER if what == "paper" else (what,)
        return [read_study(FOLDER / f"{name}.toml", quick=quick) for name in names]
    if Path(what).suffix != ".toml":
        problem = f'There is no study "{what}"{nearest(what, ("paper", "page", *PAPER))}.'
        raise InputError("study", problem, f"Give paper, one of {', '.join(PAPER)}, or a file.")
    return [read_study(Path(what), quick=quick)]


def read_study(path: Path, *, quick: bool = False) -> Study:
    """One study file, checked."""
    content = read_toml(path)
    faster = content.pop("quick", {})
    _known(faster, ("values", "queries", "without"), f"[quick] of {path}")
    workload, methods = content.pop("workload", {}), content.pop("methods", ())
    if quick:
        content["values"] = faster.get("values", content.get("values"))
        workload |= {"queries": faster["queries"]} if "queries" in faster else {}
        left_out = faster.get("without", ())
        methods = [entry for entry in methods if entry.get("name") not in left_out]
    for name, listed in (("values", content.get("values")), ("methods", methods)):
        if not listed or not isinstance(listed, list):
            raise InputError("study", f"{path} has no {name}.", "List some.")
    made: dict[str, Any] = {
        "name": path.stem,
        "values": tuple(content.pop("values")),
        "spec": Spec.from_mapping(content.pop("spec", {}), source=str(path)),
        "workload": _made(Workload, workload, path),
        "methods": tuple(_made(Entry, entry, path) for entry in methods),
        "adversaries": tuple(content.pop("adversaries", ("joint",))),
        "measures": tuple(content.pop("measures", ())),
        "hierarchies": {
            name: str(path.resolve().parent / at)
            for name, at in content.pop("hierarchies", {}).items()
        },
    }
    _known(content, [one.name for one in fields(Study) if one.name not in made], str(path))
    study: Study = _made(Study, made | content, path)
    if study.factor not in FACTORS:
        problem = f'{path} varies "{study.factor}"{nearest(str(study.factor), FACTORS)}.'
        raise InputError("study", problem, f"Vary one of {', '.join(FACTORS)}.")
    if study.factor == "qi_size" and max(study.values) > len(study.spec.qi):
        problem = f"{path} asks for {max(study.values)} QIs and names {len(study.spec.qi)}."
        raise InputError("study", problem, "Name more QIs, or ask for fewer.")
    for adversary in study.adversaries:
        as_adversaries(adversary)
    return study


def _known(given: Mapping[str, Any], known: Sequence[str], where: str) -> None:
    for key in given:
        if key not in known:
            problem = f'{where} has an unknown key "{key}"{nearest(key, known)}.'
            raise InputError("study", problem, f"Known keys: {', '.join(sorted(known))}.")


def _made(kind: Any, given: Mapping[str, Any], path: Path) -> Any:
    _known(given, [one.name for one in fields(kind)], str(path))
    lacking = [
        one.name
        for one in fields(kind)
        if one.default is one.default_factory is MISSING and one.name not in given
    ]
    if lacking:
        problem = f"{path} does not say {', '.join(lacking)} of a {kind.__name__.lower()}."
        raise InputError("study", problem, "Add it.")
    return kind(**given)


def _digest(plain: Any) -> str:
    text = json.dumps(plain, sort_keys=True, default=lambda value: vars(value))
    return hashlib.sha256(text.encode()).hexdigest()[:16]
