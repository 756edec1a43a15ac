"""The texts of the page on which a release is seen beside its table."""

from __future__ import annotations

LOOK = {
    "look.title": "See the data: run {run}",
    "look.lead": "What the release shows, beside the table that it was made of. All of this stays "
    "on this machine: the left side is for you alone.",
    "look.runs": "Other releases:",
    "look.go": "See the data",
    "look.loading": "Reading the release …",
    "look.groups": "Before and after: the same people",
    "look.groups.lead": "The groups of the people who are most exposed. Before: each person's own "
    "line. After: a group's people stand together, and its values beside them; who has which is "
    "not published.",
    "look.before": "Before",
    "look.after": "After",
    "look.before.none": "The lines of the table cannot be shown: the table is another now, or no "
    "record was kept by row.",
    "look.group": "Group {gid}",
    "look.group.open": "Open group",
    "look.group.none": "There is no such group.",
    "look.people": "People",
    "look.weight": "Counts as",
    "look.more": "and {n} more",
    "look.values": "Values of the group",
    "look.choose": "Show their link",
    "look.moved": "How each attribute moves the link of {person} to {event}",
    "look.moved.lead": "Each line adds the attribute that moves it farthest. Beforehand: what "
    "public statistics say. With the group: one group and one view at a time. The dark "
    "mark is the limit.",
    "look.moved.table": "The table is another now, so what is known beforehand cannot be counted.",
    "look.moved.several": "Shown for one sensitive column only.",
    "look.moved.form": "Shown only where people are published with their exact attributes.",
    "look.moved.none": "This group holds no protected value, so it links nobody to one.",
    "look.known": "Known",
    "look.known.nothing": "nothing",
    "look.prior": "Beforehand",
    "look.posterior": "With the group",
    "look.views": "By view, the surest first",
    "look.like": "What would be said about somebody like this?",
    "look.like.lead": "Choose what is known of a person. A release answers with counts; the "
    "interval is where the truth lies in 95 of 100 cases.",
    "look.like.any": "any",
    "look.like.ask": "Ask",
    "look.like.people": "{n} people by the release, {low} to {high}",
    "look.like.true": "{n} in the table",
    "look.value": "Value",
    "look.table": "Table",
    "look.release": "Release",
    "look.interval": "95 %",
    "look.share": "Share",
    "look.crossed": "Counts by attribute",
    "look.crossed.by": "By",
    "look.crossed.also": "and by",
    "look.crossed.value": "People with",
    "look.crossed.none": "Shown for one sensitive column, while the table is the project's.",
    "look.crossed.show": "Show",
    "look.columns": "Columns, before and after",
    "look.columns.lead": "Thin: the table. Thick: the release, as its recipients would estimate.",
}
