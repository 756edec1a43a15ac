"""Texts of the page of roles."""

from __future__ import annotations

ROLES = {
    "role.qi": "known to outsiders (QI)",
    "role.sensitive": "sensitive",
    "role.identifier": "names people (identifier)",
    "role.person": "says whose row it is (person)",
    "role.unpublished": "not published",
    "roles.title": "Roles",
    "roles.lead": "What each column is, what nobody may be linked to, and how strongly. The "
    "proposal comes from names and values; every guess has its reason, and yours may differ.",
    "roles.saved": "Every change is kept as you make it.",
    "roles.unsaved": "A proposal; it is kept once you change or save it.",
    "roles.columns": "Columns",
    "roles.columns.lead": "Known to outsiders: published, and assumed known of everybody. "
    "Sensitive: published by groups. Columns that name people, and all others, are left out.",
    "roles.bulk": "Make the ticked columns",
    "roles.bulk.button": "Apply",
    "roles.propose": "Propose everything again",
    "roles.pick.all": "All",
    "roles.pick": "Tick {name}",
    "roles.role": "Role",
    "roles.role.of": "Role of {name}",
    "roles.reason": "Why",
    "roles.reason.of": "Why {name} has this role",
    "roles.reason.hint": "Your reason, for the evidence file",
    "roles.more": "Bands, coarser",
    "roles.distinct": "{n} values",
    "roles.band": "Also known in bands of",
    "roles.band.of": "Width of the bands that {name} is also known in",
    "roles.recode": "Made coarser",
    "roles.recode.of": "How {name} is made coarser",
    "roles.recode.hint": "Bands: outsiders may know an age as 30 to 39 too; nothing is changed. "
    "Made coarser: before anything else, and only the result is published. Write bands=10, "
    "cuts=18,65, quantiles=5, date=month, nominal, missing=98,99 or rare=50; several after a "
    "semicolon.",
    # Events
    "events.title": "What nobody may be linked to",
    "events.lead": "A protected event is one value of the sensitive column, or several taken as "
    "one under a label.",
    "events.each": "No event is picked, so each value is one of its own. Common values allow only "
    "a small r: pick those that would harm.",
    "events.no_column": "Give a column the role “sensitive” first.",
    "events.search": "Find values",
    "events.search.button": "Find",
    "events.values": "Values of {name}",
    "events.shown": "{n} of {found} found, of {all} in all, commonest first.",
    "events.in": "in {name}",
    "events.low": "From",
    "events.high": "To",
    "events.entry": "Or a pattern, a comparison, a list",
    "events.label": "Label",
    "events.own_r": "r of its own",
    "events.add": "Protect as one event",
    "events.add.each": "Protect each by itself",
    "events.more": "and {n} more",
    "events.rows": "{n} people",
    "events.remove": "Remove",
    "events.remove.of": "Remove the event {name}",
    "events.clear": "Remove all: protect each value",
    # Strength
    "strength.title": "How strongly",
    "strength.r": "r",
    "strength.r.words": "At most 1 in {n}: nobody may be linked to an event with a probability "
    "above {share}.",
    "strength.k": "k",
    "strength.k.words": "At least so many people share every published combination of columns; "
    "columns are made coarser for it. Empty: nothing is asked.",
    "strength.min_support": "min_support",
    "strength.min_support.words": "Outsiders know how common an event is among people who are "
    "alike in something, if there are at least so many of them.",
    "strength.max_attributes": "max_attributes",
    "strength.max_attributes.all": "all",
    "strength.max_attributes.words": "How many columns they put together at most.",
    "strength.outsiders": "What outsiders are taken to know",
    "strength.views": "Views",
    "strength.views.all": "every set of columns",
    "strength.views.words": "Which columns they put together, if not any: one set in each line, as "
    "age, sex. A band is written as age/10. With views, max_attributes does not count.",
    "strength.rare_unknown": "Rare values unknown",
    "strength.rare_unknown.words": "Columns, as income, town: nobody has figures by them, but for "
    "values that min_support rows have. Else numbers are also known in bands of as many people "
    "each, and text with thousands of values is refused.",
    "strength.knowledge": "Outside knowledge",
    "strength.knowledge.own": "the table's own",
    "strength.knowledge.words": "A file in the project's folder that says how common values are "
    "(columns of the table, value, probability). It takes the place of all that the table itself "
    "would tell them, so that min_support, max_attributes and views do not count. For one "
    "sensitive column.",
    "strength.rows_per_person": "Rows of a person",
    "strength.rows_per_person.words": "Only where a column says whose row it is. One row each: "
    "first, last by COLUMN, or event (the first, with the protected value of whichever has one). "
    "Several: all, or first 3; then the chance that any of them has a protected value is judged.",
    "strength.published": "How it is published",
    "strength.publish_members": "An event of several values",
    "strength.publish_members.no": "by its label",
    "strength.publish_members.yes": "by its values",
    "strength.publish_members.words": "Only for events that take several values as one: whether a "
    "group tells the label alone, or which of the values its people have.",
    "strength.publish_apart": "Several sensitive columns",
    "strength.publish_apart.no": "together",
    "strength.publish_apart.yes": "each apart",
    "strength.publish_apart.words": "Only where several columns are sensitive. Apart, each is "
    "mixed by itself within a group, so that nobody can tell which values belong to one person.",
    # Beside
    "beside.title": "What this means",
    "beside.people": "people",
    "beside.carriers": "carry a protected event",
    "beside.share": "of all",
    "beside.events": "protected events",
    "beside.signatures": "combinations of what outsiders know",
    "beside.not": "Mend what is marked on the page, and the figures come here.",
    "known.title": "Known before anything is published",
    "known.loading": "Counting …",
    "known.not": "This cannot be counted yet.",
    "known.people": "{n} people are linked to an event above its limit already.",
    "known.nobody": "Nobody is linked to an event above its limit yet.",
    "known.meaning": "By general knowledge alone, in the worst view. No release changes that; "
    "the limit “prior” on the page Run asks for no more than was known.",
    "known.outside": "Counted with the file of outside knowledge, not with the table's own.",
    "known.caption": "By event, the most known first",
    "known.event": "Event",
    "known.carriers": "Carry it",
    "known.known": "Known",
}
