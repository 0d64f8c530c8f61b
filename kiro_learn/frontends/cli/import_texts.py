"""What ``import`` says."""

from __future__ import annotations

HELP = (
    "Bring in past sessions, and other memories.\n\nReads what agents keep on this machine, "
    "newest first, and hands it to the daemon as if hooks had reported it. It may be ended at any time and called "
    "again: nothing is stored twice.\n\nPATH names an export of another memory, or a project with the history of Aider "
    "or SpecStory that the daemon does not know yet."
)
GIT_HELP = "Instead, the commits of this project, or of PATH, that say why."
NO_REPOSITORY = "{path}  is no folder of a git repository"
SEE_GIT = "Name the folder that has .git in it."
SOURCE_HELP = "Only of this source; may be given several times."
PROJECT_HELP = "Only of this project: its name, path or id."
LIMIT_HELP = "Only so many sessions, the newest ones."

LOOKING = "Looking through past sessions: {progress}"
IMPORTING = "Importing: {progress}"
LOOKED = "{sessions} of {all}, {size}"
DONE_SO_FAR = "{sessions} of {all}, {events}, {left} left"

SESSIONS = ("session", "sessions")
PROMPTS = ("prompt", "prompts")
TOOL_USES = ("tool use", "tool uses")
DAYS = ("day", "days")
OF_WHICH_FAILED = "{uses}, {failed:,} failed"
SINCE_DAY = "{days} since {first}"

NOTHING = "No past sessions to import"
NOTHING_NEW = "What is not here was imported before, is from before, or is not kept on this machine."
HEAD = "Past sessions on this machine"
WOULD_BRING = "brings"
WOULD_BRING_TEXT = "{events}, of which {memories} may come"
TAKES = "takes"
TAKES_TEXT = "{time}, then some until all is learned"
BETWEEN = "{least} to {most}"
ASKS = "asks"
ASKS_TEXT = "{model}, about {calls} and at most {tokens} tokens; it goes on tomorrow where a day's calls are spent"
LEAVES_OUT = "leaves out"
MILLIONS = "{count:.1f} M"
QUESTION = "Import them?"
NOT_IMPORTED = "nothing was imported"
IMPORTED = "{stored} imported from {sessions}"
TAKEN_OVER = "{memories} of other memories"
KNOWN = "{count:,} were known"
LEARNING_GOES_ON = "What is new is being learned now; {command} says how far it is."
INTERRUPTED = "Stopped; what is imported stays. Call it again for the rest."
REFUSED = "{events} were refused: {problem}"
NO_SOURCE = "there is no source '{name}'"
SOURCES = "Sources are {names}."
UNREAD = "{path}  is no whole export, of ours or of another memory that is asked for"
UNREAD_HINT = "A history of Aider or SpecStory is found by the folder of its project."
OFFER = "{sessions} of {titles} lie on this machine"
OFFER_COMMAND = "kiro-learn import"
