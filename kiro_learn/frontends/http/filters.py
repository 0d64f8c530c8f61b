"""The parameters that say which memories a search or a list is for: the same ones on every route that has them."""

from __future__ import annotations

from kiro_learn.frontends.http.operations import moment, optional_flag, optional_text, texts
from kiro_learn.frontends.http.query import Query
from kiro_learn.model.record import RecordFilter

TYPE = texts("type", "Only results of this type; of one of several, if it is given more than once.")
SINCE = moment("since", "Only what was made then or later; a date begins at midnight in UTC.")
UNTIL = moment("until", "Only what was made before this moment, or up to the end of this date in UTC.", is_end=True)
SESSION = optional_text("session", "Only what was learned from this session, or handed in for it.")
CONCEPT = optional_text("concept", "Only what has this concept, in whichever case of letters.")
FILE = optional_text("file", "Only what cites this file: its path, or the end of its path from a slash on.")
STALE = optional_flag("stale", "Only what cites files that are known to have changed; false: all else.")
BRANCH = optional_text("branch", "Only what was learned on this branch, and is not merged.")
PINNED = optional_flag("pinned", "Only what is pinned; false: all else.")

FILTERS = (TYPE, SINCE, UNTIL, SESSION, CONCEPT, FILE, STALE, BRANCH, PINNED)


def filter_of(query: Query) -> RecordFilter:
    """Which memories a list or a search is for. Raises Refused."""
    return RecordFilter(
        types=TYPE.read(query),
        since=SINCE.read(query),
        until=UNTIL.read(query),
        session=SESSION.read(query),
        concept=CONCEPT.read(query),
        file=FILE.read(query),
        is_stale=STALE.read(query),
        branch=BRANCH.read(query),
        is_pinned=PINNED.read(query),
    )
