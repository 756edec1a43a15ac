"""Every text of the workbench, by the place where it stands."""

from __future__ import annotations

from shoal.workbench.context_texts import CONTEXT
from shoal.workbench.judging_texts import JUDGING
from shoal.workbench.look_texts import LOOK
from shoal.workbench.roles_texts import ROLES

BEGINNING = {
    "app": "shoal workbench",
    "skip": "Skip to the content",
    "nav": "Steps of a release",
    "nav.aside": "Other releases",
    "nav.home": "Project",
    "nav.table": "Table",
    "nav.roles": "Roles",
    "nav.plan": "Plan",
    "nav.find": "Try what would work",
    "nav.run": "Run",
    "nav.context": "Assessment",
    "nav.runs": "Decide",
    "nav.audit": "Audit",
    "nav.verify": "Verify",
    "footer": "All of this stays on this machine, in the folder of the project. "
    "The command line works on the same folder.",
    "same": "The same on the command line, and in Python",
    "same.command": "As a command",
    "same.python": "In Python",
    "same.folder": "Both are run in the folder of the project.",
    "save": "Save",
    "next": "Next: {step}",
    "none": "none",
    "figure.none": "–",
    "time.unknown": "unknown",
    "time.seconds": "{n} s",
    "time.minutes": "{n} min",
    "time.hours": "{n} h",
    # Refused requests
    "refused.method": "This way of asking is not known here.",
    "refused.host": "This address is not the workbench's own.",
    "refused.origin": "Another page asked for this. The workbench answers its own pages only.",
    "refused.site": "Another page asked for this. The workbench answers its own pages only.",
    "refused.token": "Open the address that shoal workbench printed when it started: its token "
    "lets one browser in, once. If it was used already, start the workbench again.",
    "refused.large": "This form is larger than any that the workbench sends.",
    # Failures
    "failed.title": "This did not work",
    "failed.back": "Back to the project",
    "said.missing.title": "There is no such page",
    "said.missing.lead": "The address names nothing that the workbench has.",
    "said.broken.title": "The workbench failed",
    "said.broken.lead": "This is a fault of shoal's own; nothing of the project is lost. "
    "What happened stands in the terminal that the workbench was started in.",
    "said.typed": "What you typed",
    "lost.gone": "Not saved: the workbench does not answer. What you typed stays on this page, and "
    "is sent once it answers. Progress shown here is not renewed.",
    "lost.closed": "Not saved: the workbench was started anew. Open the address that it printed "
    "with this browser. What you typed stays on this page.",
    "lost.failed": "Not saved: the workbench failed, and its terminal says where. What you typed "
    "stays on this page.",
    # Project
    "home.title": "Project “{folder}”",
    "home.lead": "Make a release of a table of people, judge it, and decide on it. "
    "Every change can be undone.",
    "home.next": "Next: {step}",
    "home.decide": "Decide on run {run}",
    "home.open": "Open run {run}",
    "home.table.none": "No table yet.",
    "home.roles.none": "The roles of the columns are not settled yet.",
    "home.roles.done": "{qi} known to outsiders, {sensitive} sensitive, r = {r}.",
    "home.plan.none": "Not planned yet.",
    "home.plan.done": "Planned in run {run}.",
    "home.run.none": "Nothing was run yet.",
    "home.run.done": "{n} so far.",
    "home.context": "{n} of {all} things that only people can say are stated.",
    "home.runs.none": "Nothing to decide on yet.",
    "home.runs.done": "Run {run}: {decision}.",
    "home.runs.open": "Not decided yet.",
    # Changes
    "changes.undo": "Undo",
    "changes.redo": "Redo",
    "changes.all": "All changes",
    "changes.undone": "Undone: {words}.",
    "changes.redone": "Done again: {words}.",
    "changes.done": "Done: {words}. Undo takes it back.",
    "changes.went.put": "Put back as it was after: {words}.",
    "changes.title": "Changes",
    "changes.lead": "Every state of the draft, the newest first. Putting one back is a change like "
    "any other; none is ever deleted.",
    "changes.when": "When (UTC)",
    "changes.what": "What",
    "changes.put": "Put back",
    "changes.put.of": "Put back the state of {when}: {words}",
    "changes.now": "now",
    "changes.more": "{names} and {n} more",
    "changes.form": "how the file is written",
    "changes.begun": "Begun",
    "changes.event": "Event {name}",
    "changes.band": "Bands of {name}",
    "changes.recode": "Coarser values of {name}",
    "conflict.title": "Two versions",
    "conflict.lead": "This was changed elsewhere since the page was shown: in another tab, or in "
    "the file. Choose which holds.",
    "conflict.kept": "Kept now",
    "conflict.mine": "On your page",
    "conflict.keep": "Leave what is kept now",
    "conflict.take": "Take what was on my page",
    "conflict.after": "Both stay under All changes.",
    # Table
    "table.title": "Table",
    "table.lead": "One row for each person. Nothing leaves this machine: a file that you drop is "
    "copied into the project's folder, all others are read where they lie.",
    "table.drop": "Drop a file here, or choose one",
    "table.drop.hint": "CSV, Parquet, Arrow or Excel, up to {limit}. It is copied into "
    "“uploads”, and never overwritten.",
    "table.drop.large": "This file is larger than the limit. Put it into the project folder and "
    "choose it there.",
    "table.drop.button": "Send the file",
    "table.drop.sending": "Sending …",
    "table.choose": "A file in the folder",
    "table.choose.none": "The folder holds no file that shoal reads.",
    "table.choose.button": "Use this file",
    "table.database": "Address of a database, or of a file on a server",
    "table.database.hint": "duckdb:///file.db?table=people, or "
    "postgresql://user@host/database?table=people. Never with a password: PGPASSWORD or "
    "~/.pgpass has it.",
    "table.database.button": "Use this database",
    "table.how": "How files are read",
    "table.how.hint": "Only if shoal reads the file wrongly.",
    "table.separator": "Separator",
    "table.encoding": "Encoding",
    "table.decimal": "Sign before decimals",
    "table.sheet": "Sheet, or file in an archive",
    "table.size": "{rows} rows, {columns} columns",
    "table.again": "Read it again",
    "table.columns": "Columns",
    "table.head": "The first rows",
    "table.head.caption": "The first {n} of {rows} rows, as they stand in the table",
    "table.column": "Column",
    "table.kind": "Type",
    "table.kind.number": "number",
    "table.kind.date": "date",
    "table.kind.text": "text",
    "table.kind.other": "neither text nor number",
    "table.distinct": "Distinct",
    "table.missing": "Missing",
    "table.alone": "Unique rows",
    "table.alone.hint": "Unique rows: the share of people whom this column alone singles out.",
    "table.shape": "Shape",
    "table.shape.numbers": "Rows by range of values, from {low} to {high}",
    "table.shape.values": "Rows by value, the commonest first",
    "table.shape.more": "The {n} commonest of {all} values, commonest first",
    "table.another": "Another table",
    "table.empty": "No table is chosen yet",
    "table.empty.lead": "Drop a file below, or choose one.",
    "table.none": "Choose a table first.",
    "table.none.go": "To the table",
}

TEXTS: dict[str, str] = {**BEGINNING, **CONTEXT, **LOOK, **ROLES, **JUDGING}


def say(key: str, **values: object) -> str:
    """A text, with values put in."""
    return TEXTS[key].format(**values) if values else TEXTS[key]
