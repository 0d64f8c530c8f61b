"""What the verb ``retention`` says."""

from __future__ import annotations

HELP = """Show what would go by age, or let it go.

Contents of events that were learned from, the details of old memories, and
memories that were replaced. By default the rules are those of settings.toml,
[retention], by which nothing goes.
"""
EVENTS_HELP = "Events older than this lose their contents; 0: none."
DISTILL_HELP = "Memories older than this are cut to their main points; 0: none."
REPLACED_HELP = "Memories that were replaced before are deleted; 0: none."
APPLY_HELP = "Let it go now. What goes of events and of what was replaced cannot be brought back."
YES_HELP = "Do not ask before."

WOULD_GO = "What would go by age"
WENT = "What went by age"
EVENTS = "events"
EVENTS_LOSE = "contents of {events} older than {days}"
MEMORIES = "memories"
MEMORIES_SHORTER = "details of {memories} older than {days}"
REPLACED = "replaced"
REPLACED_DELETED = "{memories} replaced over {days} ago"
FILE = "file"
FILE_SIZE = "{size}, {free} of it free"
IS_REWRITTEN = "rewritten without what is free"
NEVER = "never, by these rules"
NONE_OLD = "none is older than {days}"
QUESTION = "Let it go? Contents of events and what was replaced cannot be brought back."
NOTHING_WENT = "nothing went"
NOTHING_TO_DO = "Nothing is old enough to go"
HOW_TO_APPLY = "Let it go: {command}"
EVERY_DAY = "Every day: settings.toml, [retention]"
DAYS = ("day", "days")
