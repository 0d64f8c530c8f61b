"""The sentences of the verbs that search by modes, look at what went on, and keep what is handed in."""

from __future__ import annotations

# --- help -----------------------------------------------------------------------------------------------------------

TYPE_HELP = "Only memories of this type, such as decision or file-write; may be given again."
UNTIL_HELP = "Only what was before this moment, or up to the end of this date."
FROM_SESSION_HELP = "Only memories of this session."
WITH_CONCEPT_HELP = "Only memories with this concept."
WITH_FILE_HELP = "Only memories that cite this file: its path, or the end of it."
ONLY_STALE_HELP = "Only memories that cite files known to have changed."
EXPLAIN_HELP = "Show what each score is made of."
CONTEXT_HELP = "Say what an agent would be told, and why."
EXPLAIN_FOUND_HELP = "Of each memory that is found for the prompt: its score, what found it, and whether it is told."
TOKENS_HELP = "How many tokens it may have, instead of what a session is told."
TIMELINE_HELP = "Show what came before and after a memory, or the newest one."
BEFORE_HELP = "How many before it."
AFTER_HELP = "How many after it."
SESSIONS_HELP = "List sessions, and see where one stands."
SESSIONS_LIST_HELP = "List the sessions of a project, the last first."
RESUME_HELP = "Show where a session stands: the last one, or that named."
REPORT_HELP = "Say what went on in the last 7 or 30 days."
WEEK_HELP = "Of the last 7 days; this is what you get without it."
MONTH_HELP = "Of the last 30 days."
MARKDOWN_HELP = "As Markdown."
OBSERVE_HELP = "Keep what was done or seen, in your words."
OBSERVE_TEXT_HELP = "More of it: what a command printed, a diff; - is standard input."
OBSERVE_TYPE_HELP = "file-read, file-write, command, research, or any other word."
CONCEPT_HELP = "What it is about; may be given again."
FILE_HELP = "A file that it is about; may be given again."
SESSION_HELP = "The session that it belongs to."
KNOWLEDGE_HELP = "Keep and list what holds from now on."
KNOWLEDGE_ADD_HELP = "Keep a constraint, a decision, a heuristic or something rejected."
KNOWLEDGE_LIST_HELP = "List what holds in a project, newest first."
SEVERITY_HELP = "Of a constraint."
REASON_HELP = "Why: of a constraint, a decision or something rejected."
ALTERNATIVE_HELP = "What else there was: of a decision or something rejected; may be given again."
WHERE_HELP = "Where it applies: of a heuristic."
CONFIDENCE_HELP = "How sure it is: of a heuristic."
EMBEDDINGS_HELP = "How much is findable by meaning, and the rest of it now."
STATS_HELP = "Say how many memories are findable by meaning."

# --- search ---------------------------------------------------------------------------------------------------------

SCORE = "score"
SCORE_OF = "score {score}"
SCORE_IS = "Score: the sum of the columns; comparable within one search of one project only."
FILES_DIFFER = "files changed since"
NOTHING_NEAR = "Nothing is near: what is shown has little to do with it."
PARTIAL_ANSWER = "partial answer: {reason}"
DOES_NOT_PARSE = "the query does not parse at character {character}: {problem}"
DOES_NOT_PARSE_HINT = "quote what is meant literally, or: {command}"

# --- context, timeline, sessions, report ----------------------------------------------------------------------------

TOLD_AT_START = "{memories} of {project}, {tokens}"
NOTHING_TOLD = "Nothing would be told: {project} has no memory{most}."
FITS_INTO = " that fits into {tokens}"
TOKENS = ("token", "tokens")
NOTHING_RECALLED = "Nothing would be told: {project} has no memory that is close enough."
IS_TOLD = "told"
IS_NOT_TOLD = "not told"
FOUND_FOR = "{memories} of {project} found, {told:,} would be told"
NO_TOKENS = "--tokens does not go with a prompt"
NO_PROMPT = "--explain needs a prompt"
REPLAY_HELP = "Ask again what this test case of the viewer asked, and say what differs."
NO_CASE = "{path} is no test case of a retrieval"
CASE_WITHOUT_PROMPT = "{path} has no prompt: its event was forgotten"
REPLAYED_SAME = "The same: {memories} of {project} told, with these scores and in these words"
REPLAYED_OTHERWISE = "the answer differs from that of the test case"
REPLAY_NO_LONGER = "{id} is told no longer"
REPLAY_NEW = "{id} is told now"
REPLAY_SCORE = "{id} has the score {now!r}, and had {before!r}"
REPLAY_ORDER = "the order is another one"
REPLAY_TEXT = "the text is another one"
AROUND = "{memories} around {tail} in {project}"
SESSIONS = ("session", "sessions")
SESSION_COLUMNS = ("Last event", "Lasted", "Events", "Prompts", "Session")
SESSIONS_LISTED = "{sessions} in {project}"
MORE = "more: --limit"
SESSIONS_NONE = "No session in {project} yet."
NO_CHECKPOINT = "no session {session} of {project} said where it stands"
NO_CHECKPOINTS = "no session of {project} said where it stands yet"
ONE_FORM = "--markdown and --json are two forms of one report"

# --- observe, knowledge ---------------------------------------------------------------------------------------------

KEPT = "Kept as {tail}"
FOUND_FROM_NOW = "found from now on"
KEPT_ON = "Kept"
KEPT_AS_IT_IS = "{time} as it was handed in"
KEPT_ALREADY = "The same was kept a moment ago; once is enough"
KEPT_ALIKE = "Not kept: {tail}, of a moment ago, has its type, title and text"
NOT_KEPT = "Differs in: {names} · another title keeps it"
HOLDING = ("memory that holds", "memories that hold")
HOLDS = "{memories} in {project}"
HOLDS_NOTHING = "Nothing was kept that holds in {project}. Keep it: {command}"

# --- embeddings -----------------------------------------------------------------------------------------------------

FINDABLE = "{done:,} of {memories} findable by meaning"
PERCENT = "{percent:.1f} %"
DIMENSIONS = "{count} dimensions"
MODEL_NOT_LOADED = "the model is not loaded: memories are found by their words alone"
REST_NOW = "The rest now: {command}"
MAKING_FINDABLE = "Making memories findable by meaning"
STOPPED_WATCHING_IT = "Stopped watching; the daemon goes on."
