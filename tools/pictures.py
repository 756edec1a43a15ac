"""Makes the pictures of groups, chances and the matched sample in docs/figures.

`python -m tools.pictures` is run by hand. All three are of the made-up hospital, and of one release
of it with a stated seed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import shoal
from shoal.data.table import Table
from shoal.knowledge import Knowledge
from shoal.knowledge.entropy import all_counts, event_cases
from shoal.report.charts.stored import save_chart
from studies.theme import themed

FIGURES = Path(__file__).resolve().parents[1] / "docs" / "figures"
EVENT, R, SEED = ["HIV", "Schizophrenia"], 5, 1
QI = ["sex", "region", "occupation"]
HIDDEN = "has HIV or schizophrenia (not published)"
BLUE, RED, GREY = "#0072B2", "#D55E00", "#999999"


def main() -> None:
    people = shoal.datasets.hospital(20_000, seed=SEED)
    spec = shoal.Spec(qi=QI, sensitive="diagnosis", protect=[EVENT], r=R)
    release = shoal.anonymize(people, spec, seed=SEED)
    assert release.robust
    known = people.with_columns(
        gid=pl.Series(release.row_groups), case=pl.col("diagnosis").is_in(EVENT)
    ).with_columns(
        prior=pl.when(pl.len().over(QI) >= release.spec.min_support)
        .then(pl.col("case").mean().over(QI))
        .otherwise(pl.col("case").mean()),
        cases=pl.col("case").sum().over("gid"),
    )
    one = known.filter(pl.col("cases") == 1)
    save_chart(groups(one), FIGURES / "groups.svg")
    save_chart(chances(one), FIGURES / "chances.svg")
    save_chart(sample(people, spec), FIGURES / "sample.svg")


def groups(known: pl.DataFrame, shown: int = 8) -> dict[str, Any]:
    """Each line a group: its people by age, the case among them."""
    first = known["gid"].unique(maintain_order=True).head(shown)
    lines = known.filter(pl.col("gid").is_in(first.implode())).select(
        line=pl.format("group {}", pl.col("gid")),
        age="age",
        who=pl.when("case").then(pl.lit(HIDDEN)).otherwise(pl.lit("has not")),
    )
    return themed(
        {
            "width": 560,
            "height": 230,
            "data": {"values": lines.to_dicts()},
            "mark": {"type": "point", "filled": True, "size": 70, "opacity": 0.8},
            "encoding": {
                "x": {"field": "age", "type": "quantitative", "title": "Age"},
                "y": {"field": "line", "type": "nominal", "title": None},
                "color": colour("who", {"has not": GREY, HIDDEN: RED}),
                "shape": {"field": "who", "type": "nominal", "legend": None},
            },
        }
    )


def chances(known: pl.DataFrame) -> dict[str, Any]:
    """One group: everybody's chance without the release, and with it, beside the limit."""
    odds = pl.col("prior") / (1 - pl.col("prior"))
    group = (
        known.with_columns(after=odds / odds.sum().over("gid"), top=pl.len().over("gid"))
        .with_columns(worst=pl.col("after").max().over("gid"))
        .filter(pl.col("top").is_between(6, 14))
        .sort("worst", "gid", descending=[True, False])
    )
    group = (
        group.filter(pl.col("gid") == group["gid"][0])
        .with_row_index("place", 1)
        .with_columns(person=pl.format("{}. {}", "place", pl.concat_str(QI, separator=", ")))
    )
    dots = group.select("person", chance="prior", when=pl.lit("without the release")).vstack(
        group.select("person", chance="after", when=pl.lit("with the group"))
    )
    y = {
        "field": "person",
        "type": "nominal",
        "title": None,
        "sort": None,
        "axis": {"labelLimit": 320},
    }
    x = {
        "field": "chance",
        "type": "quantitative",
        "axis": {"format": "%"},
        "title": "Chance of HIV or schizophrenia",
    }
    return themed(
        {
            "width": 420,
            "height": {"step": 22},
            "layer": [
                {
                    "data": {"values": group.select("person", "prior", "after").to_dicts()},
                    "mark": {"type": "rule", "color": GREY},
                    "encoding": {"y": y, "x": {**x, "field": "prior"}, "x2": {"field": "after"}},
                },
                {
                    "data": {"values": dots.to_dicts()},
                    "mark": {"type": "point", "filled": True, "size": 80, "opacity": 1},
                    "encoding": {
                        "y": y,
                        "x": x,
                        "color": colour(
                            "when", {"without the release": GREY, "with the group": BLUE}
                        ),
                    },
                },
                {
                    "data": {"values": [{"limit": 1 / R}]},
                    "mark": {"type": "rule", "strokeDash": [5, 4], "color": RED},
                    "encoding": {"x": {"field": "limit", "type": "quantitative"}},
                },
                {
                    "data": {"values": [{"limit": 1 / R, "text": f"the limit, 1/{R}"}]},
                    "mark": {
                        "type": "text",
                        "align": "right",
                        "dx": -6,
                        "color": RED,
                        "fontSize": 12,
                    },
                    "encoding": {
                        "x": {"field": "limit", "type": "quantitative"},
                        "y": {"value": 12},
                        "text": {"field": "text"},
                    },
                },
            ],
        }
    )


def sample(people: pl.DataFrame, spec: shoal.Spec) -> dict[str, Any]:
    """How likely people are to be cases by all public counts: cases, all others, and those of the
    others whom a matched sample takes."""
    table = Table.from_frame(people, spec)
    chance = all_counts(table, Knowledge.of(table)).chance[:, 0]
    cases = event_cases(table, 0)
    others = table.signature_rows - cases
    taken = others * np.minimum(1.0, (4 * R - 1) * chance / (1 - chance))
    whom = {
        "people with the value": cases,
        "everybody else": others,
        "of these, the matched sample": taken,
    }
    edges = np.quantile(np.repeat(chance, table.signature_rows), np.linspace(0, 1, 13))
    place = np.clip(np.searchsorted(edges, chance, side="right") - 1, 0, len(edges) - 2)
    records = [
        {"whom": name, "twelfth": int(band) + 1, "share": float(share)}
        for name, count in whom.items()
        for band, share in enumerate(np.bincount(place, count, len(edges) - 1) / count.sum())
    ]
    return themed(
        {
            "width": 420,
            "height": 220,
            "data": {"values": records},
            "mark": {"type": "line", "point": {"filled": True, "size": 45}},
            "encoding": {
                "x": {
                    "field": "twelfth",
                    "type": "ordinal",
                    "axis": {"labelAngle": 0},
                    "title": "Twelfths of all people, from the least to the most likely",
                },
                "y": {
                    "field": "share",
                    "type": "quantitative",
                    "axis": {"format": "%"},
                    "title": "Share",
                },
                "color": colour("whom", dict(zip(whom, (RED, GREY, BLUE), strict=True))),
            },
        }
    )


def colour(field: str, colours: dict[str, str]) -> dict[str, Any]:
    scale = {"domain": list(colours), "range": list(colours.values())}
    legend = {"title": None, "orient": "bottom", "labelLimit": 320, "labelFontSize": 12}
    return {"field": field, "type": "nominal", "scale": scale, "legend": legend}


if __name__ == "__main__":
    main()
