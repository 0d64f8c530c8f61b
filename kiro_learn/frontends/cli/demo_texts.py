"""What ``demo`` says."""

from __future__ import annotations

HELP = "Show what it does: a real daemon in a temporary folder."
KEEP_HELP = "Leave the daemon and its folder."
UI_HELP = "Open its viewer; leaves both too."
ALL_HELP = "Show every event."
RAW_HELP = "Show the block exactly as an agent gets it."

INTRO = "A real daemon in a temporary folder. No network, and your files stay untouched."
WENT_IN = "1 WHAT WENT IN"
WENT_IN_FACTS = "two past sessions of a web shop, {events} from an agent"
MORE = "and {events} more, greetings among them (--all)"
YOU = "you"
AGENT = "agent"
REMOVED = "(removed before storing)"
LEARNED = "2 WHAT WAS LEARNED"
LEARNED_FACTS = "{memories} in {time}, from {cited} of {events}"
FROM = "from {time}"
TOLD = "3 WHAT AN AGENT IS TOLD"
TOLD_FACTS = "on Friday, in a new session"
ASK = "you ask"
IS_TOLD = "told"
WHY = "why"
WHY_WORDS = "words: {words}"
WHY_MEANING = "by meaning {place} of {count}"
LEFT_OUT = "left out"
LEFT_OUT_FAR = "not close enough"
BUDGET = "{used:,} of {most:,} bytes \N{MIDDLE DOT} {took:.0f} of {budget:,.0f} ms"
NOTHING = "nothing. No memory is close enough, so the agent is left alone."
BLOCK_REST = "{count} lines more (--raw)"
LEFT = "4 WHAT IS LEFT"
LEFT_NOTHING = "nothing: daemon stopped, folder removed"
LEFT_KEPT = "the daemon and its folder, because of --keep"
NEXT = (
    ("Connect your own agents:", "kiro-learn init"),
    ("Look around in a demo that stays:", "kiro-learn demo --keep --ui"),
)
KEPT = (
    ("Look around:", "KIRO_LEARN_HOME={home} kiro-learn memories list --project web-shop"),
    ("Look around in a browser:", "KIRO_LEARN_HOME={home} kiro-learn ui"),
    ("End it:", "KIRO_LEARN_HOME={home} kiro-learn stop && rm -r {folder}"),
)
FAILED = "the demo ended early: {problem}"
FAILED_HINT = "its folder is kept, with the log in {logs}"
