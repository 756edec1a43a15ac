"""The thresholds of other models of privacy that a release satisfies, and what they mean.

These models ask how many people or values a group holds, or how far its values are from those of
the whole release. They treat every value as sensitive, and all but (B,t)-privacy know nothing of
what is known beforehand.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.auditing.models.kernels import largest_change
from shoal.auditing.models.thresholds import (
    Contents,
    alpha,
    basic_beta,
    delta,
    distinct_l,
    enhanced_beta,
    entropy_l,
    equal_t,
    k_anonymity,
    ordered_t,
    recursive_c,
)
from shoal.data.table import Table
from shoal.groups import Grouping
from shoal.knowledge import View, with_pool
from shoal.knowledge.models import BANDWIDTH, kernel_estimate

Figure = int | float | None


@dataclass(frozen=True)
class Model:
    """One model, with the thresholds that the release satisfies."""

    name: str
    thresholds: dict[str, Figure]
    """By the model's own letters; None where no threshold is satisfied."""
    meaning: str
    """What that says, in words."""


@dataclass(frozen=True)
class Models:
    """All of them, and what has to be said of the release beside them."""

    models: tuple[Model, ...]
    remarks: tuple[str, ...]

    def __getitem__(self, name: str) -> dict[str, Figure]:
        """The thresholds of a model."""
        return next(one.thresholds for one in self.models if one.name == name)


def other_models(table: Table, grouping: Grouping) -> Models:
    """What a grouping of a table satisfies."""
    contents = Contents.of(table, grouping)
    models = [*_numbers(contents), *_distances(table, contents), _beliefs(table, contents)]
    return Models(tuple(models), tuple(_remarks(grouping)))


def _numbers(contents: Contents) -> list[Model]:
    k, l, share = k_anonymity(contents), distinct_l(contents), alpha(contents)  # noqa: E741
    return [
        Model("k-anonymity", {"k": k}, "people in the smallest group"),
        Model("(alpha,k)-anonymity", {"alpha": share, "k": k}, "largest share of a value"),
        Model("distinct l-diversity", {"l": l}, "values in the group with fewest"),
        Model(
            "entropy l-diversity",
            {"l": entropy_l(contents)},
            "so many values of equal share are as uncertain as the least uncertain group",
        ),
        Model(
            "recursive (c,l)-diversity",
            {"c": recursive_c(contents, l), "l": l},
            "a group's commonest value against its l-th and rarer ones; any c above this",
        ),
    ]


def _distances(table: Table, contents: Contents) -> list[Model]:
    models = [
        Model(
            "t-closeness, equal distance",
            {"t": equal_t(contents)},
            "part of a group's values that is not as in the whole release",
        )
    ]
    if _in_order(table, contents):
        models.append(
            Model(
                "t-closeness, ordered distance",
                {"t": ordered_t(contents)},
                "the same, a neighboring number being nearly right",
            )
        )
    return [
        *models,
        Model("basic beta-likeness", {"beta": basic_beta(contents)}, "largest relative gain"),
        Model(
            "enhanced beta-likeness",
            {"beta": enhanced_beta(contents)},
            "the same, if no value gains more than the -ln of its share",
        ),
        Model(
            "delta-disclosure",
            {"delta": delta(contents)},
            "largest |ln| of a share over that in the whole release, of values that a group holds",
        ),
    ]


def _beliefs(table: Table, contents: Contents) -> Model:
    index = np.arange(len(table.signatures), dtype=np.int32)
    known = View(("kernel estimate",), index, kernel_estimate(table))
    changed = largest_change(
        *contents.people.arrays, *contents.values.arrays, with_pool(known, table)
    )
    return Model(
        "(B,t)-privacy",
        {"B": BANDWIDTH, "t": changed},
        "largest change of belief about a person, in bits, of somebody who knows people like them",
    )


def _in_order(table: Table, contents: Contents) -> bool:
    """Whether the published values are numbers, all of them."""
    plain = len(table.values) == len(table.members) and not table.members.values.null_count()
    return table.members.numeric and plain and len(contents.whole) <= len(table.values)


def _remarks(grouping: Grouping) -> list[str]:
    alone = int(grouping.copies[grouping.sizes == 1].sum())
    if not alone:
        return []
    whom = "1 person is" if alone == 1 else f"{alone:,} people are each"
    return [
        f"{whom} published in a group of one, which makes k and l 1 and the other figures large: "
        "these models treat every value as sensitive, while r-robustness lets people be "
        "published with their exact value if it is not protected."
    ]
