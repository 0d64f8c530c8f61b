"""The sentences of what a project's files say of it."""

from __future__ import annotations

SHOW_HELP = "Show what a project's files say of its languages, tools and commands, with where they say it."
NOTHING_READ = "No manifest is read of {project}: {project} has none, or its folder is not known"
RAN = "{well:,} ran well, {badly:,} failed"
SLOT_COLUMN = 17
