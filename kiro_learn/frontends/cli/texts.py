"""The sentences that the command line says; those of one verb alone may stand in ``VERB_texts``.

One test holds all of these modules to one vocabulary.

Rules of these files: short plain sentences, present tense, digits, no exclamation mark. A field in braces is filled in.
"""

from __future__ import annotations

# --- words used in several places -----------------------------------------------------------------------------------

MEMORIES = ("memory", "memories")
EVENTS = ("event", "events")
PROJECTS = ("project", "projects")
RETRIEVALS = ("retrieval", "retrievals")

AGO = "{time} ago"
JUST_NOW = "just now"
DOT = " \N{MIDDLE DOT} "
SHORT_ID = "\N{HORIZONTAL ELLIPSIS}{tail}"

# --- the front page -------------------------------------------------------------------------------------------------

FRONT_PAGE_HEAD = (
    "Memory for coding agents. Local: nothing leaves this machine unless a model",
    "that is elsewhere words the memories, as Kiro CLI does.",
)
FRONT_PAGE_RUNNING = "Running \N{MIDDLE DOT} {memories} in {projects} \N{MIDDLE DOT} {retrievals} since its start"
FRONT_PAGE_STOPPED = "Not running \N{MIDDLE DOT} {command}"
FRONT_PAGE_NEW = "Not set up \N{MIDDLE DOT} try: {command}"
FRONT_PAGE_SILENT = "Running, but it does not answer \N{MIDDLE DOT} {command}"
FRONT_PAGE_VERBS = (
    ("Start", (("demo", "see what it does, in a temporary folder"), ("init", "connect your agents"))),
    (
        "Look",
        (
            ("search", "find memories"),
            ("memories", "list, show, undo, forget"),
            ("context", "what a session is told at its start"),
            ("ui", "open the viewer"),
        ),
    ),
    (
        "Care",
        (("status", "how it is"), ("doctor", "what is wrong, and how to mend it"), ("flush", "learn now what waits")),
    ),
)
FRONT_PAGE_MORE = ("More", "kiro-learn help --all", "kiro-learn <command> --help")

# --- help -----------------------------------------------------------------------------------------------------------

PROGRAM_HELP = "Memory for coding agents, local."
JSON_HELP = "Print one JSON document."
COLOUR_HELP = "When to use colours."
PROJECT_HELP = "Another project than that of this folder: its name, path or id."
EVERYWHERE_HELP = "In all projects."
YES_HELP = "Do not ask."
NO_SUCH_COMMAND = "no such command '{name}'"
HELP_HELP = "Say what the commands do, or one of them."
HELP_ALL_HELP = "Also the commands inside commands."
SERVE_HELP = "Run the daemon in this terminal."
START_HELP = "Run the daemon in the background."
STOP_HELP = "Stop the daemon; what is under way is finished first."
RESTART_HELP = "Stop the daemon and start it again."
PORT_HELP = "The port to listen on; 0 picks a free one."
ANEW_HELP = "Begin an empty memory where there was one and its database is gone."
STATUS_HELP = "Say how the daemon is."
WATCH_HELP = "Say it again every 2 seconds."
HOOK_HELP = "Hand an agent's hook to the daemon; what agents call. Always ends with 0."
MCP_HELP = "Let an agent ask the memory, by MCP.\n\nAgents start it: the Model Context Protocol, on standard input."
MCP_PROJECT_HELP = "A folder in the project, its name or its id; else KIRO_LEARN_PROJECT, else this folder."
MCP_NO_START_HELP = "Do not start the daemon where none runs; say so."
SEARCH_HELP = "Find memories, by words and by meaning."
MODE_HELP = "By words and meaning, by one of them, or in the search syntax."
LIMIT_HELP = "How many at most."
MEMORIES_HELP = "List, show, edit, pin or forget memories, or undo a merge."
LIST_HELP = "List memories, newest first."
LIST_ALL_HELP = "All of them."
LIST_STALE_HELP = "Only those that cite files that are gone or were changed since."
SHOW_HELP = "Show one memory: a full id, or the end of one."
HISTORY_HELP = "Show what a memory replaced."
UNDO_HELP = "Put back what a memory replaced, and take it away."
EDIT_HELP = "Correct a memory; the old one is kept, and undo puts it back."
CHANGES = {
    "title": "One line that says it without the rest.",
    "summary": "All of what it says.",
    "text": "All of its captured text; an empty one takes it away.",
    "fact": "One of its facts; may be given again, and replaces those it has.",
    "concept": "A word that it should be found by; as with facts.",
    "file": "A file that it is about; as with facts.",
}
NOTHING_TO_CHANGE = "nothing to change: say it with {options}"
FORGET_HELP = "Forget memories everywhere; that cannot be undone."
UNTIL_HELP = "Only what happened before this date or time."
EVERYWHERE_AND_PROJECT = "--everywhere and --project exclude each other"
SAME_WORDS_HELP = "Also those that hold the same words."
FLUSH_HELP = "Learn now what waits in a project."
RELEARN_HELP = "Have a model learn again what was learned without one."
SINCE_HELP = "Only what happened at or after it."
BACKFILL_HELP = "Make every memory findable by meaning, now."
INIT_HELP = "Connect the agents of this machine, and start the daemon."
INSTALL_HELP = "Connect the agents that are found, or named."
UNINSTALL_HELP = "Take out of agents' files what install put in."
AGENTS_HELP = "{sentence}\n\nAgents: {names}; without a name, all."
INSTALL_PROJECT_HELP = "Only for the project of this folder."
INSTALL_DRY_RUN_HELP = "Print what would change, as a diff, and write nothing."
NO_SET_DEFAULT_HELP = "Leave Kiro CLI's default agent as it is."
NO_COMPRESSOR_HELP = "Do not have Kiro CLI word the memories."
PURGE_HELP = "Remove the home too: memories, settings, logs."

# --- errors ---------------------------------------------------------------------------------------------------------

ERROR = "error:"
NOTHING_ASKED = "there is nothing to search for"
CANNOT_WRITE = "cannot write: {reason}"
HINT = "hint:"
UNKNOWN_COMMAND = 'unknown command "{name}"'
DID_YOU_MEAN = 'unknown command "{name}" \N{MIDDLE DOT} did you mean: {command}'
SEE_HELP = "{command} --help"
NO_TERMINAL = "this asks first, and there is no terminal to ask in"
NO_TERMINAL_HINT = "the same command with --yes"
WRONG_HOME = "the home cannot be used; nothing was started"
WRONG_SETTINGS = "the settings are wrong; nothing was started"

# --- start, stop, restart -------------------------------------------------------------------------------------------

ANSWERS = "Daemon answers"
ANSWERS_AT = "{address} in {time}"
ANOTHER_BUILD = "it was started before this command was installed: kiro-learn restart"
NEWER_DAEMON = "it is v{version} and this command v{ours}, which is to be updated: docs/update.md"
DAEMON_OF_ANOTHER_BUILD = "The daemon is of another build: {what}"
UPDATE_THIS = "This command is older than the daemon. Update it as docs/update.md says."
RESTART_QUESTION = "The daemon was started before this command was installed. Restart it?"
ALREADY = "Already running"
STOPPED = "Stopped"
STOPPED_IN = "in {time}"
NOT_RUNNING = "Not running"
ENDED_AT_ONCE = "the daemon ended with exit code {code} before it answered"
NO_ROOM = "the daemon ended: {free} of the disk of {home} are free"
NO_ROOM_HINT = "Free some disk space, then: kiro-learn start"
ENDED_HINT = "its last words: {path}"
RESTART_ELSEWHERE = "kiro-learn restart --port 0"
STARTING = "Starting the daemon"
UPGRADING = "Upgrading the database: {progress}"
TOO_SLOW = "the daemon did not answer within {seconds:.0f} s and was ended"
STILL_STOPPING = "the daemon (pid {pid}) is still finishing after {seconds:.0f} s"
STILL_STOPPING_HINT = "kiro-learn stop"
NO_FOLDER = "{path}: {problem}"
IS_A_LINK = "is a symbolic link; name the folder it points to"

# --- init, install, uninstall ---------------------------------------------------------------------------------------

AGENTS_FOUND = "Found"
AGENTS_MISSING = "Not found"
NEW = "new"
CHANGE = "change"
REMOVE = "remove"
LINES = ("line", "lines")
LINES_MORE = "{lines} more, yours stay"
LINES_LESS = "{lines} less, yours stay"
LINES_CHANGED = "inside a line, yours stay"
FILES_COUNTED = ("file", "files")
TO_CHANGE = "change {files}"
TO_CREATE = "create {files}"
TO_REMOVE = "remove {files}"
AT_LINE = "line {line}, column {column}: "
LEFT_ALONE = "{problem}. Left alone."
MEND_AND_AGAIN = "Mend it, and give the same command again."
COMPRESSOR_NOTE = (
    "Kiro CLI will word the memories: what you do, less what is redacted, goes to the",
    "service that it is logged in to. To keep it on this machine: --no-compressor",
)
DEFAULT_AGENT_NOTE = (
    "Kiro CLI will start with another agent, kiro-learn: its own one cannot have hooks.",
    "To leave its default agent as it is: --no-set-default",
)
SEE_EVERY_LINE = "See every line: {command}"
INSTALL_QUESTION = "Go on ({count})?"
WOULD = "Would {count}. Nothing was written."
WOULD_NOTHING = "Nothing would change."
WROTE = "{files} written"
PUT_BACK = "{files} put back"
HOME_STAYS = "The memories stay in {home}. Remove them too: kiro-learn uninstall --purge"
LISTED_IN = "listed in {path}"
NOTHING_WRITTEN = "nothing was written"
ALL_INSTALLED = "All of them are connected already."
NOTHING_INSTALLED = "Nothing is installed."
NO_AGENTS = "no coding agent was found on this machine"
NO_PROJECT_HERE = "this folder is your own, and no project"
HOOK_ANSWERS = "Hook reaches the daemon"
HOOK_FAILS = "Hook fails"
READY = "Ready. Use your agents as always; the first memories appear after a session."
READY_BUT = "Ready, as soon as the daemon runs: kiro-learn start"
PURGE_HEAD = "The home {home} holds"
PURGE_QUESTION = "Remove all of it? This cannot be undone."
PURGE_ALL = "--purge is for all agents, and goes with none by name"
PURGED = "The home is removed"
PURGED_BUT = "but for what is not ours: {names}"
NOT_PURGED = "the home is as it was"

# --- status ---------------------------------------------------------------------------------------------------------

STATUS_RUNNING = "Running"
STATUS_MEMORY = "Memory"
STATUS_LEARNING = "Learning"
STATUS_RETRIEVAL = "Retrieval"
STATUS_CONTEXTS = "Contexts"
STATUS_INDEXING = "Indexing"
STATUS_DAMAGE = "Damage"
STATUS_RULES = "Rules"
STATUS_MODEL = "Model"
STATUS_HOME = "Home"
VERSION = "v{version}"
WITHOUT_A_MODEL = "without a model"
BY_A_MODEL = "by {name}"
BY_SOME_MODEL = "by a model"
WITHOUT_A_MODEL_TODAY = "without a model today"
FAILS = "{model} fails"
EVENTS_SET_ASIDE = "{events} set aside"
MEMORIES_SET_ASIDE = "{memories} set aside"
EVENTS_REFUSED = "{events} refused by the model"
LEARNING_FAILS = "failing in {projects}"
MERGING_PAUSED = "merging paused in {projects}"
CALLS = ("call", "calls")
CALLS_TODAY = "{calls} today"
CALLS_OF = "{count:,} of {calls} today"
NO_MORE_CALLS = "{calls}, none left"
NOTHING_LEFT = "nothing left this machine"
SENT_TO = "{characters} to {model}"
SENT = "{characters} sent"
FAILED = "{count:,} failed"
CHARACTERS = ("character", "characters")
MILLIONS = "{count:.1f} M characters"
WAITING = "{count:,} waiting"
LAST_LEARNED = "last {ago}: {memories}"
LAST_FAILED = "last failed {ago}"
LEARNING_PAUSED = "paused in {projects}"
ASKED = "{count:,} since its start: {told:,} told something, {silent:,} silent"
NEVER_ASKED = "no prompt asked since its start"
PARTIAL = "{count:,} in part"
SLOWEST = "p95 {latency}"
MUTE = {"words": "words no longer find anything", "meaning": "meaning no longer finds anything"}
CONTEXTS_MADE = "{count:,}: {shares}"
HIT_SHARE = "{name} {share:.0f} %"
SHOWN_SHARES = ("words", "meaning", "names", "graph")
"""Preferences are not searched for; their share is in the JSON."""
MUTE_CONTEXTS = {
    "words": "words never found anything",
    "meaning": "meaning never found anything",
    "names": "no name was ever found, though entities have words of messages",
    "graph": "nothing was ever found near an entity that is named",
}
STATUS_EVENTS = "Events"
SPOOL_PROBLEMS = "{files} kept for later cannot be read or removed; the others are taken"
STATUS_LOG = "Log"
LOG_LOST = "lines are lost"
RULE_CONFLICTS = "{lines} of rule files contradict memories"
RULE_CONFLICT = "{path}:{line}: {text} | remembered: {title}"
LINES_COUNTED = ("line", "lines")
ROWS_DAMAGED = "{count:,} rows of the database cannot be read; the others can"
WORDS_DAMAGED = "words of {projects} damaged: found without an index, rebuilding it"
NOT_FINDABLE = "{missing:,} of {total:,} not yet findable by meaning"
SET_ASIDE = "{count:,} set aside"
BY_WORDS_ONLY = "off: memories are found by their words alone"
OF_AN_EARLIER_MODEL = "{projects} still by {model}; {done:,} of {total:,} embedded again"
EARLIER_MODEL_GONE = "{projects} by words alone; {done:,} of {total:,} embedded again"
NO_MEANING = "memories are found by their words alone: {problem}"
KEPT_FOR_LATER = "{events} kept for later"
LAST_SEEN = "last seen {time}"

# --- projects and ids -----------------------------------------------------------------------------------------------

ALL_PROJECTS = "all projects"
NAMESAKES = " (not {others})"
UNKNOWN_ID = 'no {one} ends in "{ending}" in {project}'
CLOSEST = 'closest: {tail} "{title}"'
SHORT_ENDING = '"{ending}" is too short for an id: at least {least} characters of its end'
AMBIGUOUS_ID = '"{ending}" is the end of {count} ids in {project}'
AMBIGUOUS_ID_HINT = "one of: {ids}"
LIST_THEM = "kiro-learn memories list"

# --- search ---------------------------------------------------------------------------------------------------------

FOUND = "{memories} in {project} \N{MIDDLE DOT} {latency}"
FOUND_ELSEWHERE = "{count:,} more in other projects: --everywhere"
FOUND_NONE = 'No memory in {project} matches "{query}" ({count:,} looked at, {latency}).'
AND_BY = " + "
SCORE = "score {score:.2f}"
ONLY = "{way} only"

# --- memories -------------------------------------------------------------------------------------------------------

LISTED = "{shown:,} of {memories} in {project}"
LISTED_MORE = "--all"
LISTED_NONE = "No memory in {project} yet."
LISTED_STALE = "{shown:,} of {memories} in {project} that cite files that are gone or were changed since"
STALE_UNCHECKED = "No folder of {project} is known, so the files that its memories cite cannot be looked at."
LISTED_STALE_NONE = "No memory in {project} cites a file that is gone or was changed since."
FILES_GONE = "gone"
FILES_CHANGED = "changed"
FILES = "Files"
CONCEPTS = "Concepts"
LEARNED = "Learned"
LEARNED_FROM = "{time} {how}, from {events}"
STALE = "Stale"
STALE_SINCE = "since {time}"
CHANGED = "Changed"
ID = "Id"
FORGET_HEAD = "Forget {memories}"
UNREADABLE = "(its row cannot be read)"
FORGET_GOES = "goes"
FORGET_REPLACED = "and {memories} that it replaced"
FORGET_STAYS = "stays"
FORGET_EVENTS = "the events they were learned from"
SAME_WORDS = ("more holds the same words", "more hold the same words")
SAME_WORDS_TOO = "{more}: --same-words takes them along"
SAME_WORDS_LEFT = "{more}: {ids}"
FORGET_QUESTION = "This cannot be undone. Forget?"
EDITED = "Corrected: {new} stands for {old}"
FORGOTTEN = "{memories} forgotten"
NOT_FORGOTTEN = "nothing was forgotten"

# --- history and undo -----------------------------------------------------------------------------------------------

MERGED = "merged"
MERGED_FROM = "merged from {memories}"
MERGE = "merge"
RELEARNED = "learned again"
RELEARNED_FROM = "learned again from {memories}"
RELEARNING = "relearning"
CAME_WITH_IT = "{count:,} more came with it"
FIRST_LEARNED = "learned"
BY_A_RULE = "by a rule"
BY_CORRECTION = "corrected"
BY_AGE = "shortened by age"
HISTORY_NOW = "now"
REPLACED_NOTHING = "It replaced no other memory."
SEE_HISTORY = "kiro-learn memories history {memory}"
UNDO_IT = "Undo the {what}: {command}"
UNDO = "kiro-learn memories undo {memory}"
UNDO_HEAD = "Undo: {what} of {time} in {project}"
UNDO_BACK = "back"
UNDO_GOES = "goes"
UNDO_LOSES = "and what was learned from {events} more"
UNDO_QUESTION = "Undo this?"
UNDONE = "{memories} back, searchable again"
NOT_UNDONE = "nothing was undone"
NOTHING_TO_UNDO = "{tail} replaced nothing"
NOTHING_TO_UNDO_HINT = "What replaced nothing can only be forgotten."

# --- flush and backfill ---------------------------------------------------------------------------------------------

LEARNING_PROJECT = "Learning {project}"
LEFT_TO_DO = "{left:,} of {all} left"
LEARNED_INTO = "{events} learned into {memories}"
NOTHING_WAITED = "Nothing waited in {project}"
STILL_WAIT = "{events} not learned yet: they came meanwhile, or are set aside"
STOPPED_WATCHING = "Stopped watching; learning goes on."
MADE_FINDABLE = "{memories} made findable by meaning"
ALL_FINDABLE = "Every memory is findable by meaning already"

# --- relearn --------------------------------------------------------------------------------------------------------

RELEARN_HEAD = "Learn {memories} of {project} again, by a model"
RELEARN_ASKS = "asks"
RELEARN_MODEL = "{model}, about {calls}"
RELEARN_CALLS_LEFT = "{model}, about {calls} of {left:,} left today"
RELEARN_TOO_MANY_CALLS = "{model}, about {calls}; {left:,} are left today, and it stops there"
RELEARN_SHOWS = "shows it"
RELEARN_STAYS_HERE = "{events}, on this machine"
RELEARN_MAY_LEAVE = "{events}, which may leave this machine"
RELEARN_GOES = "may go"
RELEARN_PROTECTED = "{memories} only for a new one that holds what they say"
RELEARN_ONE_PROTECTED = "1 memory only for a new one that holds what it says"
RELEARN_KEEPS = "keeps"
RELEARN_HISTORY = "what is replaced; it can be seen and put back"
RELEARN_QUESTION = "Learn them again?"
NOT_RELEARNED = "nothing was learned again"
DRY_RUN_HELP = "Show what would be done, and do nothing."
BOUND = "your words, a rule or a decision"
MORE_TITLES = "and {memories} more"
TOO_LITTLE_HEAD = "{model} tells {going} in {coming}"
TOO_LITTLE_GOES = "goes"
TOO_LITTLE_COMES = "comes"
TOO_LITTLE_QUESTION = "Replace them all the same? The model is asked again for these."
STOPPED_BEFORE = "Stopped before this: {problem}"
REPLACE_ANYWAY = "Do it all the same: {command}"
BOUND_STAY = "{memories} with your words, rules or decisions stay: no new one holds them"
ONE_BOUND_STAYS = "1 memory with your words, a rule or a decision stays: no new one holds it"
NOTHING_TO_RELEARN = "Nothing in {project} is left to be learned again"
RELEARNING_PROJECT = "Learning {project} again"
REPLACED_BY = "{replaced} replaced by {count:,} learned by {model}"
NONE_REPLACED = "No memory was replaced: {model} found nothing better"
NOTHING_REPLACED = "No memory was replaced by one of {model}"
STILL_WITHOUT_A_MODEL = "{memories} learned without a model stay"
STILL_ONE_WITHOUT_A_MODEL = "1 memory learned without a model stays"
ENDED_EARLY = "Ended early: {problem}"
GO_ON = "Go on: {command}"
UNDO_ONE = "Undo one: {command}"
WRONG_TIME = "expected 2026-01-05 or 2026-01-05T12:00"
