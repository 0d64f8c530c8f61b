"""The sentences of share."""

from __future__ import annotations

HELP = """Share memories of a project with a team.

share list says how it stands; without a verb, that is done. setup, admit,
expel and members are for the owner of the team's database.
"""
LIST_HELP = "What is shared, and what others share. Nothing is changed."
NOW_HELP = "Share and receive now, without waiting for the next time."
WITHDRAW_HELP = "Take a memory back from the team, and let it stay here."
AGAIN_HELP = "Share a memory again that was taken back."
SETUP_HELP = "Make the tables of a team in a PostgreSQL database, or bring them to today."
ADMIT_HELP = """Let roles of the server share a project.

They see what others share of it, and share what their own settings say.
"""
EXPEL_HELP = "Let roles no longer share a project. What they shared stays there, and is theirs to take back."
MEMBERS_HELP = "List which roles share which project."
NOTHING = "Nothing is shared: the setting share.url names no database"
NOT_YET = "Shared with {team}; both sides are not compared yet"
WITH = "Shared with {team}, as {role}, last compared {when}"
NO_PROJECT = "The setting share.projects names no project, so nothing leaves this machine"
SHARED = "{memories} shared"
WITHHELD = "{memories} taken back"
KINDS = "  of the kinds {kinds}"
NO_KINDS = "none"
RECEIVED = "  {memories} of {person}"
UNREADABLE = "  {memories} of others cannot be read; a newer kiro_learn may have written them"
TAKEN_BACK = "Taken back: {title}"
SHARED_AGAIN = "Shared again: {title}"
SET_UP = "The tables of the team are there. Next: kiro-learn share admit URL PROJECT ROLE..."
NONE_EXPELLED = "none of these roles shares {project}"
MEMBERS = ("membership", "memberships")
STATUS = "Sharing"
OF_OTHERS = "{memories} of others"
SHARED_ON = "Shared"
BY_TEAM = "{time} through the team"
