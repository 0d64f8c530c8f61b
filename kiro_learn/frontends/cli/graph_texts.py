"""What entities, facts, procedures and preferences are called in the terminal."""

from __future__ import annotations

GROUP_HELP = {
    "entities": "List, show, merge, edit or forget what is talked about.",
    "facts": "List, add, edit or forget what was stated of them.",
    "procedures": "List, show, add, edit or forget how things are done.",
    "preferences": "List, add, edit or forget what you want to be done always.",
}
ONE = {"entities": "entity", "facts": "fact", "procedures": "procedure", "preferences": "preference"}
LIST_HELP = {"entities": "List those of a project, the newest first."} | dict.fromkeys(
    ("facts", "procedures", "preferences"), "List those of a project that hold now, the newest first."
)
SHOW_HELP = "Show one, since when it holds, and how many events speak for it."
ADD_FACT_HELP = "Say what holds of the project, as: deployed_on Fly.io."
ADD_PREFERENCE_HELP = "Say what you want to be done always, or never."
OF_HELP = "What it is about, if not the project."
ABOUT_HELP = "What it is about: takes the place of the one about the same."
EDIT_HELP = {
    "entities": "Describe one, or say what else it is called.",
    "facts": "Put one right; the old one counts as never true.",
    "procedures": "Say anew how it is done.",
    "preferences": "Say anew what you want.",
}
CHANGES = {
    "entities": {"description": "What it is.", "alias": "Another name; may be given again, and replaces those it has."},
    "facts": {"object": "What it should say, in place of its last words."},
    "procedures": {"step": "One step; may be given again, in order."},
    "preferences": {"value": "What you want instead."},
}
NOTHING_TO_CHANGE = "nothing to change: say it with {options}"
FORGET_HELP = {"entities": "Delete one for good, with all that names it."} | dict.fromkeys(
    ("facts", "procedures", "preferences"), "Delete one for good."
)
FORGET_HEAD = "Forget 1 {one}"
FORGET_WITH = "and all that names it"
FORGET_EVENTS = "the events that it was learned from"
TEXT_HELP = "Only those that contain this."
AS_OF_HELP = {
    "entities": "Those that were known on this date, as 2026-03-31.",
    "facts": "Those that held on this date, as 2026-03-31.",
    "procedures": "Those of this date, in the version of then, as 2026-03-31.",
    "preferences": "Those that held on this date, as 2026-03-31.",
}
ALL_HELP = {
    "facts": "Also those that hold no longer, and those that only may hold.",
    "procedures": "Also earlier versions.",
    "preferences": "Also those that hold no longer.",
}
"""Of kinds that end."""
NONE = "No {kind} are known of {project}."
NONE_LIKE_IT = "No {kind} of {project} are like that."
NONE_HINT = "They are learned from what prompts state, where the settings say [graph] learn = true."
LISTED = "{count} of {project}"
FORGOTTEN = "1 {one} forgotten"
UNKNOWN = "{project} has no {one} with the id {id}"
OF_ANOTHER_KIND = "{id} is the id of no {one}"
ENDED = "until {day}"
CANDIDATE = "possibly"
REPLACED = "replaced"
NEVER_TRUE = "never true"
GRAPH_HELP = "By the whole memory: facts, preferences and procedures too, in one block."
PROFILE_HELP = "How much being recent counts: within bounds, or as the document has it."
PASSAGES_HELP = "Tell what memories say that answers, as prompts are told, not a line of each."
NEEDS_GRAPH = "{option} goes with --graph only"
NOTHING_TOLD = "Nothing would be told: {project} knows nothing that is close enough and fits into {tokens}."
ASKED = "{intent} · words: {words} · known: {entities}"
NOTHING = "none"
TOKENS = "{tokens:,} of {budget:,} tokens"
EVENTS = ("event speaks for it", "events speak for it")
RELEARN_GRAPH_HELP = "Read the past for facts and preferences instead, by rules: no model is asked, nothing replaced."
GRAPH_OR_DRY_RUN = "--dry-run says what a model would replace, and --graph asks none and replaces nothing"
GRAPH_WAS_READ = "{events} of {project} read: {statements}"
GRAPH_READ = {"events": ("event", "events"), "statements": ("plain statement", "plain statements")}
CONFLICTS_HELP = "List what contradicts each other, or keep one of two."
LIST_CONFLICTS_HELP = (
    "List facts, rules and lines of rule files that contradict each other, with the command that settles it."
)
KEEP_HELP = "Keep one of two, by their ids; the other one ends."
OVER_HELP = "The one that ends: a fact or a memory."
KEEP = "  kiro-learn conflicts keep {keep} --over {over}"
CONFLICTS = ("conflict", "conflicts")
KEPT = "{id} is kept"
UNDO = "undo: kiro-learn memories undo {id}"
RULE_PAIRS = "{pairs} of rules contradict each other"
RULE_PAIR = "{title} | {text}"
RULE_PAIR_KEEP = "keep one: kiro-learn conflicts keep {record_id} --over {other_id}"
PAIRS_COUNTED = ("pair", "pairs")
ADD_PROCEDURE_HELP = "Say how something is done: a new version of the procedure of that name."
WHEN_HELP = "When to use it."
MERGE_HELP = "Let one entity be another one, which has its names and facts then."
FROM_TO = "{begin} until {end}"
SCOPE_HELP = "For what it holds: all your projects, this one, or what lies below a path of it."
