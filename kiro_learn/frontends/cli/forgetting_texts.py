"""What the verb ``forget`` says."""

from __future__ import annotations

HELP = """Forget memories and what they came from, for good.

Memories by their ids or a query; or what happened in a session, at a time,
by a source, or with a secret in it, and all that was learned from that.
It shows first what would go, and asks.
"""
QUERY_HELP = 'Memories that this finds: words, "phrases", AND, OR, NOT.'
EVENTS_HELP = "Of these, also the events they came from, and what else was learned from those."
SESSION_HELP = "What happened in the session of this id."
SOURCE_HELP = "What this agent or program reported, as kiro-cli; or how it came, as import."
TEXT_HELP = (
    "What has a text in it that is asked for, or read from standard input; everywhere, unless a project is named."
)
TEXT_PROMPT = "The text to forget (it is not shown): "
NO_TEXT = "there is no text to forget"

NOTHING_NAMED = "say what to forget"
NOTHING_NAMED_HINT = "kiro-learn forget --help"
NOTHING_FOUND = "Nothing of that is there"
HEAD = "Forget {what}"
MORE = "and {memories} more"
GRAPH_ITEMS = ("item of the graph", "items of the graph")
WHAT_IS_LEFT = "what is left of it"
FORGOTTEN = "Forgot {what}"
NOT_OVERWRITTEN = "A reader held the database: what is left in its file is overwritten at the next start"
HIDDEN = "\N{HORIZONTAL ELLIPSIS}"

PROJECTS_HELP = """The projects that something is known of.

Listed, renamed, merged into one another, or forgotten.
"""
PROJECTS_LIST_HELP = "List the projects, those with most events first."
PROJECTS_FORGET_HELP = "Forget all of a project, everywhere; it cannot be undone."
NO_PROJECTS = "Nothing is known of any project yet"
DELETE_COPIES_HELP = "Delete backups from which it cannot be removed, instead of naming them."
COPIES_LEFT = "These backups have it still, and cannot be changed. The same with --delete-copies deletes them."
DAMAGED_COPIES = ("damaged backup", "damaged backups")
DAMAGED_LEFT = "{copies} may have it still. --delete-copies deletes what kiro-learn backup list names."
RENAME_HELP = "Call a project otherwise. Its folder finds it as before."
RENAMED = "{old} is called {new}"
MERGE_HELP = """Move all of a project into another.

What its agents report later is kept there too. It cannot be undone.
"""
MERGE_QUESTION = "Move all of {source} into {target}? This cannot be undone."
NOT_MERGED = "nothing was moved"
MERGED = "All of {source} is in {target} now"
