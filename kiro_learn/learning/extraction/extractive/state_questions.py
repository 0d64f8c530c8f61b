"""Whether a prompt asks how things stand at the moment, for a sum, or for fun: its answer is of no use next month."""

from __future__ import annotations

import re

from kiro_learn.learning.extraction.extractive.vocabulary import sentences

_LATELY = r"(?: (?:again|already|anymore|at the moment|currently|just|now|right now|so far|still|there|today|yet))"
_END = rf"{_LATELY}*+\s*(?:\?|$)"
_STANDS = (
    r"(?:alive|behind|checked out|clean|closed|connected|dead|done|down|finished|free|green|healthy|in use|listening"
    r"|logged in|merged"
    r"|occupied|offline|online|open|passing|pushed|queued|reachable|ready|red|responding|running|stopped|taken"
    r"|through|up|up to date)"
)
_ENDED = (
    r"(?:answer|arrive|build|compile|complete|deploy|end|exit|fail|finish|go through|land|merge|pass|push|respond"
    r"|restart|run|start|stop"
    r"|succeed|work)(?:s|es|ed|ped)?"
)
_COUNTED = (
    r"(?:ahead|behind|changed|done|errors?|fail(?:s|ed|ing)?|free|in the queue|left|missing|now|online|open|pass(?:es"
    r"|ed|ing)?|pending"
    r"|queued|remain(?:s|ing)?|running|so far|today|unread|uncommitted|used|waiting)"
)
_READING = (
    r"(?:(?:battery|clipboard|commit|coverage|cpu|date|day|disk|eta|exit code|git|hash|load|memory|otp|progress|queue"
    r"|state|status"
    r"|temperature|test|time|uptime|weather)(?: (?:address|count|length|level|size|status|usage))?|pid)"
)
_LAST = r"(?:last|latest|most recent|previous) (?:attempt|build|commit|deploy(?:ment)?|job|push|run)"

_LEAD = (
    r"\W*+(?:(?:and|but|so|ok|okay|hey|hi|hmm|now|then|great|thanks|please|(?:can|could) you (?:check|see|tell me|look)"
    r"|check)\b[\s,:]*+(?:if |whether )?)*+"
)
_WHETHER = re.compile(
    rf"{_LEAD}(?:(?:is|are|was|were|am|isn't|aren't)(?: [^\s?]{{1,60}}){{1,8}}? {_STANDS}"
    rf"(?: (?:on|in|at) (?:port )?(?::?\d{{2,5}}|here|localhost|my machine|ci|prod|production|staging))?{_END}"
    rf"|(?:did|has|have|didn't|hasn't)(?: [^\s?]{{1,60}}){{1,6}}? {_ENDED}{_END}"
    rf"|(?:do|does|doesn't)(?: [^\s?]{{1,60}}){{1,6}}? (?:answer|build|compile|pass|respond|work){_END})",
    re.IGNORECASE,
)
"""How a sentence begins that asks whether something runs, or has ended."""

_ASKED = re.compile(
    rf"\bhow (?:many|much)\b(?: [^\s?]{{1,60}}){{0,6}}? {_COUNTED}\b(?! (?:by default|each|for each|per)\b)"
    r"|\bhow (?:many|much)\b[^?]{1,60} (?:did|have) (?:you|we|i)\b"
    r"|\bhow far (?:along |are |is |did |have )|\bhow long (?:did|has|have|was|were)\b|\bhow much did\b"
    rf"|\bwhat(?:'s|s| is| was| are)(?: (?:the|my|our|your|its|today's|tomorrow's))?(?: current| present)? {_READING}"
    rf"(?: (?:in|of|on) (?:the |my |our )?[^\s?]{{1,40}})?{_END}"
    r"|\bwhat(?:'s| is) (?:my|your) (?:[\w ]{0,12} )?(?:ip|username|user|session|version)\b"
    r"|\b(?:what|which) (?:time|day|date) is it\b|\bwhat(?:'s| is) (?:in|on) (?:the|my) (?:clipboard|screen|queue)\b"
    rf"|\b(?:when|what|who|how|which)\b[^?]{{0,60}}? {_LAST}\b"
    r"|\bwho(?:'s| is) (?:on call|online|logged in|on duty)\b|\bwho (?:am i|pushed|committed|deployed|merged)\b"
    r"|\bwhere am i\b"
    rf"|\b(?:what|which) (?:\w+ ){{1,2}}?(?:(?:am i|are (?:we|you)) (?:on|in)|is (?:active|checked out)){_END}"
    r"|\b(?:what|which) (?:\w+ ){1,2}?(?:(?:is|are|were|was) )?(?:still )?"
    rf"(?:fail(?:s|ed|ing)?|running|open|down|pending|left|stuck|up){_END}",
    re.IGNORECASE,
)
"""What runs, how far it is, how much of it is left, what ran last."""

_SUM = re.compile(
    r"\b(?:what(?:'s|s| is| are)|calculate|compute|how much is"
    r"|add up)\b[^?\d]{0,20}\d[\d.,]*\s*(?:[*/+^\u00d7\u00f7x-]|plus|minus|times|divided by)\s*\d"
    r"|\d ?% (?:[\w-]+ ){0,2}of \d|\bconvert \d",
    re.IGNORECASE,
)
_FOR_FUN = re.compile(
    r"\b(?:tell (?:me|us) (?:a|an|another) (?:\w+ )?(?:fact|joke|riddle|story|pun)|(?:haiku|limerick)|how do (?:i"
    r"|you) spell"
    r"|(?:the )?capital of|the weather|play a game|fun fact)\b",
    re.IGNORECASE,
)
_COMPARED = re.compile(
    r"\b(?:against|versus|vs|compared|than|instead of|down from|up from|faster|slower)\b", re.IGNORECASE
)
_AT_PRESENT = re.compile(r"\b(?:now|currently|today|at the moment|so far)\b", re.IGNORECASE)


def asks_for_the_moment(prompt: str, answer: str) -> bool:
    """Whether ``prompt`` asks for what is otherwise tomorrow; not if ``answer`` measures one thing against another."""
    said = prompt.replace("\u2019", "'")
    if _ASKED.search(said) is None and not any(map(_WHETHER.match, sentences(said))):
        return False
    return _COMPARED.search(answer) is None or _AT_PRESENT.search(said) is not None


def asks_in_passing(prompt: str) -> bool:
    """Whether ``prompt`` wants a sum or a joke: nothing about the project."""
    said = prompt.replace("\u2019", "'")
    return _SUM.search(said) is not None or _FOR_FUN.search(said) is not None
