"""shoal limits how surely people in a published table can be linked to a sensitive value.

    sources -> Table -> Knowledge -> anonymizer -> Release
                            |                         |
                            +-> adversary -> Audit <--+-> utility -> report

A table and a spec go in; a release, and the proof of what it withstands, come out:

    release = shoal.anonymize(frame, shoal.Spec(qi=["age", "sex"], sensitive="diagnosis", r=5))
    release.save("release")

Names are imported when they are first used, so that `import shoal` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from shoal._version import __version__

if TYPE_CHECKING:
    from shoal.api.anonymize import anonymize as anonymize
    from shoal.api.attack import attack as attack
    from shoal.api.audit import audit as audit
    from shoal.api.compare import compare as compare
    from shoal.api.count import count as count
    from shoal.api.find import find as find
    from shoal.api.plan import plan as plan
    from shoal.api.read import read as read
    from shoal.api.releases import audit_releases as audit_releases
    from shoal.api.sign import sign as sign
    from shoal.api.verify import verify as verify
    from shoal.attacks.finding import Attack as Attack
    from shoal.auditing.adversaries import binary_posterior as binary_posterior
    from shoal.auditing.adversaries import joint_bounds as joint_bounds
    from shoal.auditing.adversaries import joint_estimate as joint_estimate
    from shoal.auditing.adversaries import joint_posterior as joint_posterior
    from shoal.auditing.verdict import Audit as Audit
    from shoal.data import datasets as datasets
    from shoal.data.sources import read_table as read_table
    from shoal.data.spec import Event as Event
    from shoal.data.spec import Spec as Spec
    from shoal.data.table import Table as Table
    from shoal.data.table.hierarchy import Hierarchy as Hierarchy
    from shoal.errors import InputError as InputError
    from shoal.errors import InternalError as InternalError
    from shoal.groups import Grouping as Grouping
    from shoal.knowledge import Knowledge as Knowledge
    from shoal.memory import memory_limit as memory_limit
    from shoal.planning.comparison import Comparison as Comparison
    from shoal.planning.comparison.finding import Found as Found
    from shoal.planning.theorem1 import delta_max as delta_max
    from shoal.planning.theorem1 import minimum_size as minimum_size
    from shoal.release import Release as Release
    from shoal.release import utility as utility

_HOMES = {
    "Attack": "attacks.finding",
    "Audit": "auditing.verdict",
    "Comparison": "planning.comparison",
    "Event": "data.spec",
    "Found": "planning.comparison.finding",
    "Grouping": "groups",
    "Hierarchy": "data.table.hierarchy",
    "InputError": "errors",
    "InternalError": "errors",
    "Knowledge": "knowledge",
    "Release": "release",
    "Spec": "data.spec",
    "Table": "data.table",
    "anonymize": "api.anonymize",
    "attack": "api.attack",
    "audit": "api.audit",
    "audit_releases": "api.releases",
    "binary_posterior": "auditing.adversaries",
    "compare": "api.compare",
    "count": "api.count",
    "delta_max": "planning.theorem1",
    "find": "api.find",
    "joint_bounds": "auditing.adversaries",
    "joint_estimate": "auditing.adversaries",
    "joint_posterior": "auditing.adversaries",
    "memory_limit": "memory",
    "minimum_size": "planning.theorem1",
    "plan": "api.plan",
    "read": "api.read",
    "read_table": "data.sources",
    "sign": "api.sign",
    "verify": "api.verify",
}

_SUBMODULES = {"datasets": "data.datasets", "utility": "release.utility"}

__all__ = ["__version__", *_SUBMODULES, *sorted(_HOMES)]


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return import_module(f"shoal.{_SUBMODULES[name]}")
    if name not in _HOMES:
        raise AttributeError(f"module 'shoal' has no attribute {name!r}")
    member = getattr(import_module(f"shoal.{_HOMES[name]}"), name)
    globals()[name] = member
    return member
