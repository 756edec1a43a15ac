"""Study: what varies, over which values, for which methods. Read from a small TOML file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from shoal._version import __version__
from shoal.auditing.adversaries.adversary import as_adversaries
from shoal.data.spec import Spec
from shoal.data.spec.toml_text import read_toml
from shoal.errors import InputError, nearest
from shoal.release.utility import Workload

FACTORS = ("qi_size", "r", "dimensions", "selectivity", "min_support")
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
    """The studies that a name stands for: `paper`, one of the shipped ones, or a TOML file."""
    shipped = files("shoal.experiments") / "studies"
    if what == "paper" or what in PAPER:
        studies = []
        for name in PAPER if what == "paper" else (what,):
            with as_file(shipped / f"{name}.toml") as path:
                studies.append(read_study(path, quick=quick))
        return studies
    if Path(what).suffix != ".toml":
        known = ["paper", "page", *PAPER]
        raise InputError(
            "study-name",
            f'There is no study "{what}"{nearest(what, known)}.',
            f"Give paper, one of {', '.join(PAPER)}, or a .toml file.",
        )
    return [read_study(Path(what), quick=quick)]


def read_study(path: Path, *, quick: bool = False) -> Study:
    """One study file, checked."""
    content = read_toml(path)
    faster = content.pop("quick", {})
    if quick:
        _shorten(content, faster, path)
    known = {one.name for one in fields(Study)} - {"name"}
    for key in content:
        if key not in known:
            raise InputError(
                "study-key",
                f'{path} has an unknown key "{key}"{nearest(key, known)}.',
                f"Known keys: {', '.join(sorted(known))}, quick.",
            )
    for key in ("title", "factor", "values", "spec", "methods"):
        if key not in content:
            raise InputError("study-missing", f'{path} does not say "{key}".', "Add it.")
    _check_factor(path, content)
    base = path.resolve().parent
    hierarchies = {name: str(base / at) for name, at in content.pop("hierarchies", {}).items()}
    return Study(
        name=path.stem,
        spec=Spec.from_mapping(content.pop("spec"), source=str(path)),
        workload=_made(Workload, content.pop("workload", {}), path),
        methods=tuple(_made(Entry, entry, path) for entry in content.pop("methods")),
        values=tuple(content.pop("values")),
        adversaries=tuple(content.pop("adversaries", ("joint",))),
        measures=tuple(content.pop("measures", ())),
        hierarchies=hierarchies,
        **content,
    )


def _shorten(content: dict[str, Any], faster: Mapping[str, Any], path: Path) -> None:
    """What `[quick]` changes: fewer values, fewer queries, and methods to go without."""
    for key in faster:
        if key not in ("values", "queries", "without"):
            raise InputError(
                "study-key",
                f'[quick] of {path} has an unknown key "{key}".',
                "Known keys: values, queries, without.",
            )
    content["values"] = faster.get("values", content.get("values"))
    if "queries" in faster:
        content["workload"] = {**content.get("workload", {}), "queries": faster["queries"]}
    left_out = faster.get("without", ())
    content["methods"] = [
        entry for entry in content.get("methods", ()) if entry.get("name") not in left_out
    ]


def _check_factor(path: Path, content: Mapping[str, Any]) -> None:
    if content["factor"] not in FACTORS:
        raise InputError(
            "study-factor",
            f'{path} varies "{content["factor"]}"{nearest(str(content["factor"]), FACTORS)}.',
            f"Vary one of {', '.join(FACTORS)}.",
        )
    values = content["values"]
    if not isinstance(values, list) or not values:
        raise InputError("study-values", f"{path} has no values.", "List some numbers.")
    if content["factor"] == "qi_size" and max(values) > len(content["spec"].get("qi", ())):
        raise InputError(
            "study-values",
            f"{path} asks for {max(values)} QIs and names {len(content['spec'].get('qi', ()))}.",
            "Name more QIs, or ask for fewer.",
        )
    for adversary in content.get("adversaries", ()):
        as_adversaries(adversary)


def _made(kind: Any, given: Mapping[str, Any], path: Path) -> Any:
    known = {one.name for one in fields(kind)}
    for key in given:
        if key not in known:
            raise InputError(
                "study-key",
                f'{path} has an unknown key "{key}"{nearest(key, known)}.',
                f"Known keys: {', '.join(sorted(known))}.",
            )
    try:
        return kind(**given)
    except TypeError:
        raise InputError(
            "study-missing", f"A method of {path} lacks its name or method.", "Add it."
        ) from None


def _digest(plain: Any) -> str:
    text = json.dumps(plain, sort_keys=True, default=lambda value: vars(value))
    return hashlib.sha256(text.encode()).hexdigest()[:16]
