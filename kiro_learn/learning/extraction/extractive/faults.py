"""Faults: prompts about a fault, sentences that give its cause, and commands that fail because of how they are called.

After a prompt about a fault, any plain statement is the cause: "The products table has no index on tenant_id."
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import attrs

from kiro_learn.learning.extraction.extractive.chatter import is_chatter, own_words, tells_how_things_stand
from kiro_learn.learning.extraction.extractive.extract import Extract
from kiro_learn.learning.extraction.extractive.facts import command_of
from kiro_learn.learning.extraction.extractive.turns import ReadBatch, ToolUse, Turn, without_logs
from kiro_learn.learning.extraction.extractive.vocabulary import cut_at_word, on_one_line, sentences
from kiro_learn.model.record import KnowledgeType, MemoryRecord, ObservationType, Origin
from kiro_learn.retrieval.query.prose import asks

_WHY = re.compile(
    r"\b(?:why|how come|what(?:'s| is| was)? (?:caus\w+|wrong|the (?:cause|reason))|root cause)\b", re.IGNORECASE
)

_FAULT = re.compile(
    r"\b(?:errors?|exceptions?|traceback|fail(?:s|ed|ing|ures?)?|bugs?|buggy|crash(?:es|ed|ing)?|broken?|breaks"
    r"|panics?|regression"
    r"|wrong(?:ly)?|slow(?:er|ly)?|leak(?:s|ed|ing)?|hangs?|hanging|hung|(?:is|are|gets?|got|it's|being) stuck"
    r"|stuck (?:at|in|on)|freezes?|froze|frozen|flaky|flakes|empty|blank"
    r"|missing|lose[sd]?|los(?:t|ing)|grow(?:s|ing)|janky|laggy|choppy|spam|one (?:day|hour|month|week|row"
    r"|line) (?:behind|off|late|early)|no space|behind|corrupt(?:s|ed)?|duplicate[sd]?|twice|late|stale|outdated"
    r"|garbled|denied|refused|rejected"
    r"|tim(?:es?|ed|ing) ?outs?|unreachable|unresponsive|stop(?:s|ped) \w+ing|stopped|ignore[sd]|out of memory|oom"
    r"|killed"
    r"|disappear(?:s|ed)?|vanish(?:es|ed)?|unexpected(?:ly)?|weird(?:ly)?|strange(?:ly)?|problems?|issues?|trouble"
    r"|off by|does nothing|do nothing|nothing (?:happens|works|loads)|go(?:es)? (?:negative|away|wrong|missing)"
    r"|flickers?|blink(?:s|ing)"
    r"|jump(?:s|ing)|jitters?|suddenly|randomly|intermittent(?:ly)?|too (?:much|many|few|big|small|late|long|slow"
    r"|high|low|wide|narrow)"
    r"|instead of (?:the |a |only )?\d+|doubled|mangled|truncated|overflows?|out of (?:sync|order|disk|sockets)"
    r"|cut(?:s|ting)? off|logs? (?:me|us|people|users|them) out|logged out|drop(?:s|ped)|overlaps?|[45]\d\ds?|never \w+"
    r"|(?:is|are|was|were|does|did|has|have|had|wo|ca|could)n't|(?:is|are|was|were|does|did) not|cannot|no longer"
    r"|(?:has|have|had|shows?|gets?|sees?|gives?|returns?|there (?:is|are|was|were)) (?:no|nothing|only)"
    r"|die[sd]|all the time|over and over|again and again|shows? a diff|only works (?:for|if|in|on|when|with)"
    r"|takes? (?:over |about |more than |up to )?\d[\d.,]* ?(?:ms|s|sec\w*|m|min\w*|h|hours?)|takes (?:ages|forever"
    r"|too long))\b",
    re.IGNORECASE,
)
"""Words for something that goes wrong."""

FAILING = (
    r" (?:(?!(?:a|all|an|and|everything|if|it|its|my|our|sure|that|the|them|this|until|us|what|when|where|which|who)\b)"
    r"[^\s,;:.]++ ){0,3}?(?:always |never |now |still |just |sometimes )?(?:breaks|crash(?:es|ed)|die[sd]"
    r"|does(?:n't| not)|errors? out|fails|hangs|is|isn't|keeps \w+ing|only works|returns|shows|takes|throws|times? out"
    r"|wants|won't)\b"
)
"""Words after the name of a command by which that command is reported and not ordered: "make test fails"."""

_ORDER = re.compile(
    r"\W*(?:(?:ok|okay|yes|now|then|so|and|please|also|can you|could you|lets|let's|we (?:should|need to|must)"
    r"|i want(?: you)? to)\b[\s,.:]*)*+"
    r"(?:add|build|change|commit|configure|consider|create|delete|design|don't|draft|extract|generate|implement"
    r"|install|make|move|plan|push"
    r"|put|refactor|remove|rename|replace|review|run|set|summari[sz]e|test|translate|update|use|write)\b"
    rf"(?!{FAILING})",
    re.IGNORECASE,
)
"""The beginning of a sentence that orders something to be made, whatever else it names."""

_REPORT = re.compile(
    r"\W*+(?:(?:hmm|hm|ok|okay|so|and|but|also|now|hey|hi)\b[\s,:.]*+)*+(?:the|our|my|some|all|every|both|users?"
    r"|customers?|people|clients?|sometimes)\b"
    r"(?: (?!(?:is|are|was|were|looks?|seems?|to)\b)\S++){1,6}? (?!(?:as|is|was|this|its|has|here|there|now|done|too"
    r"|works)\b)(?:\w{2,}s|\w{3,})[.!]*$",
    re.IGNORECASE,
)
_REPORT_CHARACTERS = 60

_READ_CHARACTERS = 600
"""How many characters of a prompt are read. What follows is mostly pasted."""

_ACT = re.compile(
    r"[^\w`]*+(?:(?:now|so|then|next|first|also|ok|okay|good|great|perfect)\b[\s,:]*+)*+"
    r"(?:i|i'(?:ll|m|d|ve)|you|you'(?:re|ll|ve|d)|your|let|let's|we'(?:ll|ve)|we (?:now|should|need|can|have)|please"
    r"|thanks|sorry|try|check|run|open"
    r"|wait|use|see|look|note|make|ask|start|restart|set|go|click|go|reload|refresh|once|if you|tell|show"
    r"|\w+ing(?= )(?! (?:are|at|between|does|has|in|is|of|was|were)\b)|\w+ed(?! \w+ (?:are|get|gets|has|have|is|was"
    r"|were)\b)|built|made|sent|set|ran|wrote|done)\b"
    r"|\W*+(?:the |this |your |my )?(?:prs?|pull requests?|commits?|push|review)\b",
    re.IGNORECASE,
)
"""The beginning of a sentence that says what its speaker did, or what to do."""

_HEDGED = re.compile(
    r"\b(?:still|might|may|could|maybe|perhaps|possibly|probably|likely|seems?|appears?|looks? like|suspect|guess"
    r"|should|unclear|unknown|not sure"
    r"|let me|i'll|i will|want me|try (?:again|it|to|the))\b",
    re.IGNORECASE,
)

_DOWN = re.compile(
    r"\b(?:(?:is|are|was|were)(?:n't| not)|nothing is|not) (?:\w+ )?(?:running|listening|started|up|ready|done)\b",
    re.IGNORECASE,
)
"""Words that say that something does not run. The next start mends that."""

_NEEDS = re.compile(
    r"\b(?:(?:needs?|requires?|expects?) (?!(?:about|around|another|more|some|to be|an? (?:\w+ )?(?:approval|look"
    r"|rebase|restart|review)|\d[\d.]* ?[a-z])\b)|must (?:be|come|have)\b|(?:has|have) to (?:be|come|have)\b"
    r"|depends? on\b|listens on\b|only works?\b)",
    re.IGNORECASE,
)
"""Words that say what something cannot do without."""

_MENDED = re.compile(
    r"\b(?:(?:has|have|is|are|was|were)(?: been| now| also)* (?:\w+ly )?(?:fixed|resolved|working|updated|added|done"
    r"|complete|completed|implemented|passing"
    r"|successful|ready|deployed|running|verified|confirmed)|(?:works?|pass(?:es)?|succeeds?) now|now (?:works?"
    r"|pass(?:es)?|succeeds?)|successfully|correctly|properly|perfectly|as expected)\b",
    re.IGNORECASE,
)
"""Words that say that something is mended, but not what was wrong."""

_NAMES = re.compile(r"`[^`\n]+`|\w[._/\\@#=-]{1,2}\w|(?<!\S)--?[a-z]|[a-z][A-Z]|\b[A-Z]{2,}\b|(?<=[a-z,;] )[A-Z]\w|\d")
"""Signs of a file, an identifier, a setting, a name or a number."""

_TICKS = ("\u2705", "\u2713", "\u2714", "\U0001f389")
_FEWEST_WORDS = 2
_WORDS_OF_CAUSE = 4
"""How many words of its own a sentence without a name needs to be a cause, where somebody asked why."""


def asks_why(turn: Turn) -> bool:
    """Whether a person wants to know the cause of something."""
    return any(_WHY.search(sentence) for sentence in _asked_in(turn))


def is_about_fault(turn: Turn) -> bool:
    """Whether a person reports that something goes wrong, and does not order something to be made."""
    return any(
        (_FAULT.search(sentence) and not _ORDER.match(sentence)) or _is_report(sentence) for sentence in _asked_in(turn)
    )


def _is_report(sentence: str) -> bool:
    """Whether ``sentence`` says in a few words that a thing does something: "the tooltips flicker"."""
    if len(sentence) > _REPORT_CHARACTERS or asks(sentence) or not _REPORT.match(sentence):
        return False
    return bool(own_words(sentence.rsplit(maxsplit=1)[-1]))


def _asked_in(turn: Turn) -> list[str]:
    last = "".join(said.text[:_READ_CHARACTERS] for said in turn.prompts[-1:])
    return sentences(without_logs(last.replace("\u2019", "'")))


def says_how_things_are(sentence: str, *, plainly: bool = False) -> bool:
    """Whether ``sentence`` states something and names what it is about.

    Args:
      plainly: somebody asked why, so enough words can replace a name.
    """
    said = sentence.replace("\u2019", "'")
    if asks(said) or said.rstrip().endswith(":") or is_chatter(said) or tells_how_things_stand(said):
        return False
    if _ACT.match(said) or said.startswith(_TICKS) or any(each.search(said) for each in (_HEDGED, _MENDED)):
        return False
    if _DOWN.search(said) and not _NEEDS.search(said):
        return False
    least = _FEWEST_WORDS if _NAMES.search(said) else _WORDS_OF_CAUSE
    return (plainly or least == _FEWEST_WORDS) and len(own_words(said)) >= least


def tells_need(sentence: str) -> bool:
    """Whether ``sentence`` says what a named thing cannot do without."""
    return _NEEDS.search(sentence) is not None and says_how_things_are(sentence)


def is_guess(sentence: str) -> bool:
    """Whether ``sentence`` supposes something, or says that nothing has changed."""
    return _HEDGED.search(sentence.replace("\u2019", "'")) is not None


# Commands that fail because of how they are called, with the call that worked: an agent would try them again next week.
#
# A failure of the work itself (a test, a type error) passes soon. "unrecognized subcommand" holds until somebody
# changes the machine or the project.

CALLS_LATER = 6
"""How many calls after a failed one are searched for the one that worked."""

LEAST_SHARED = 0.75
"""The share of the words of the shorter command that both commands must have. With half, another step of the same work
would count as a mend ("bun run lint" for "rtk bun run test"). Chosen by reading the results of four histories, so tuned
on them.
"""

MOST_TRAPS = 8
"""The most traps of one batch."""

_TRAP_IMPORTANCE = 6
_COMMAND_CHARACTERS = 80
_ERROR_CHARACTERS = 80
_LINES_READ, _LINE_CHARACTERS = 40, 400
"""How many lines of an output, and characters of a line, are searched for the usage error."""

_USAGE_ERROR = re.compile(
    r"command not found|unrecognized (?:sub)?command|unrecognized (?:option|argument)|unknown (?:sub)?command"
    r"|unknown (?:shorthand )?(?:flag|option)|(?:invalid|illegal|unexpected) (?:option|argument)\b"
    r"|no such (?:sub)?command|missing script|script not found|is not recognized as|no rule to make target"
    r"|externally-managed-environment|cannot use automatic login|non-TTY|not a TTY|did you mean\b",
    re.IGNORECASE,
)
_PIPED = re.compile(r"\d?>&?\s?\S+|\|.*", re.DOTALL)
"""The part of a command that redirects its output or handles its failure. It says nothing about the call."""

_CHANGE_OF_FOLDER = re.compile(r"^\s*cd\s+(?:\"[^\"]*\"|'[^']*'|(?:\\.|[^\s&;|\\])++)\s*(?:&&|;)\s*")
_ANNOUNCEMENT = re.compile(r"^\s*echo\s+(?:\"[^\"]*\"|'[^']*')\s*(?:&&|;)\s*")
"""The text that an agent prints before a call to find the call's output again."""
_SIGNS = re.compile(
    r"^(?:(?:result|stdout|stderr):\s*+|(?:npm )?(?:error|err!|fatal|usage)(?::|\s)\s*+|(?:/bin/)?(?:ba|z)?sh:\s*+"
    r"|\(eval\):|line \d++:\s*+|\d++:\s*+)++",
    re.IGNORECASE,
)
_WORD = re.compile(r"[\w./@:=-]+")
_SUMMARY = re.compile(r"`(.{1,200}?)` fails in this project: .*\. What works instead: `(.{1,200})`\.")
_TITLE = re.compile(r"`([^\s`]{1,80})[^`]{0,80}` fails here \((.{1,100}?)\): run `([^\s`]{1,80}).{0,100}`")
"""The program, the message and the program of the cure in a title by ``traps_of``."""
_GENERAL = {
    *("a", "an", "and", "argument", "command", "error", "flag", "found", "in", "is", "it", "missing", "no", "not"),
    *("npm", "of", "option", "script", "the", "to", "unknown"),
}
"""Words of error lines that name no cause."""


@attrs.frozen
class _Call:
    number: int
    command: str
    """The command on one line, without its folder and without the redirection of its output."""
    problem: str
    """The output line that says that the command was called wrongly; empty if there is none."""
    has_failed: bool
    is_cut: bool

    @classmethod
    def of(cls, tool: ToolUse) -> _Call:
        called = _called(command_of(tool))
        command = cut_at_word(called, _COMMAND_CHARACTERS)
        problem = _usage_error(command, tool.output)
        return cls(tool.number, command, problem, has_failed=bool(problem) or tool.has_failed, is_cut=command != called)

    @property
    def purpose(self) -> str:
        """The last word before ``--`` that is neither an option nor named by the error; empty if there is none."""
        blamed = set(_WORD.findall(self.problem))
        words = _WORD.findall(self.command.partition(" -- ")[0])
        return next((word for word in reversed(words) if not word.startswith("-") and word not in blamed), "")


def traps_of(batch: ReadBatch) -> list[Extract]:
    """A memory for each call of ``batch`` that failed as written and whose session has a later call that worked."""
    sessions: defaultdict[str, list[_Call]] = defaultdict(list)
    for event in batch.events:
        if event.tool and command_of(event.tool).strip():
            sessions[event.session].append(_Call.of(event.tool))
    found = {
        (failed.command, worked.command): (failed, worked)
        for calls in sessions.values()
        for failed, worked in _pairs(calls)
    }
    return [_extract(failed, worked) for failed, worked in list(found.values())[:MOST_TRAPS]]


def trap_in(summary: str) -> tuple[str, str] | None:
    """The failing call and the working one in a summary by ``traps_of``; None for any other summary."""
    found = _SUMMARY.fullmatch(summary)
    return (found[1], found[2]) if found else None


def each_cause_once(traps: Iterable[MemoryRecord]) -> list[MemoryRecord]:
    """``traps`` without those with the program, message and cure's program of another: the shortest one stays.

    It says most about the cause and least about one call: "rtk bun run lint" for "rtk bun run test -- --watch". A
    memory that is no trap stays.
    """
    by_cause: dict[tuple[str, ...], MemoryRecord] = {}
    for trap in traps:
        found = _TITLE.fullmatch(trap.title)
        cause = found.groups() if found else (trap.record_id,)
        if cause not in by_cause or len(trap.title) < len(by_cause[cause].title):
            by_cause[cause] = trap
    return list(by_cause.values())


def _pairs(calls: Sequence[_Call]) -> Iterator[tuple[_Call, _Call]]:
    """Each failed call with the nearest later one that is like it and worked.

    A working call that is cut cannot be run, and was mostly made for one occasion.
    """
    for place, failed in enumerate(calls):
        later = calls[place + 1 : place + 1 + CALLS_LATER] if failed.problem else ()
        if any(each.command == failed.command and not each.has_failed for each in later):
            continue
        worked = next((each for each in later if not each.has_failed and _is_mend(each, failed)), None)
        if worked is not None and not worked.is_cut:
            yield failed, worked


def _extract(failed: _Call, worked: _Call) -> Extract:
    return Extract(
        title=f"`{failed.command}` fails here ({failed.problem}): run `{worked.command}`",
        summary=f"`{failed.command}` fails in this project: {failed.problem}. What works instead: `{worked.command}`.",
        observation_type=ObservationType.DISCOVERY,
        events=(failed.number, worked.number),
        knowledge_type=KnowledgeType.HEURISTIC,
        origin=Origin.TOOL,
        importance=_TRAP_IMPORTANCE,
    )


def _called(command: str) -> str:
    called = _ANNOUNCEMENT.sub("", _CHANGE_OF_FOLDER.sub("", command))
    return on_one_line(_PIPED.sub("", called))


def _usage_error(command: str, output: str) -> str:
    for line in output.splitlines()[:_LINES_READ]:
        if len(line) <= _LINE_CHARACTERS and _USAGE_ERROR.search(line):
            said = _SIGNS.sub("", on_one_line(line))
            if _blames(said, command):
                return cut_at_word(said, _ERROR_CHARACTERS)
    return ""


def _blames(said: str, command: str) -> bool:
    """Whether the error is about a word of ``command``: shells also complain about their own start files."""
    return not ({word.rstrip(":") for word in _WORD.findall(said)} - _GENERAL).isdisjoint(_WORD.findall(command))


def _is_mend(worked: _Call, failed: _Call) -> bool:
    """Whether ``worked`` is mostly the same call as ``failed``, for the same purpose.

    A call that only leaves out the name that was not found lists the names that exist, as "npm run" does. It is no
    mend.
    """
    mine, others = {*_WORD.findall(failed.command)}, {*_WORD.findall(worked.command)}
    if not mine or not others or mine == others or (failed.purpose and failed.purpose not in others):
        return False
    left_out = mine - others
    if others < mine and any(each in failed.problem and not each.startswith("-") for each in left_out):
        return False
    return len(mine & others) >= LEAST_SHARED * min(len(mine), len(others))
